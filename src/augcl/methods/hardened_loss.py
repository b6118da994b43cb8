"""The contrastive loss of a training in which a hardness sets in."""

from __future__ import annotations

import torch
from torch import Tensor

from augcl.checks import number
from augcl.hardness import Hardness
from augcl.hardness.monitor import Monitor
from augcl.methods.onset import Onset
from augcl.objectives import info_nce


class HardenedLoss:
    """`info_nce`, with the hardness from its onset on; keeps statistics of the weights.

    Parameters
    ----------
    onset : Onset
    tau, positive_in_denominator, symmetric :
        See `info_nce`.
    """

    def __init__(
        self,
        onset: Onset,
        *,
        tau: float,
        positive_in_denominator: bool,
        symmetric: bool = False,
    ) -> None:
        number("tau", tau, above=0)
        self.onset = onset
        self.monitor = Monitor(onset.hardness)
        self.tau = tau
        self.positive_in_denominator = positive_in_denominator
        self.symmetric = symmetric

    def __call__(
        self,
        anchors: Tensor,
        candidates: Tensor,
        labels: Tensor | None,
        generator: torch.Generator,
        *,
        watched: bool = True,
    ) -> Tensor:
        """Of the projections of one batch; if `watched`, its weights count in the statistics."""
        hardness = None
        if self.onset.weighs:
            hardness = self.monitor if watched else self.onset.hardness
            hardness.begin_batch(labels, generator)
        return self._of(anchors, candidates, hardness)

    def at_first(
        self,
        anchors: Tensor,
        candidates: Tensor,
        labels: Tensor | None,
        generator: torch.Generator,
    ) -> Tensor:
        """The same as it is in the first epoch, whatever has set in since."""
        if self.onset.epoch > 0:
            return self._of(anchors, candidates, None)
        self.onset.hardness.begin_batch(labels, generator)
        return self._of(anchors, candidates, self.onset.hardness)

    def _of(self, anchors: Tensor, candidates: Tensor, hardness: Hardness | None) -> Tensor:
        return info_nce(
            anchors,
            candidates,
            tau=self.tau,
            hardness=hardness,
            positive_in_denominator=self.positive_in_denominator,
            symmetric=self.symmetric,
        )
