"""Two groups of candidates for every anchor: the similar ones (True) and the others.

The paper can be read in two ways, and both are here. *Affinity*: the cosines of one anchor to its
candidates are split, one clustering per anchor (the released code). *Embedding*: the candidates
themselves are split, one clustering for all anchors, and the cluster that an anchor lies in is its
similar group (the text).
"""

from __future__ import annotations

from collections.abc import Callable

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


STARTS = 8
"""Main directions of the points along which 2-means starts; the best result is kept."""

STEPS = 100
"""Steps of 2-means at most; it stops when no point changes sides."""


def two_clusters(points: Tensor) -> Tensor:
    """Split each set of points in two with a small within-cluster sum of squares (2-means).

    Lloyd's algorithm starts from the best split along each of the main directions of the set, so
    that no random draw takes part. Which of the two clusters is called True has no meaning.

    Parameters
    ----------
    points : (S, M, D) float
        S sets of M points.

    Returns
    -------
    (S, M) bool
        Equal points are one cluster, all True.

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
    if 1 < directions.shape[-1] < STARTS:  # few: take the diagonals between the two main ones, too
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
    between = ((high - low) * total).sum(-1)  # the larger, the smaller within the clusters
    best = between.argmax(1)
    return label[torch.arange(len(label), device=label.device), best]


def _centres(centred: Tensor, label: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Means of both clusters, and the sum of the first; all points together sum to 0."""
    size = label.sum(-1, keepdim=True)
    total = label.double() @ centred
    return total / size.clamp_min(1), -total / (label.shape[-1] - size).clamp_min(1), total


def spectral_clusters(points: Tensor) -> Tensor:
    """Split each set of points in two by spectral clustering (Ng, Jordan and Weiss, 2001).

    The kernel is exp(−‖x − y‖² / 2σ²), with σ² the variance of the set; its diagonal is 0. The
    rows of the two leading eigenvectors of the normalised kernel, scaled to unit length, are split
    by `two_clusters`.

    Parameters
    ----------
    points : (S, M, D) float

    Returns
    -------
    (S, M) bool
        Equal points are one cluster, all True.
    """
    if points.shape[1] < 3:  # a kernel of two points without its diagonal knows no distance
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
    """Spectral clustering of each row's numbers.

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
    parts = [spectral_clusters(rows.unsqueeze(2)) for rows in affinity.detach().split(block)]
    label = torch.cat(parts) if parts else torch.ones_like(affinity, dtype=torch.bool)
    high = (affinity * label).sum(1) / label.sum(1).clamp_min(1)
    low = (affinity * ~label).sum(1) / (~label).sum(1).clamp_min(1)
    wrong_way = (high < low) & ~label.all(1)
    return label ^ wrong_way[:, None]


PARTITIONS: dict[str, Callable[[Tensor], Tensor]] = {"kmeans": two_means, "spectral": spectral}
"""By name: (N, M) affinities to (N, M) groups."""

CLUSTERINGS: dict[str, Callable[[Tensor], Tensor]] = {
    "kmeans": two_clusters,
    "spectral": spectral_clusters,
}
"""By name: (S, M, D) points to (S, M) clusters."""


def embedding_groups(anchors: Tensor, candidates: Tensor, partition: str) -> Tensor:
    """Split the candidates in two clusters; similar are those in the cluster of the anchor.

    An anchor lies in the cluster with the nearer mean. One clustering serves all anchors.

    Parameters
    ----------
    anchors, candidates : (N, D), (M, D)
    partition : {"kmeans", "spectral"}

    Returns
    -------
    (N, M) bool
    """
    label = CLUSTERINGS[partition](candidates.unsqueeze(0))[0]
    points = candidates.detach().double()
    mean = points.mean(0)
    high, low, _ = _centres(points - mean, label)
    border = (high.square().sum() - low.square().sum()) / 2
    in_high = (anchors.detach().double() - mean) @ (high - low) >= border
    return (label == in_high[:, None]) | label.all()
