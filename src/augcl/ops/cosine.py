"""Cosine similarities that stay finite for zero vectors and for very large ones."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import normalize

TIE_STEPS = 2**20
"""Cosines that differ by less than one part in this number are ties, on any processor."""


def unit_rows(z: Tensor) -> Tensor:
    """Scale every row to length 1; a zero row stays zero, and its gradient is zero.

    Each row is first divided by its largest entry, so that no square overflows.

    >>> unit_rows(torch.tensor([[0.0, 4e30], [0.0, 0.0]])).tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    largest = z.detach().abs().amax(1, keepdim=True)
    largest = largest.masked_fill(largest < torch.finfo(z.dtype).tiny, torch.inf)
    return normalize(z / largest, dim=1)


def cosine(a: Tensor, b: Tensor) -> Tensor:
    """Return the (N, M) cosines of the rows of `a` (N, D) and `b` (M, D)."""
    return unit_rows(a) @ unit_rows(b).T
