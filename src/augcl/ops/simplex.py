"""The nearest probabilities to a vector of any numbers."""

from __future__ import annotations

import torch
from torch import Tensor


def project_to_simplex(b: Tensor) -> Tensor:
    """The (K,) point p ≥ 0, Σ p = 1 that lies nearest to b: max(b − μ, 0) for the one μ that fits.

    Sorted from the largest, μ is found from the longest head whose entries all stay above it.

    >>> project_to_simplex(torch.tensor([0.5, 1.0, -3.0])).tolist()
    [0.25, 0.75, 0.0]
    """
    b = b - b.max()  # moves μ only, and keeps large numbers from swallowing the 1
    head = b.sort(descending=True).values
    count = torch.arange(1, len(b) + 1, device=b.device)
    mu = (head.cumsum(0) - 1) / count
    last = int((head > mu).nonzero().max())
    p = (b - mu[last]).clamp_min(0)
    return p / p.sum()
