"""When a hardness sets in, when it is fitted, and on what."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from augcl.checks import whole_number
from augcl.data.graph import GraphSet
from augcl.errors import InputError
from augcl.hardness import Hardness, Uniform
from augcl.hardness.base import Batches
from augcl.training.loop import Metrics

Pair = Callable[..., tuple[Tensor, Tensor]]
"""From a batch and a generator to the projections of its anchors and of its candidates.

Where no draw changes the anchors, it takes their projections as a third argument if it has been
called with that batch before.
"""


class Onset:
    """When a hardness sets in, and when it is fitted.

    Parameters
    ----------
    hardness : Hardness
    epochs : int
        Of the whole training.
    usual : int
        Epochs before a hardness sets in that has to be fitted.
    warmup : int, optional
        Epochs before this one sets in; if None as it says itself.

    Attributes
    ----------
    epoch : int
        The first in which it weighs.
    weighs : bool
        Whether it does so in this epoch.
    """

    def __init__(
        self, hardness: Hardness, *, epochs: int, usual: int, warmup: int | None = None
    ) -> None:
        self.hardness = hardness
        self.weighs = False
        if warmup is None:
            self.epoch = hardness.first_epoch(epochs, usual)
            return
        whole_number("warmup", warmup, least=0)
        if warmup > epochs:
            raise InputError(f"warmup is {warmup}: it must lie between 0 and {epochs}")
        self.epoch = warmup

    def fits_in(self, epoch: int) -> bool:
        """Whether the hardness is fitted before that epoch."""
        since, refresh = epoch - self.epoch, self.hardness.refresh
        return since == 0 or (refresh is not None and since > 0 and since % refresh == 0)

    def before_epoch(self, epoch: int, pairs: Batches, generator: torch.Generator) -> Metrics:
        """Fit the hardness if it is due; what it tells of itself."""
        self.weighs = epoch >= self.epoch and not isinstance(self.hardness, Uniform)
        if not (self.weighs and self.fits_in(epoch)):
            return {}
        self.hardness.fit(pairs, generator=generator)
        found = self.hardness.diagnose()
        return {"hardness": found} if found else {}


class EmbeddedBatches:
    """Projections of all batches under fresh views, anew at every pass.

    The network stands still meanwhile: anchors that no draw changes (`anchors_stay`) are projected
    in the first pass only.
    """

    def __init__(
        self,
        pair: Pair,
        batches: list[GraphSet],
        generator: torch.Generator,
        *,
        anchors_stay: bool = False,
    ) -> None:
        self.pair = torch.no_grad()(pair)
        self.batches = [batch for batch in batches if len(batch) > 1]
        self.generator = generator
        self.anchors_stay = anchors_stay
        self._anchors: dict[int, Tensor] = {}

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        for place, batch in enumerate(self.batches):
            known = [self._anchors[place]] if place in self._anchors else []
            anchors, candidates = self.pair(batch, self.generator, *known)
            if self.anchors_stay:
                self._anchors[place] = anchors
            yield anchors, candidates


class EmbeddedNodes:
    """Projections of both views of one graph in random blocks of `size` nodes, anew at every pass.

    `pair` draws the views and gives the projections (N, D) of anchors and candidates.
    """

    def __init__(
        self,
        pair: Callable[[torch.Generator], tuple[Tensor, Tensor]],
        size: int,
        generator: torch.Generator,
    ) -> None:
        self.pair = torch.no_grad()(pair)
        self.size = size
        self.generator = generator

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        anchors, candidates = self.pair(self.generator)
        order = torch.randperm(len(anchors), generator=self.generator)
        blocks = [block.to(anchors.device) for block in order.split(self.size)]
        return ((anchors[b], candidates[b]) for b in blocks if len(b) > 1)
