"""Split the candidates of every anchor into two groups: similar (True) and dissimilar (False).

AUGCL's paper and its released code split different things; both are here:

* *affinity* (released code, `PARTITIONS`): split the cosines of one anchor to its candidates, one
  clustering per anchor.
* *embedding* (text of the paper, `embedding_groups`): split the candidates' embeddings, one
  clustering for all anchors. The similar group of an anchor is the cluster that it lies in.

Each can use k-means or spectral clustering.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from augcl.errors import InputError

BLOCK = 1 << 17
"""Affinities processed at a time, so that the steps after the sort find them in the cache."""


def two_means(affinity: Tensor) -> Tensor:
    """Split each row into two groups with the smallest within-group sum of squares (exact 2-means).

    In one dimension the best groups are the k smallest and the m − k largest values for some k, so
    all m − 1 splits of the sorted row are compared. In a centred row the sum of squares *between*
    the groups, which is to be maximised, is S_k² / k + S_k² / (m − k), where S_k is the sum of the
    k smallest values.

    Equal values stay in one group; a constant row is one group, all True. Among equally good splits
    the one with the most True entries is chosen.

    Parameters
    ----------
    affinity : (N, M) float
        Finite values, for instance cosines.

    Returns
    -------
    (N, M) bool
        True for the group of larger affinities.

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
    # A split inside a run of equal values is never better than one at its ends, and comparing
    # with the largest value below the split puts the whole run on one side.
    largest_below = ordered.gather(1, between.argmax(1, keepdim=True))
    constant = ordered[:, :1] == ordered[:, -1:]
    return affinity > largest_below.masked_fill_(constant, -torch.inf)


def _sort_rows(x: Tensor) -> Tensor:
    if x.device.type == "cpu":  # NumPy is faster: torch also computes the indices
        return torch.from_numpy(np.sort(x.numpy(), axis=1))
    return x.sort(1).values


STARTS = 8
"""Principal directions of the points from which 2-means starts; the best result is kept."""

STEPS = 100
"""Largest number of steps of 2-means; it stops earlier if no point changes its cluster."""


def two_clusters(points: Tensor) -> Tensor:
    """Split each set of points into two clusters by 2-means.

    Lloyd's algorithm starts from the best split along each principal direction of the set, so that
    the result does not depend on random draws. Which of the two clusters is True has no meaning.

    Parameters
    ----------
    points : (S, M, D) float
        S sets of M points.

    Returns
    -------
    (S, M) bool
        If all points are equal, they are one cluster, all True.

    Examples
    --------
    >>> points = torch.tensor([[[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [5.0, 5.1]]])
    >>> label = two_clusters(points)[0]
    >>> (label == label[0]).tolist()
    [True, True, False, False]
    """
    centred = points.detach().double()
    centred = centred - centred.mean(1, keepdim=True)
    directions = torch.linalg.eigh(centred.mT @ centred).eigenvectors[..., -STARTS:]
    if 1 < directions.shape[-1] < STARTS:  # few directions: add the diagonals of the first two
        first, second = directions[..., -1:], directions[..., -2:-1]
        directions = torch.cat([directions, first + second, first - second], dim=-1)
    along = (centred @ directions).mT  # (S, starts, M)
    label = two_means(along.flatten(0, 1)).view_as(along)
    for _ in range(STEPS):
        high, low, total = _centres(centred, label)
        border = (high.square().sum(-1) - low.square().sum(-1)) / 2
        nearer_high = (high - low) @ centred.mT > border[..., None]
        before, label = label, torch.where(total.any(-1, keepdim=True), nearer_high, label)
        if label.equal(before):
            break
    high, low, total = _centres(centred, label)
    between = ((high - low) * total).sum(-1)  # largest where the within-cluster sum is smallest
    best = between.argmax(1)
    return label[torch.arange(len(label), device=label.device), best]


def _centres(centred: Tensor, label: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the means of both clusters and the sum of the True one; all points sum to 0."""
    size = label.sum(-1, keepdim=True)
    total = label.double() @ centred
    return total / size.clamp_min(1), -total / (label.shape[-1] - size).clamp_min(1), total


def spectral_clusters(points: Tensor) -> Tensor:
    """Split each set of points into two clusters by spectral clustering.

    The kernel is exp(−‖x − y‖² / 2σ²), with σ² the variance of the set; its diagonal is 0. The
    rows of the two leading eigenvectors of the normalised kernel, scaled to unit length, are split
    by `two_clusters`.

    Parameters
    ----------
    points : (S, M, D) float

    Returns
    -------
    (S, M) bool
        If all points are equal, they are one cluster, all True.

    References
    ----------
    A. Y. Ng, M. I. Jordan and Y. Weiss. "On Spectral Clustering: Analysis and an Algorithm".
    NIPS 2001.

    Examples
    --------
    >>> points = torch.tensor([[[0.0], [0.1], [5.0], [5.1]]])
    >>> label = spectral_clusters(points)[0]
    >>> (label == label[0]).tolist()
    [True, True, False, False]
    """
    if points.shape[1] < 3:  # with two points the normalised kernel is the same at any distance
        return two_clusters(points)
    points = points.detach().double()
    centred = points - points.mean(1, keepdim=True)
    variance = centred.square().sum(-1).mean(1)
    inner = centred @ centred.mT
    squares = inner.diagonal(dim1=1, dim2=2)
    distance = squares[:, :, None] + squares[:, None, :] - 2 * inner
    kernel = torch.exp(-distance / (2 * variance.clamp_min(1e-300))[:, None, None])
    kernel.diagonal(dim1=1, dim2=2).zero_()
    root = kernel.sum(2).clamp_min(1e-300).rsqrt()
    vectors = torch.linalg.eigh(root[:, :, None] * kernel * root[:, None, :]).eigenvectors
    rows = torch.nn.functional.normalize(vectors[..., -2:], dim=-1)
    return two_clusters(rows) | (variance < 1e-24)[:, None]


def spectral(affinity: Tensor, *, block: int = 32) -> Tensor:
    """Split each row into two groups by spectral clustering of its values.

    Parameters
    ----------
    affinity : (N, M) float
    block : int
        Rows processed at a time; the kernels take block · M² floats.

    Returns
    -------
    (N, M) bool
        True for the group of larger affinities; a constant row is one group, all True.

    Examples
    --------
    >>> spectral(torch.tensor([[0.1, 0.9, 0.2, 0.8]])).int().tolist()
    [[0, 1, 0, 1]]
    """
    parts = [spectral_clusters(rows.unsqueeze(2)) for rows in affinity.detach().split(block)]
    label = torch.cat(parts) if parts else torch.ones_like(affinity, dtype=torch.bool)
    high = (affinity * label).sum(1) / label.sum(1).clamp_min(1)
    low = (affinity * ~label).sum(1) / (~label).sum(1).clamp_min(1)
    wrong_way = (high < low) & ~label.all(1)
    return label ^ wrong_way[:, None]


PARTITIONS: dict[str, Callable[[Tensor], Tensor]] = {"kmeans": two_means, "spectral": spectral}
"""Maps (N, M) affinities → (N, M) groups by name, for `AffinityUncertainty(partition=)`."""

CLUSTERINGS: dict[str, Callable[[Tensor], Tensor]] = {
    "kmeans": two_clusters,
    "spectral": spectral_clusters,
}
"""Maps (S, M, D) points → (S, M) clusters, by the same names."""


def embedding_groups(anchors: Tensor, candidates: Tensor, partition: str) -> Tensor:
    """Split the candidates into two clusters; the similar group of an anchor is its own cluster.

    All anchors share one clustering. An anchor belongs to the cluster with the nearer mean.

    Parameters
    ----------
    anchors, candidates : (N, D), (M, D)
    partition : {"kmeans", "spectral"}

    Returns
    -------
    (N, M) bool
        True where candidate j is in the cluster of anchor i.

    Examples
    --------
    >>> candidates = torch.tensor([[0.0, 1.0], [0.1, 1.0], [1.0, 0.0]])
    >>> embedding_groups(candidates[:1], candidates, "kmeans").tolist()
    [[True, True, False]]
    """
    label = CLUSTERINGS[partition](candidates.unsqueeze(0))[0]
    points = candidates.detach().double()
    mean = points.mean(0)
    high, low, _ = _centres(points - mean, label)
    border = (high.square().sum() - low.square().sum()) / 2
    in_high = (anchors.detach().double() - mean) @ (high - low) >= border
    return (label == in_high[:, None]) | label.all()
