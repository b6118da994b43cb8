"""Affinity uncertainty: one k-means per anchor, one network input per pair."""

from __future__ import annotations

import numpy as np
import torch
from sklearn.cluster import KMeans
from torch import Tensor, nn


def kmeans_labels(
    similarity: Tensor, *, group: str = "positive", n_init: int = 1, random_state: int = 0
) -> Tensor:
    """Return labels 0 and 1 (N, M) of similarities (N, M), by 2-means of each row.

    Label 1 is the cluster that contains the positive j = i, or with ``group="larger"`` the cluster
    of the larger similarities. A constant row is one cluster, all 1.
    """
    labels = torch.ones(similarity.shape, dtype=torch.long)
    for i, row in enumerate(similarity.detach().numpy()):
        if row.min() == row.max():
            continue
        means = KMeans(n_clusters=2, n_init=n_init, random_state=random_state).fit(row[:, None])
        one = means.labels_[i] if group == "positive" else means.cluster_centers_[:, 0].argmax()
        labels[i] = torch.from_numpy((means.labels_ == one).astype(np.int64))
    return labels


def pair_inputs(anchors: Tensor, candidates: Tensor, affinity: Tensor | None = None) -> Tensor:
    """Return the concatenations [z_i ; ẑ_j] (N·M, 2D) of rows (N, D) and (M, D), i major.

    With `affinity` (N, M), add one more column.
    """
    parts = [anchors.repeat_interleave(len(candidates), 0), candidates.repeat(len(anchors), 1)]
    if affinity is not None:
        parts.append(affinity.reshape(-1, 1))
    return torch.cat(parts, dim=1)


class Gambler(nn.Sequential):
    """The uncertainty network 2D → 128 → 128 → 3; softmax of its output is (p_0, p_1, u)."""

    def __init__(self, inputs: int = 192, hidden: int = 128) -> None:
        super().__init__(
            nn.Linear(inputs, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, 3),
        )
        for module in self:
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)


def gamblers_loss(logits: Tensor, labels: Tensor, reward: float = 1.9) -> Tensor:
    """Return −mean log( p_c + u / o ) over logits (P, 3) and labels (P,)."""
    p = torch.softmax(logits, dim=1)
    chosen = p[torch.arange(len(p)), labels]
    return -torch.log(chosen + p[:, 2] / reward).mean()


def row_weights(uncertainty: Tensor) -> Tensor:
    """Return w_ij = u_ij / mean_k u_ik, and w_ii = 1."""
    weights = uncertainty / uncertainty.mean(dim=1, keepdim=True)
    weights.fill_diagonal_(1.0)
    return weights
