"""Clusters of nodes, and of which nodes they can be trusted (HSAN)."""

from __future__ import annotations

import warnings

import torch
from torch import Tensor
from torch.nn.functional import softmax

STARTS = 20
"""Random starts of k-means."""


def clustered(z: Tensor, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """(N,) clusters by k-means and (N,) doubts: low where one centre is far nearer than others."""
    from sklearn.cluster import KMeans  # slow to import
    from sklearn.exceptions import ConvergenceWarning

    seed = int(torch.randint(2**31 - 1, (1,), generator=generator))
    count = min(count, len(z))
    means = KMeans(count, init="random", n_init=STARTS, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer points than clusters are fine
        labels = means.fit_predict(z.cpu().numpy())
    distance = torch.from_numpy(means.transform(z.cpu().numpy())).to(z.device)
    doubt = softmax(distance.square(), dim=1).amin(1)
    return torch.from_numpy(labels).to(z.device), doubt


def sure_nodes(doubt: Tensor, share: float) -> Tensor:
    """(N,) bool: that share of the nodes whose doubt (N,) is lowest.

    >>> sure_nodes(torch.tensor([0.1, 0.5, 0.0]), 2 / 3)
    tensor([ True, False,  True])
    """
    sure = torch.zeros(len(doubt), dtype=torch.bool, device=doubt.device)
    sure[doubt.argsort()[: round(share * len(doubt))]] = True
    return sure
