"""Logistic loss of all pairs of nodes against the edges, in tiles: no N × N matrix ever exists.

With s_ij = z_i · z_j, targets t = A + I, and sp(x) = log(1 + eˣ),

    Σ_ij w t_ij sp(−s_ij) + (1 − t_ij) sp(s_ij)
        = Σ_ij sp(s_ij) + Σ_{t_ij = 1} [ w sp(−s_ij) − sp(s_ij) ]

The first sum is over tiles of a symmetric matrix, each above the diagonal serving both sides, the
second over edges and nodes. As the result is one number, its gradient is computed along with it,
while a tile is there.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import softplus

from augcl.ops.csr import Rows
from augcl.ops.segments import segment_ids

TILE = 1024
"""Rows and columns at a time."""

EDGES = 2048
"""Edges at a time: what they gather should stay in the cache."""


def pair_logistic(z: Tensor, edges: Rows, *, positive_weight: float, tile: int = TILE) -> Tensor:
    """The sum above, of z (N, D) and a symmetric adjacency without loops.

    >>> lonely = Rows(torch.empty(0, dtype=torch.long), torch.zeros(3, dtype=torch.long))
    >>> pair_logistic(torch.zeros(2, 1), lonely, positive_weight=1.0)  # 4 log 2
    tensor(2.7726)
    """
    total: Tensor = _PairLogistic.apply(  # type: ignore[no-untyped-call]
        z, edges, positive_weight, tile
    )
    return total


class _PairLogistic(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: Tensor, edges: Rows, weight: float, tile: int) -> Tensor:
        d_z = torch.zeros_like(z) if ctx.needs_input_grad[0] else None
        total = _all_pairs(z, tile, d_z) + _linked_pairs(z, edges, weight, d_z)
        if d_z is not None:
            ctx.save_for_backward(d_z)
        return total.to(z.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None]:
        (d_z,) = ctx.saved_tensors
        return d_z * grad, None, None, None


def _all_pairs(z: Tensor, tile: int, d_z: Tensor | None) -> Tensor:
    """Σ_ij sp(s_ij); its gradient is added to `d_z`."""
    total = z.new_zeros((), dtype=torch.float64)
    for first in range(0, len(z), tile):
        for second in range(first, len(z), tile):
            rows, columns = slice(first, first + tile), slice(second, second + tile)
            s = z[rows] @ z[columns].t()
            times = 1 if first == second else 2
            total += times * softplus(s).sum(dtype=torch.float64)
            if d_z is not None:
                s.sigmoid_()
                d_z[rows].addmm_(s, z[columns], alpha=2)
                if first != second:
                    d_z[columns].addmm_(s.t(), z[rows], alpha=2)
    return total


def _linked_pairs(z: Tensor, edges: Rows, weight: float, d_z: Tensor | None) -> Tensor:
    """Σ w sp(−s_ij) − sp(s_ij) over edges and nodes; its gradient is added to `d_z`."""
    row, column = segment_ids(edges.ptr), edges.indices
    parts = zip(row.split(EDGES), column.split(EDGES), strict=True)
    s = torch.cat([z.new_empty(0), *((z[i] * z[j]).sum(1) for i, j in parts)])
    own = (z * z).sum(1)
    both = torch.cat([s, own])
    if d_z is not None:
        slope = -2 * ((weight - 1) * torch.sigmoid(-both) + 1)  # −w σ(−s) − σ(s), from both ends
        d_z += Rows(edges.indices, edges.ptr, slope[: len(s)]).times(z)
        d_z += slope[len(s) :, None] * z
    return (weight * softplus(-both) - softplus(both)).sum(dtype=torch.float64)
