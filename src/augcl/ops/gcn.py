"""Propagation of a graph convolution, D̂^{-1/2} (A + I) D̂^{-1/2} h, as one sparse product."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from augcl.ops.csr import Adjacency, Rows


def propagate(h: Tensor, edges: Adjacency) -> Tensor:
    """(V, D) node values, mixed with those of the in-neighbours; D̂ counts incoming edges + 1.

    >>> edge = Adjacency.from_edges(torch.tensor([[0, 1], [1, 0]]), 3)
    >>> propagate(torch.tensor([[2.0], [0.0], [5.0]]), edge).flatten().round(decimals=3).tolist()
    [1.0, 1.0, 5.0]
    """
    degree = edges.incoming.ptr.diff() + 1
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
    scaled = h * root
    return matrix.times(scaled).add_(scaled).mul_(root)
