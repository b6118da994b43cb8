"""Do embeddings differ at all?"""

from __future__ import annotations

from torch import Tensor

TOLERANCE = 1e-4
"""Of the largest entry: columns that vary less are constant."""


def all_alike(z: Tensor) -> bool:
    """Whether the rows of z (N, D) are, but for roundings, one and the same; one row says nothing.

    >>> import torch
    >>> all_alike(torch.zeros(3, 2)), all_alike(torch.eye(2)), all_alike(torch.zeros(1, 2))
    (True, False, False)
    """
    if len(z) < 2 or not z.shape[1]:
        return False
    spread = z.double().std(0, correction=0).amax()
    return bool(spread <= TOLERANCE * z.abs().amax())
