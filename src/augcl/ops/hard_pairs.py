"""HSAN's contrast of all 2N entries of two views, in blocks of rows.

With S = a · z zᵀ + (1 − a) · e eᵀ of unit rows z, e (2N, ·), and weights M (2N, 2N),

    loss = mean_i [ log Σ_{k≠i} exp(S_ik M_ik) − S_{i,i±N} M_{i,i±N} ]

A block of rows is all that ever exists of S. As the result is one number, its gradient is computed
along with it, while a block is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

BLOCK = 256
"""Rows at a time."""

LEVELS = 255
"""Weights from 0 to 1 are kept in so many steps, a byte each."""


def hard_pair_contrast(
    z: Tensor, e: Tensor, a: Tensor, weights: Tensor | None, *, block: int = BLOCK
) -> Tensor:
    """The loss above; `weights` (2N, 2N) uint8 stands for M · 255, None for all 1.

    >>> same = torch.ones(4, 1)  # S is 1 everywhere: log 3
    >>> hard_pair_contrast(same, same, torch.tensor(0.5), None)
    tensor(1.0986)
    """
    loss: Tensor = _Contrast.apply(z, e, a, weights, block)  # type: ignore[no-untyped-call]
    return loss


class _Contrast(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, z: Tensor, e: Tensor, a: Tensor, weights: Tensor | None, block: int
    ) -> Tensor:
        d_z, d_e, d_a = torch.zeros_like(z), torch.zeros_like(e), torch.zeros_like(a)
        total = z.new_zeros((), dtype=torch.float64)
        share = a.item()
        rest = 1 - share
        for start in range(0, len(z), block):
            rows = slice(start, start + block)
            of_z, of_e = z[rows] @ z.t(), e[rows] @ e.t()
            here = torch.arange(len(of_z), device=z.device)
            partner = (here + start + len(z) // 2) % len(z)
            m = None if weights is None else weights[rows].to(z.dtype) / LEVELS
            logits = share * of_z + rest * of_e
            logits = logits if m is None else logits.mul_(m)
            positive = logits[here, partner]
            logits[here, here + start] = -torch.inf
            most = logits.amax(1)  # nothing overflows, and one entry of a row is always 1
            p = logits.sub_(most[:, None]).exp_()
            mass = p.sum(1)
            total += (mass.log() + most - positive).sum(dtype=torch.float64)
            slope = p.div_(mass[:, None] * len(z))
            slope[here, partner] -= 1 / len(z)
            slope = slope if m is None else slope.mul_(m)
            for entries, gradient, factor in ((z, d_z, share), (e, d_e, rest)):
                gradient[rows].addmm_(slope, entries, alpha=factor)
                gradient.addmm_(slope.t(), entries[rows], alpha=factor)
            d_a += (slope * of_z.sub_(of_e)).sum()
        ctx.save_for_backward(d_z, d_e, d_a)
        return (total / len(z)).to(z.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        d_z, d_e, d_a = ctx.saved_tensors
        return d_z * grad, d_e * grad, d_a * grad, None, None


@torch.no_grad()
def reweigh(
    weights: Tensor,
    z: Tensor,
    e: Tensor,
    a: Tensor,
    *,
    labels: Tensor,
    sure: Tensor,
    beta: float,
    block: int = BLOCK,
) -> None:
    """Write | 1[same label] − S̄ |^β between nodes whose label is sure; S̄ is S scaled to 0 … 1.

    Parameters
    ----------
    weights : (2N, 2N) uint8
        Changed in place, rounded to one of 256 values; other pairs keep theirs.
    z, e : (2N, ·)
    a : Tensor
    labels : (N,)
    sure : (N,) bool
    beta : float
    """
    labels, sure = labels.repeat(2), sure.repeat(2)
    extremes = [s.aminmax() for _, s in _blocks(z, e, a.item(), block)]
    low = min(float(low) for low, _ in extremes)
    spread = max(max(float(high) for _, high in extremes) - low, torch.finfo(z.dtype).tiny)
    for rows, s in _blocks(z, e, a.item(), block):
        same = (labels[rows, None] == labels).to(s.dtype)
        new = same.sub_(s.sub_(low).div_(spread)).abs_().pow_(beta)
        written = new.mul_(LEVELS).round_().clamp_(0, LEVELS).to(torch.uint8)
        both = sure[rows, None] & sure
        weights[rows] = torch.where(both, written, weights[rows])


def _blocks(z: Tensor, e: Tensor, a: float, block: int) -> Iterator[tuple[slice, Tensor]]:
    for start in range(0, len(z), block):
        rows = slice(start, start + block)
        yield rows, (z[rows] @ z.t()).mul_(a).add_(e[rows] @ e.t(), alpha=1 - a)
