"""The network of the attacked graph classifier, and its gradient for any pair of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import nll_loss

from augcl.data.graph import GraphSet
from augcl.encoders.heads import glorot_linear, projector
from augcl.encoders.structure2vec import Structure2Vec
from augcl.ops.segments import segment_sum


class EdgeFactors(NamedTuple):
    """A gradient by edge weights as pairs of (V, D) matrices, one pair per propagation step.

    The derivative of the loss by the weight of the edge u → v is Σ_k ⟨receiver_kv, sender_ku⟩.
    """

    receiver: Sequence[Tensor]
    sender: Sequence[Tensor]

    def to(self, device: torch.device) -> EdgeFactors:
        """Return the factors on another device."""
        receiver, sender = ([matrix.to(device) for matrix in part] for part in self)
        return EdgeFactors(receiver, sender)


class GraphClassifier(nn.Module):
    """Logits W2 ReLU(W1 g + b1) + b2 with g = Σ_v μ_v, and a projector for pre-training.

    Parameters
    ----------
    encoder : Structure2Vec
    hidden : int
        Width of W1 g.
    classes : int
    generator : torch.Generator
        Draws the weights.
    """

    def __init__(
        self, encoder: Structure2Vec, *, hidden: int, classes: int, generator: torch.Generator
    ) -> None:
        super().__init__()
        width = encoder.out_features
        self.encoder = encoder
        self.projector = projector(width, generator)
        self.head = nn.Sequential(
            glorot_linear(width, hidden, generator),
            nn.ReLU(),
            glorot_linear(hidden, classes, generator),
        )

    def embed(self, graphs: GraphSet) -> Tensor:
        """Return (G, D) embeddings g."""
        return segment_sum(self.encoder(graphs.x, graphs.adjacency), graphs.node_ptr)

    def project(self, graphs: GraphSet) -> Tensor:
        """Return (G, D) projections, which a contrastive loss compares."""
        return self.projector(self.embed(graphs))  # type: ignore[no-any-return]

    def forward(self, graphs: GraphSet) -> Tensor:
        """Return (G, C) logits."""
        return self.head(self.embed(graphs))  # type: ignore[no-any-return]

    def edge_factors(self, graphs: GraphSet, targets: Tensor) -> list[EdgeFactors]:
        """Return the gradient of Σ_g −log P(class targets[r, g]) for each row r of targets (R, G).

        Takes one forward pass and R backward passes. A graph with target −1 is left out. Round k
        uses the neighbour sums a = A μ, so that the gradient by A is Σ_k (∂L/∂a_k) μ_{k−1}ᵀ.
        """
        with torch.enable_grad():
            x = graphs.x.detach().requires_grad_()  # also where the weights are frozen
            trace = self.encoder.trace(x, graphs.adjacency)
            pooled = segment_sum(trace.values[-1], graphs.node_ptr)
            log_p = self.head(pooled).log_softmax(1)
            slopes = [
                torch.autograd.grad(
                    nll_loss(log_p, target, reduction="sum", ignore_index=-1),
                    trace.sums,
                    retain_graph=True,
                )
                for target in targets
            ]
        senders = [value.detach() for value in trace.values[:-1]]
        return [EdgeFactors(slope, senders) for slope in slopes]
