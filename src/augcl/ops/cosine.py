"""Cosines that stay finite for zero vectors and for huge ones."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import normalize


def unit_rows(z: Tensor) -> Tensor:
    """Rows of length one; a zero row stays zero.

    Each row is first divided by its largest entry, so that no square overflows.

    >>> unit_rows(torch.tensor([[0.0, 4e30], [0.0, 0.0]])).tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    largest = z.detach().abs().amax(1, keepdim=True)
    return normalize(z / largest.clamp_min(torch.finfo(z.dtype).tiny), dim=1)


def cosine(a: Tensor, b: Tensor) -> Tensor:
    """(N, D) and (M, D) to the (N, M) cosines."""
    return unit_rows(a) @ unit_rows(b).T
