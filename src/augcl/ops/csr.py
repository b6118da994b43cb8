"""Sparse products with compressed rows (CSR), and the propagation of a graph convolution.

No message per edge is ever stored.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import embedding_bag

from augcl.ops.segments import pointer, segment_sum


class Rows(NamedTuple):
    """A sparse matrix by its rows: row v has the columns indices[ptr[v]:ptr[v+1]].

    The entries are `values`; None means that all of them are 1.
    """

    indices: Tensor
    ptr: Tensor
    values: Tensor | None = None

    @classmethod
    def from_pairs(
        cls,
        row: Tensor,
        column: Tensor,
        num_rows: int,
        *,
        values: Tensor | None = None,
        ordered: bool,
    ) -> Rows:
        """Build from (E,) rows and columns; `ordered` promises that `row` never decreases."""
        if not ordered:
            row, order = torch.sort(row)
            column = column[order]
            values = None if values is None else values[order]
        return cls(column, pointer(torch.bincount(row, minlength=num_rows)), values)

    def times(self, x: Tensor) -> Tensor:
        """Return the (R, D) product with `x` (C, D), without a gradient."""
        if not len(self.indices):
            return x.new_zeros(len(self.ptr) - 1, x.shape[1])
        # embedding_bag was the fastest of torch's gather-and-sum functions on the CPU, and it
        # runs on CUDA too.
        return embedding_bag(
            self.indices,
            x,
            self.ptr,
            mode="sum",
            per_sample_weights=None if self.values is None else self.values.to(x.dtype),
            include_last_offset=True,
        )

    def totals(self) -> Tensor:
        """Return the (R,) sum of each row: its number of entries (int64) where all of them are 1.

        >>> Rows(torch.tensor([1, 0, 1]), torch.tensor([0, 1, 3, 3])).totals().tolist()
        [1, 2, 0]
        """
        if self.values is None:
            return self.ptr.diff()
        return segment_sum(self.values[:, None], self.ptr)[:, 0]


class SparseMatrix:
    """A constant (R, C) matrix, stored by rows and by columns: the backward pass is fast too.

    >>> half = SparseMatrix.from_dense(torch.tensor([[0.0, 0.5], [0.0, 0.0]]))
    >>> half.times(torch.tensor([[1.0], [4.0]])).tolist()
    [[2.0], [0.0]]
    """

    def __init__(self, rows: Rows, columns: Rows) -> None:
        self.rows = rows
        self.columns = columns

    @classmethod
    def from_dense(cls, x: Tensor) -> SparseMatrix:
        """Build from a dense (R, C) tensor."""
        row, column = x.nonzero(as_tuple=True)
        return cls._from_entries(row, column, x[row, column], x.shape)

    @classmethod
    def from_csr(cls, x: Tensor) -> SparseMatrix:
        """Build from a ``torch.sparse_csr`` tensor."""
        counts = x.crow_indices().diff().long()
        row = torch.repeat_interleave(counts)
        return cls._from_entries(row, x.col_indices().long(), x.values(), x.shape)

    @classmethod
    def _from_entries(
        cls, row: Tensor, column: Tensor, values: Tensor, shape: torch.Size
    ) -> SparseMatrix:
        return cls(
            Rows.from_pairs(row, column, shape[0], values=values, ordered=True),
            Rows.from_pairs(column, row, shape[1], values=values, ordered=False),
        )

    def times(self, x: Tensor) -> Tensor:
        """Return the (R, D) product with `x` (C, D)."""
        product: Tensor = _Product.apply(  # type: ignore[no-untyped-call]
            x, self.rows, self.columns
        )
        return product


class Adjacency(SparseMatrix):
    """The edges u → v of a graph as the linear map h ↦ (Σ_{u → v} h_u)_v, with its transpose.

    >>> edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> Adjacency.from_edges(edges, 3, symmetric=True).sum_neighbours(torch.eye(3)).int().tolist()
    [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    """

    def __init__(self, incoming: Rows, outgoing: Rows) -> None:
        super().__init__(incoming, outgoing)

    @property
    def incoming(self) -> Rows:
        return self.rows

    @property
    def outgoing(self) -> Rows:
        return self.columns

    @classmethod
    def from_edges(
        cls, edge_index: Tensor, num_nodes: int, *, symmetric: bool = False, ordered: bool = False
    ) -> Adjacency:
        """Build from (2, E) pairs (u, v); `ordered` promises that u never decreases."""
        source, target = edge_index
        outgoing = Rows.from_pairs(source, target, num_nodes, ordered=ordered)
        if symmetric:
            return cls(outgoing, outgoing)
        return cls(Rows.from_pairs(target, source, num_nodes, ordered=False), outgoing)

    def sum_neighbours(self, x: Tensor) -> Tensor:
        """Return the (V, D) sums of the values `x` (V, D) over the in-neighbours of each node."""
        return self.times(x)


class FeaturedEdges(NamedTuple):
    """Edges u → v with their features, ordered by v, as `augcl.encoders.gine.GINE` reads them.

    Parameters
    ----------
    source : (E,) int64
        u of each edge.
    ptr : (V+1,) int64
        The edges into node v are ``ptr[v]:ptr[v+1]``.
    attr : (E, K) float32
    by_source : (E,) int64
        The order of the edges by u …
    source_ptr : (V+1,) int64
        … and where the edges out of each node start in it.
    """

    source: Tensor
    ptr: Tensor
    attr: Tensor
    by_source: Tensor
    source_ptr: Tensor

    @classmethod
    def from_edges(cls, edge_index: Tensor, edge_attr: Tensor, num_nodes: int) -> FeaturedEdges:
        """Order (2, E) edges and their (E, K) features by target.

        >>> edges = torch.tensor([[0, 1], [1, 0]])
        >>> FeaturedEdges.from_edges(edges, torch.tensor([[7.0], [8.0]]), 2).attr.tolist()
        [[8.0], [7.0]]
        """
        source, target = edge_index
        order = torch.argsort(target, stable=True)
        source = source[order]
        return cls(
            source,
            pointer(torch.bincount(target, minlength=num_nodes)),
            edge_attr[order],
            torch.argsort(source, stable=True),
            pointer(torch.bincount(source, minlength=num_nodes)),
        )


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, matrix: Rows, transpose: Rows) -> Tensor:
        ctx.transpose = transpose
        return matrix.times(x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        return ctx.transpose.times(grad.contiguous()), None, None


def propagate(h: Tensor, edges: Adjacency) -> Tensor:
    """Return D̂^{-1/2} (A + I) D̂^{-1/2} h for node values h (V, D); D̂ counts incoming edges + 1.

    Where the edges have weights, they are the entries of A, and D̂ sums them: a self-loop weighs 1.

    >>> edge = Adjacency.from_edges(torch.tensor([[0, 1], [1, 0]]), 3)
    >>> propagate(torch.tensor([[2.0], [0.0], [5.0]]), edge).flatten().round(decimals=3).tolist()
    [1.0, 1.0, 5.0]
    """
    degree = edges.incoming.totals() + 1
    root = degree.to(h.dtype).rsqrt()[:, None]
    mixed: Tensor = _Propagate.apply(  # type: ignore[no-untyped-call]
        h, root, edges.incoming, edges.outgoing
    )
    return mixed


class _Propagate(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, h: Tensor, root: Tensor, matrix: Rows, transpose: Rows) -> Tensor:
        ctx.save_for_backward(root)
        ctx.transpose = transpose
        return _mix(h, root, matrix)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None]:
        (root,) = ctx.saved_tensors
        return _mix(grad, root, ctx.transpose), None, None, None


def _mix(h: Tensor, root: Tensor, matrix: Rows) -> Tensor:
    """Return D̂^{-1/2} (matrix + I) D̂^{-1/2} h; `root` is the diagonal of D̂^{-1/2}."""
    scaled = h * root
    return matrix.times(scaled).add_(scaled).mul_(root)
