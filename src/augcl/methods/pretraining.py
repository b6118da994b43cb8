"""Contrastive learning as the first phase of another training."""

from __future__ import annotations

import torch
from torch import Tensor

from augcl.data.graph import GraphSet
from augcl.hardness import Hardness, Uniform
from augcl.hardness.monitor import Monitor
from augcl.methods.onset import EmbeddedBatches, Pair, fit_due
from augcl.objectives import info_nce
from augcl.training.loop import Metrics


class Pretraining:
    """The loss of the phase, and when its hardness is fitted.

    Parameters
    ----------
    hardness : Hardness
        It sets in at epoch `onset`.
    onset : int
    pair : Pair
    tau, positive_in_denominator :
        See `info_nce`.
    """

    def __init__(
        self,
        hardness: Hardness,
        *,
        onset: int,
        pair: Pair,
        tau: float,
        positive_in_denominator: bool,
    ) -> None:
        self.hardness = hardness
        self.onset = onset
        self.pair = pair
        self.tau = tau
        self.positive_in_denominator = positive_in_denominator
        self.monitor = Monitor(hardness)
        self.hardened = False

    def loss(self, batch: GraphSet, generator: torch.Generator) -> Tensor:
        """Of one batch."""
        if self.hardened:
            self.monitor.begin_batch(batch.y, generator)
        return info_nce(
            *self.pair(batch, generator),
            tau=self.tau,
            hardness=self.monitor if self.hardened else None,
            positive_in_denominator=self.positive_in_denominator,
        )

    def before_epoch(
        self, epoch: int, batches: list[GraphSet], generator: torch.Generator
    ) -> Metrics:
        """Fit the hardness if it is due; what it tells of itself."""
        since = epoch - self.onset
        self.hardened = since >= 0 and not isinstance(self.hardness, Uniform)
        if not (self.hardened and fit_due(self.hardness, since)):
            return {}
        self.hardness.fit(EmbeddedBatches(self.pair, batches, generator), generator=generator)
        found = self.hardness.diagnose()
        return {"hardness": found} if found else {}
