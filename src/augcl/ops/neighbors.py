"""The nearest rows by cosine: exact, in blocks, with a rule for ties."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from augcl.errors import InputError
from augcl.ops.cosine import unit_rows

BLOCK = 4_000_000  # similarities in memory at once
STEPS = 10**10  # of a cosine from 0 to 1; what differs by less is a tie


class Neighbors(NamedTuple):
    """The `k` nearest rows of each query, the nearest first.

    `indices` (n, k) int64 count from 0; `similarity` (n, k) float32 is their cosine.
    """

    indices: NDArray[np.int64]
    similarity: NDArray[np.float32]


def nearest(
    z: Tensor, k: int, *, among: Tensor | None = None, queries: Tensor | None = None
) -> Neighbors:
    """Find the `k` nearest rows by cosine; of equally near rows, the smaller index comes first.

    A row is not its own neighbour. The cosines are computed in float64, a block of rows at a time:
    the memory does not grow with the square of the number of rows.

    Parameters
    ----------
    z : (N, D)
        Embeddings.
    k : int
        Number of neighbours of each row; fewer if there are fewer other rows.
    among : (M, D), optional
        Search here instead of in `z`.
    queries : (Q,) int64, optional
        Rows of `z` to search for; all of them if None.

    Examples
    --------
    >>> z = torch.tensor([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0], [1.0, 1.0]])
    >>> nearest(z, 2).indices.tolist()
    [[2, 3], [3, 0], [0, 3], [0, 1]]
    """
    for rows in (z,) if among is None else (z, among):
        bad = (~torch.isfinite(rows)).any(1).nonzero()
        if len(bad):
            raise InputError(f"embedding {int(bad[0])}, counted from 0, holds NaN or infinity")
    if among is not None and among.shape[1] != z.shape[1]:
        widths = f"{z.shape[1]} and {among.shape[1]}"
        raise InputError(f"the embeddings are {widths} wide: use those of one model")
    units = unit_rows(z.double())
    others = units if among is None else unit_rows(among.double())
    count = len(others)
    k = min(k, count - 1 if among is None else count)
    wanted = torch.arange(len(z)) if queries is None else queries
    # One integer orders by cosine and then by index, so that no two keys are equal.
    place = torch.arange(count - 1, -1, -1)
    keys = []
    for part in wanted.split(max(1, BLOCK // count)):
        cosines = (units[part] @ others.T).clamp_(-1, 1)
        block = cosines.mul_(STEPS).round_().long().mul_(count).add_(place)
        if among is None:
            block[torch.arange(len(part)), part] = torch.iinfo(torch.int64).min
        keys.append(block.topk(k, dim=1).values)
    found = torch.cat(keys) if keys else torch.empty(0, k, dtype=torch.int64)
    steps = found.div(count, rounding_mode="floor")
    index = count - 1 - (found - steps * count)
    return Neighbors(index.numpy(), (steps.double() / STEPS).float().numpy())
