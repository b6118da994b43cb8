"""Two groups of candidates for every anchor: the similar ones (True) and the others."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from augcl.ops.two_means import two_means


def spectral(affinity: Tensor, *, block: int = 32) -> Tensor:
    """Binary spectral clustering of each row's numbers under a Gaussian kernel.

    The kernel of row i is exp(−(s_ij − s_ik)² / 2σ_i²), with σ_i the row's standard deviation; the
    row is split by 2-means of the second eigenvector of the normalised kernel.

    Parameters
    ----------
    affinity : (N, M) float
    block : int
        Rows at a time; memory is block · M² numbers.

    Returns
    -------
    (N, M) bool
        True for the group of the larger affinities; a constant row is one group, all True.
    """
    if affinity.shape[1] < 2:
        return torch.ones_like(affinity, dtype=torch.bool)
    return torch.cat([_spectral_rows(rows) for rows in affinity.detach().split(block)])


def _spectral_rows(rows: Tensor) -> Tensor:
    rows = rows.double()
    spread = rows.std(1, keepdim=True, correction=0)
    scaled = (rows - rows.mean(1, keepdim=True)) / spread.clamp_min(1e-12)
    kernel = torch.exp(-0.5 * (scaled[:, :, None] - scaled[:, None, :]).square())
    root = kernel.sum(2).rsqrt()
    vectors = torch.linalg.eigh(root[:, :, None] * kernel * root[:, None, :]).eigenvectors
    second = vectors[:, :, -2] * root
    # The sign of an eigenvector is arbitrary; let it grow with the affinity.
    second = second * torch.where((second * scaled).sum(1, keepdim=True) < 0, -1.0, 1.0)
    return two_means(second) | (spread < 1e-12)


PARTITIONS: dict[str, Callable[[Tensor], Tensor]] = {"kmeans": two_means, "spectral": spectral}
