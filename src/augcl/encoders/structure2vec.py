"""The mean-field network structure2vec, the victim of the attacks, and the agent of one."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from augcl.encoders.heads import glorot_linear
from augcl.errors import InputError
from augcl.ops.csr import Adjacency


class Trace(NamedTuple):
    """The node values μ⁰ … μᴷ, and the neighbour sums that steps 1 … K took in."""

    values: list[Tensor]
    sums: list[Tensor]


class Structure2Vec(nn.Module):
    """K rounds μ_v ← ReLU( W · Σ_{u → v} μ_u + b + m_v ), W and b shared, m_v = W_in x_v + b_in.

    The first μ is ReLU(m). The published graph embedding is ReLU(Σ_v μ_v): no μ is negative, so
    the sum over nodes is it.

    Parameters
    ----------
    in_features : int
        F, width of the node features.
    width : int
        Of the embedding.
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
        if width < 1 or depth < 1:
            raise InputError(f"width is {width} and depth {depth}: both must be 1 or more")
        generator = generator or torch.Generator()
        self.first = glorot_linear(in_features, width, generator)
        self.shared = glorot_linear(width, width, generator)
        self.depth = depth
        self.out_features = width

    def forward(self, x: Tensor, edges: Tensor | Adjacency) -> Tensor:
        """(V, F) features and (2, E) edges, or an Adjacency, to (V, width)."""
        return self.trace(x, edges).values[-1]

    def trace(self, x: Tensor, edges: Tensor | Adjacency) -> Trace:
        """All steps, from which the gradient for any pair of nodes can be told."""
        if not isinstance(edges, Adjacency):
            edges = Adjacency.from_edges(edges, len(x))
        messages = self.first(x)
        values, sums = [relu(messages)], []
        own = messages + self.shared.bias
        for _ in range(self.depth):
            sums.append(edges.sum_neighbours(values[-1]))
            values.append(torch.addmm(own, sums[-1], self.shared.weight.t()).relu_())
        return Trace(values, sums)
