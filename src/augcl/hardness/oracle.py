"""The ceiling: what perfect knowledge of the false negatives would gain."""

from __future__ import annotations

import math

import torch
from sklearn.exceptions import NotFittedError
from torch import Tensor

from augcl.checks import number
from augcl.errors import InputError
from augcl.hardness.base import Hardness

SMALLEST = 1e-30
"""Stands for a weight of 0, whose logarithm would not be finite."""


class Oracle(Hardness):
    """Weights from the labels: NOT a method, but the upper bound of any weighting of negatives.

    Candidates of the anchor's own class (false negatives) weigh `false_weight`, all others 1. It
    sets in at the first epoch. Where it gains nothing over plain training, no hardness can.

    Parameters
    ----------
    false_weight : float
        From 0 (false negatives are left out) to 1 (plain training).

    Examples
    --------
    >>> oracle = Oracle()
    >>> oracle.begin_batch(torch.tensor([0, 1, 1]))
    >>> z = torch.eye(3)
    >>> oracle.log_weights(z, z, z).exp().round().int().tolist()
    [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    """

    def __init__(self, false_weight: float = 0.0) -> None:
        self.false_weight = false_weight

    def check(self) -> None:
        number("false_weight", self.false_weight, least=0, most=1)

    def first_epoch(self, epochs: int, usual: int) -> int:
        return 0

    def begin_batch(self, labels: Tensor | None, generator: torch.Generator | None = None) -> None:
        if labels is None:
            raise InputError("the oracle weighs negatives by their labels: these data have none")
        self._labels = labels

    def log_weights(self, anchors: Tensor, candidates: Tensor, affinity: Tensor) -> Tensor:
        if not hasattr(self, "_labels"):
            raise NotFittedError("the oracle has no labels yet: call begin_batch(labels) first")
        labels = self._labels
        of_anchors = labels[: len(anchors), None]
        false = (of_anchors == labels) & (of_anchors >= 0)  # −1: nobody knows
        log_w = torch.zeros_like(affinity)
        return log_w.masked_fill_(false, math.log(max(self.false_weight, SMALLEST)))
