"""2-means of one row of numbers is a sort and a scan: exact, for all rows at once."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from augcl.errors import InputError

BLOCK = 1 << 17
"""Numbers at a time, so that the steps after the sort find them in the cache."""


def two_means(affinity: Tensor) -> Tensor:
    """Split each row in two groups with the least within-group sum of squares.

    In one dimension the best groups are the k smallest and the m − k largest numbers, so all
    m − 1 splits of the sorted row are compared. With the row centred, the sum of squares
    *between* the groups, to be as large as possible, is S_k² / k + S_k² / (m − k) with S_k the
    sum of the k smallest.

    Equal numbers are never parted; a constant row is one group, all True; of equally good splits
    the one with the larger group of large affinities counts.

    Parameters
    ----------
    affinity : (N, M) float
        Finite numbers, for instance cosines.

    Returns
    -------
    (N, M) bool
        True for the group of the larger affinities.

    Examples
    --------
    >>> two_means(torch.tensor([[0.1, 0.9, 0.2, 0.8], [0.5, 0.5, 0.5, 0.5]])).int().tolist()
    [[0, 1, 0, 1], [1, 1, 1, 1]]
    """
    if affinity.ndim != 2 or not affinity.is_floating_point():
        shape, kind = tuple(affinity.shape), str(affinity.dtype).removeprefix("torch.")
        raise InputError(f"two_means needs an (N, M) table of floats, got {kind} of shape {shape}")
    if affinity.numel() == 0 or affinity.shape[1] == 1:
        return torch.ones_like(affinity, dtype=torch.bool)
    if affinity.dtype in (torch.float16, torch.bfloat16):
        affinity = affinity.float()
    rows = max(1, BLOCK // affinity.shape[1])
    return torch.cat([_split_rows(some) for some in affinity.detach().split(rows)])


def _split_rows(affinity: Tensor) -> Tensor:
    m = affinity.shape[1]
    ordered = _sort_rows(affinity)
    centred = ordered.to(torch.float64, copy=True)  # `ordered` is needed again
    centred -= centred.mean(1, keepdim=True)
    k = torch.arange(1, m, device=affinity.device, dtype=torch.float64)
    between = centred.cumsum_(1)[:, :-1].square_().mul_(1 / k + 1 / (m - k))
    # A split inside a run of equal numbers is never better than one at its ends, and comparing
    # with the number below the split puts the whole run on one side.
    largest_below = ordered.gather(1, between.argmax(1, keepdim=True))
    constant = ordered[:, :1] == ordered[:, -1:]
    return affinity > largest_below.masked_fill_(constant, -torch.inf)


def _sort_rows(x: Tensor) -> Tensor:
    if x.device.type == "cpu":  # NumPy sorts values without the indices that torch adds
        return torch.from_numpy(np.sort(x.numpy(), axis=1))
    return x.sort(1).values
