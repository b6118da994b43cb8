"""Neighbour sums as a compressed-row product: no message per edge is ever stored."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from augcl.ops.segments import pointer


class Rows(NamedTuple):
    """One direction of a sparse 0/1 matrix: row v holds the columns indices[ptr[v]:ptr[v+1]]."""

    indices: Tensor
    ptr: Tensor

    @classmethod
    def from_pairs(cls, row: Tensor, column: Tensor, num_rows: int, *, ordered: bool) -> Rows:
        if not ordered:
            row, order = torch.sort(row)
            column = column[order]
        return cls(column, pointer(torch.bincount(row, minlength=num_rows)))

    def times(self, x: Tensor) -> Tensor:
        if not len(self.indices):
            return torch.zeros_like(x)
        # Of torch's ragged gather-and-sums, embedding_bag was the fastest on the CPU; it runs on
        # CUDA too.
        return embedding_bag(self.indices, x, self.ptr, mode="sum", include_last_offset=True)


class Adjacency:
    """The edges u → v of a graph as the linear map h ↦ (Σ_{u → v} h_u)_v, with its transpose.

    >>> edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> Adjacency.from_edges(edges, 3, symmetric=True).sum_neighbours(torch.eye(3)).int().tolist()
    [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    """

    def __init__(self, incoming: Rows, outgoing: Rows) -> None:
        self.incoming = incoming
        self.outgoing = outgoing

    @classmethod
    def from_edges(
        cls, edge_index: Tensor, num_nodes: int, *, symmetric: bool = False, ordered: bool = False
    ) -> Adjacency:
        """From (2, E) pairs (u, v); `ordered` says that u never decreases."""
        source, target = edge_index
        outgoing = Rows.from_pairs(source, target, num_nodes, ordered=ordered)
        if symmetric:
            return cls(outgoing, outgoing)
        return cls(Rows.from_pairs(target, source, num_nodes, ordered=False), outgoing)

    def sum_neighbours(self, x: Tensor) -> Tensor:
        """(V, D) node values to the (V, D) sums over each node's in-neighbours."""
        product: Tensor = _Product.apply(  # type: ignore[no-untyped-call]
            x, self.incoming, self.outgoing
        )
        return product


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, matrix: Rows, transpose: Rows) -> Tensor:
        ctx.transpose = transpose
        return matrix.times(x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        return ctx.transpose.times(grad.contiguous()), None, None
