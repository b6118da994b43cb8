"""What contrastive methods for graphs share: the loss, and when a hardness is fitted on what."""

from __future__ import annotations

import copy
import math
from abc import abstractmethod

import torch
from torch import Tensor, nn

from augcl.data.graph import GraphSet
from augcl.encoders import GIN, ContrastiveNetwork, inputs, output_width, projector
from augcl.errors import InputError, one_of
from augcl.hardness import Hardness, Uniform
from augcl.hardness.monitor import Monitor
from augcl.methods.onset import EmbeddedBatches, first_epoch, fit_due
from augcl.methods.recipes import chosen_hardness, get_recipe
from augcl.objectives import info_nce
from augcl.training.estimator import GraphEstimator
from augcl.training.loop import Metrics
from augcl.training.statistics import batch_statistics, running_statistics


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

    @abstractmethod
    def _pair(self, batch: GraphSet, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """(G, D) projections of the anchors and of the candidates; row i of both is graph i."""

    def _start(self) -> None:
        super()._start()
        recipe = get_recipe(self.recipe)
        one_of(self.pooling, ("sum", "mean"), "pooling")
        if not 0 < self.tau < math.inf:
            raise InputError(f"tau is {self.tau!r}: the temperature must be above 0 and finite")
        self._statistics = batch_statistics if recipe.statistics == "batch" else running_statistics
        self.hardness_ = chosen_hardness(self.hardness, recipe)
        self._onset = first_epoch(
            self.hardness_,
            warmup=self.warmup,
            epochs=self.epochs,
            usual=int(self.epochs * recipe.warmup_share),
        )
        self._monitor = Monitor(self.hardness_)
        self._hardened = False
        self._resting: dict[int, Tensor] | None = None

    def _build(self, features: int, generator: torch.Generator) -> ContrastiveNetwork:
        encoder = copy.deepcopy(self.encoder)
        if encoder is None:
            encoder = GIN(features, width=self.width, layers=self.layers, generator=generator)
        head = self._head(output_width(encoder, features), generator)
        return ContrastiveNetwork(encoder, head, pooling=self.pooling)

    def _head(self, width: int, generator: torch.Generator) -> nn.Module:
        return projector(width, generator)

    def _project(self, graphs: GraphSet, *more: Tensor) -> Tensor:
        projections: Tensor = self.network_(*inputs(self.network_.encoder, graphs), *more)
        return projections

    def _of_batch(self, batch: GraphSet) -> Tensor:
        """The projections of a batch as it is: while our encoder rests they stay the same."""
        if self._resting is None or self.encoder is not None:
            return self._project(batch)
        if id(batch) not in self._resting:
            self._resting[id(batch)] = self._project(batch)
        return self._resting[id(batch)]

    def _loss(self, batch: GraphSet, generator: torch.Generator) -> Tensor:
        return self._contrast(batch, *self._pair(batch, generator), generator)

    def _contrast(
        self,
        batch: GraphSet,
        anchors: Tensor,
        candidates: Tensor,
        generator: torch.Generator,
        *,
        watched: bool = True,
    ) -> Tensor:
        """The loss of a pair of projections; if `watched`, its weights count in the metrics."""
        hardness = self._monitor if watched else self.hardness_
        if self._hardened:
            hardness.begin_batch(batch.y, generator)
        return info_nce(
            anchors,
            candidates,
            tau=self.tau,
            hardness=hardness if self._hardened else None,
            positive_in_denominator=self.positive_in_denominator,
            symmetric=self.symmetric,
        )

    def _before_epoch(
        self, epoch: int, batches: list[GraphSet], generator: torch.Generator
    ) -> Metrics:
        since = epoch - self._onset
        self._hardened = since >= 0 and not isinstance(self.hardness_, Uniform)
        if not (self._hardened and fit_due(self.hardness_, since)):
            return {}
        self._resting = {}
        try:
            with self._statistics(self.network_):
                pairs = EmbeddedBatches(self._pair, batches, generator)
                self.hardness_.fit(pairs, generator=generator)
        finally:
            self._resting = None
        found = self.hardness_.diagnose()
        return {"hardness": found} if found else {}

    def _after_epoch(self) -> Metrics:
        return self._monitor.read()

    def _learned(self) -> dict[str, Tensor]:
        return self.hardness_.state()

    def _load_learned(self, tensors: dict[str, Tensor]) -> None:
        self.hardness_.load_state(tensors)
