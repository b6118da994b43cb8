"""Contrastive learning as the first phase of another training."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from augcl.data.graph import GraphSet
from augcl.hardness import Hardness, Uniform
from augcl.hardness.monitor import Monitor
from augcl.methods.onset import fit_due
from augcl.objectives import info_nce
from augcl.training.loop import Metrics

Pair = Callable[[GraphSet, torch.Generator], tuple[Tensor, Tensor]]


class Pretraining:
    """The loss of the phase, and when its hardness is fitted.

    Parameters
    ----------
    hardness : Hardness
        It sets in at epoch `onset`.
    onset : int
    pair : callable
        A batch and a generator to the projections of both views.
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
        self.hardness.fit(_Projected(self.pair, batches, generator), generator=generator)
        found = self.hardness.diagnose()
        return {"hardness": found} if found else {}


class _Projected:
    """Projections of all batches under fresh views, anew at every pass."""

    def __init__(self, pair: Pair, batches: list[GraphSet], generator: torch.Generator) -> None:
        self.pair = pair
        self.batches = batches
        self.generator = generator

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        for batch in self.batches:
            if len(batch) > 1:
                with torch.no_grad():
                    pair = self.pair(batch, self.generator)
                yield pair
