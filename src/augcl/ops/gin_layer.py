"""One layer of a graph isomorphism network in training, forward and backward in one piece.

    a = x + Σ_{u → v} x_u        h = ReLU(a W1ᵀ + b1)        o = ReLU(h W2ᵀ + b2)
    y = γ · (o − mean) / √(var + ε) + β                       mean, var over all nodes of the batch

The same from torch's own pieces is a dozen small steps, each with memory of its own, and a batch
norm with a slow backward; in one piece it was about 15 % faster on the CPU. The tests compare the
two.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from augcl.ops.csr import Adjacency


class _Layer(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        w1: Tensor,
        b1: Tensor,
        w2: Tensor,
        b2: Tensor,
        gamma: Tensor,
        beta: Tensor,
        edges: Adjacency,
        eps: float,
    ) -> tuple[Tensor, Tensor, Tensor]:
        # W1 and the sum over neighbours commute: sum on whichever side of W1 is narrower.
        transform_first = w1.shape[1] > w1.shape[0]
        if transform_first:
            a = x
            narrow = x @ w1.t()
            h = edges.incoming.times(narrow).add_(narrow).add_(b1).relu_()
        else:
            a = edges.incoming.times(x).add_(x)
            h = torch.addmm(b1, a, w1.t()).relu_()
        o = torch.addmm(b2, h, w2.t()).relu_()
        y, mean, scale = torch.native_batch_norm(o, gamma, beta, None, None, True, 0.0, eps)
        ctx.save_for_backward(a, h, o, mean, scale, w1, w2, gamma)
        ctx.edges, ctx.transform_first = edges, transform_first
        ctx.mark_non_differentiable(mean, scale)
        return y, mean, scale

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor, *_unused: Tensor) -> tuple[Tensor | None, ...]:
        a, h, o, mean, scale, w1, w2, gamma = ctx.saved_tensors
        n = len(grad)
        # Two pieces of memory serve all steps: fresh pages cost as much as the arithmetic.
        one = (o - mean).mul_(scale)
        two = grad * one
        d_beta, d_gamma = grad.sum(0), two.sum(0)
        d_o = one.mul_(d_gamma / -n).sub_(d_beta / n).add_(grad).mul_(gamma * scale)
        _through_relu_(d_o, o)
        d_w2, d_b2 = d_o.t() @ h, d_o.sum(0)
        d_h = _through_relu_(torch.mm(d_o, w2, out=two), h)
        d_b1, d_x = d_h.sum(0), None
        if ctx.transform_first:
            d_h = ctx.edges.outgoing.times(d_h).add_(d_h)
        d_w1 = d_h.t() @ a
        if ctx.needs_input_grad[0]:
            d_x = d_h @ w1
            if not ctx.transform_first:
                d_x = ctx.edges.outgoing.times(d_x).add_(d_x)
        return d_x, d_w1, d_b1, d_w2, d_b2, d_gamma, d_beta, None, None


def _through_relu_(grad: Tensor, output: Tensor) -> Tensor:
    """Set the gradient to 0 where the output of the ReLU is 0."""
    torch.ops.aten.threshold_backward.grad_input(grad, output, 0.0, grad_input=grad)
    return grad


def gin_layer(
    x: Tensor,
    edges: Adjacency,
    first: tuple[Tensor, Tensor],
    second: tuple[Tensor, Tensor],
    norm: tuple[Tensor, Tensor],
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """(V, F) node values to (V, d), and the mean and 1/√(var + ε) that normalised them.

    Parameters
    ----------
    x : (V, F)
    edges : Adjacency
    first, second : weight and bias of W1 (d, F) and W2 (d, d)
    norm : γ and β, each (d,)
    eps : float
    """
    out: tuple[Tensor, Tensor, Tensor] = _Layer.apply(  # type: ignore[no-untyped-call]
        x, *first, *second, *norm, edges, eps
    )
    return out
