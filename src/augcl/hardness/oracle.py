"""The oracle: an upper bound for every weighting, from perfect knowledge of false negatives."""

from __future__ import annotations

import math

import torch
from sklearn.exceptions import NotFittedError
from torch import Tensor

from augcl.checks import number
from augcl.errors import InputError
from augcl.hardness.base import Hardness

SMALLEST = 1e-30
"""Used instead of a weight of 0, whose logarithm is not finite."""


class Oracle(Hardness):
    """Weight negatives by their labels: NOT a method, but the upper bound of any weighting.

    Candidates of the anchor's own class (false negatives) get the weight `false_weight`, all others
    1. If the oracle gains nothing over plain training, no hardness can.

    Parameters
    ----------
    false_weight : float
        Weight of false negatives, from 0 (leave them out) to 1 (plain training).

    Examples
    --------
    >>> oracle = Oracle().with_labels(torch.tensor([0, 1, 1]))
    >>> z = torch.eye(3)
    >>> oracle.log_weights(z, z, z).exp().round().int().tolist()
    [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    """

    def __init__(self, false_weight: float = 0.0) -> None:
        self.false_weight = false_weight

    def with_labels(self, labels: Tensor | None) -> Oracle:
        """Return an oracle for one batch whose candidates have these labels (M,); −1: unknown."""
        if labels is None:
            raise InputError("the oracle needs labels, but these data have none")
        oracle = Oracle(self.false_weight)
        oracle.labels_ = labels
        return oracle

    def log_weights(self, anchors: Tensor, candidates: Tensor, affinity: Tensor) -> Tensor:
        if not hasattr(self, "labels_"):
            raise NotFittedError("the oracle has no labels yet: use oracle.with_labels(labels)")
        of_anchors = self.labels_[: len(anchors), None]
        false = (of_anchors == self.labels_) & (of_anchors >= 0)
        log_w = torch.zeros_like(affinity)
        return log_w.masked_fill_(false, math.log(max(self.false_weight, SMALLEST)))

    def _check(self) -> None:
        number("false_weight", self.false_weight, least=0, most=1)


def for_batch(hardness: Hardness, labels: Tensor | None) -> Hardness:
    """Return the hardness for a batch with these labels (M,); only the oracle gets to see them."""
    return hardness.with_labels(labels) if isinstance(hardness, Oracle) else hardness
