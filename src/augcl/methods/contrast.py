"""When a hardness sets in, when it is fitted, and on what."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from augcl.checks import number, whole_number
from augcl.data.graph import GraphSet
from augcl.encoders import ContrastiveNetwork, inputs, output_width, own_or_gin, projector
from augcl.errors import InputError, one_of
from augcl.hardness import Hardness, Uniform
from augcl.hardness.base import Batches
from augcl.hardness.diagnostics import Monitor
from augcl.losses import info_nce
from augcl.methods.recipes import chosen_hardness, get_recipe
from augcl.training.batches import STATISTICS
from augcl.training.callbacks import Metrics
from augcl.training.estimator import GraphEstimator

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


class HardenedContrast(GraphEstimator):
    """Two projections of every graph, one against those of the other graphs of its batch.

    A method says in `_pair` where the two come from; the hardness sets in after a warm-up and is
    fitted on fresh pairs. The hyper-parameters named here are those of every such method.

    Attributes
    ----------
    network_ : ContrastiveNetwork
    hardness_ : Hardness
    """

    hardness: Hardness | str | None
    recipe: str
    warmup: int | None
    positive_in_denominator: bool
    symmetric: bool
    tau: float
    encoder: nn.Module | None
    layers: int
    width: int
    pooling: str

    _anchors_stay = False
    """Whether no draw changes the anchors; `_pair` then takes their projections, once known."""

    @abstractmethod
    def _pair(self, batch: GraphSet, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """(G, D) projections of the anchors and of the candidates; row i of both is graph i."""

    def _start(self) -> None:
        super()._start()
        recipe = get_recipe(self.recipe)
        one_of(self.pooling, ("sum", "mean"), "pooling")
        self._statistics = STATISTICS[recipe.statistics]
        self.hardness_ = chosen_hardness(self.hardness, recipe)
        self._onset = Onset(
            self.hardness_,
            epochs=self.epochs,
            usual=recipe.warmup(self.epochs),
            warmup=self.warmup,
        )
        self._contrast = HardenedLoss(
            self._onset,
            tau=self.tau,
            positive_in_denominator=self.positive_in_denominator,
            symmetric=self.symmetric,
        )

    def _build(self, features: int, generator: torch.Generator) -> ContrastiveNetwork:
        encoder = own_or_gin(
            self.encoder, features, width=self.width, layers=self.layers, generator=generator
        )
        head = self._head(output_width(encoder, features), generator)
        return ContrastiveNetwork(encoder, head, pooling=self.pooling)

    def _head(self, width: int, generator: torch.Generator) -> nn.Module:
        return projector(width, generator)

    def _project(self, graphs: GraphSet, *more: Tensor) -> Tensor:
        projections: Tensor = self.network_(*inputs(self.network_.encoder, graphs), *more)
        return projections

    def _loss(self, batch: GraphSet, generator: torch.Generator) -> Tensor:
        return self._contrast(*self._pair(batch, generator), batch.y, generator)

    def _first_loss(self, batch: GraphSet, generator: torch.Generator) -> Tensor:
        return self._contrast.at_first(*self._pair(batch, generator), batch.y, generator)

    def _projections(self, batch: GraphSet, generator: torch.Generator) -> Tensor:
        return self._pair(batch, generator)[0]

    def _before_epoch(
        self, epoch: int, batches: list[GraphSet], generator: torch.Generator
    ) -> Metrics:
        stay = self._anchors_stay
        pairs = EmbeddedBatches(self._pair, batches, generator, anchors_stay=stay)
        with self._statistics(self.network_):
            return self._onset.before_epoch(epoch, pairs, generator)

    def _after_epoch(self) -> Metrics:
        return self._contrast.monitor.read()

    @property
    def _comparable_from(self) -> int:
        return 0 if isinstance(self.hardness_, Uniform) else self._onset.epoch

    def pairs(self, batches: list[GraphSet], generator: torch.Generator) -> EmbeddedBatches:
        """Projections of anchors and candidates of all batches, by the network of the moment.

        Every pass over them draws fresh views; this is what a hardness is fitted on.
        """
        return EmbeddedBatches(self._pair, batches, generator)

    def _learned(self) -> dict[str, Tensor]:
        return self.hardness_.state()

    def _load_learned(self, tensors: dict[str, Tensor]) -> None:
        self.hardness_.load_state(tensors)
