"""The mean-field network structure2vec: encoder of the attacked classifier and RL-S2V's agent."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from augcl.checks import whole_number
from augcl.encoders.heads import glorot_linear
from augcl.ops.csr import Adjacency


class Trace(NamedTuple):
    """The node values μ⁰ … μᴷ, and the neighbour sums that steps 1 … K use."""

    values: list[Tensor]
    sums: list[Tensor]


class Structure2Vec(nn.Module):
    """K rounds μ_v ← ReLU( W · Σ_{u → v} μ_u + b + m_v ), W and b shared, m_v = W_in x_v + b_in.

    The first μ is ReLU(m). The published graph embedding ReLU(Σ_v μ_v) equals the sum over nodes,
    because no μ is negative.

    Parameters
    ----------
    in_features : int
        F, width of the node features.
    width : int
        Width of the embedding.
    depth : int
        K.
    generator : torch.Generator, optional
        Draws the weights (Glorot, biases 0).

    Examples
    --------
    >>> s2v = Structure2Vec(1, width=8, depth=3, generator=torch.Generator().manual_seed(0))
    >>> s2v(torch.ones(2, 1), torch.tensor([[0, 1], [1, 0]])).shape
    torch.Size([2, 8])
    """

    def __init__(
        self,
        in_features: int,
        *,
        width: int = 64,
        depth: int = 2,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        whole_number("width", width, least=1)
        whole_number("depth", depth, least=1)
        generator = generator or torch.Generator()
        self.first = glorot_linear(in_features, width, generator)
        self.shared = glorot_linear(width, width, generator)
        self.depth = depth
        self.out_features = width

    def forward(self, x: Tensor, edges: Tensor | Adjacency) -> Tensor:
        """Return (V, width) for features (V, F) and edges (2, E) or an Adjacency."""
        edges = _adjacency(edges, len(x))
        messages = self.first(x)
        values, own = relu(messages), messages + self.shared.bias
        for _ in range(self.depth):  # earlier values are freed: their memory is used again
            values = self._round(edges.sum_neighbours(values), own)
        return values

    def trace(self, x: Tensor, edges: Tensor | Adjacency) -> Trace:
        """Return the values of all steps, which give the gradient for any pair of nodes."""
        edges = _adjacency(edges, len(x))
        messages = self.first(x)
        values, sums = [relu(messages)], []
        own = messages + self.shared.bias
        for _ in range(self.depth):
            sums.append(edges.sum_neighbours(values[-1]))
            values.append(self._round(sums[-1], own))
        return Trace(values, sums)

    def _round(self, sums: Tensor, own: Tensor) -> Tensor:
        return torch.addmm(own, sums, self.shared.weight.t()).relu_()


def _adjacency(edges: Tensor | Adjacency, nodes: int) -> Adjacency:
    return edges if isinstance(edges, Adjacency) else Adjacency.from_edges(edges, nodes)
