"""What contrastive methods for graphs share: the loss, and when a hardness is fitted on what."""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor, nn

from augcl.data.graph import GraphSet
from augcl.encoders import ContrastiveNetwork, inputs, output_width, own_or_gin, projector
from augcl.errors import one_of
from augcl.hardness import Hardness
from augcl.methods.hardened_loss import HardenedLoss
from augcl.methods.onset import EmbeddedBatches, Onset
from augcl.methods.recipes import chosen_hardness, get_recipe
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

    _anchors_stay = False
    """Whether no draw changes the anchors; `_pair` then takes their projections, once known."""

    @abstractmethod
    def _pair(self, batch: GraphSet, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """(G, D) projections of the anchors and of the candidates; row i of both is graph i."""

    def _start(self) -> None:
        super()._start()
        recipe = get_recipe(self.recipe)
        one_of(self.pooling, ("sum", "mean"), "pooling")
        self._statistics = batch_statistics if recipe.statistics == "batch" else running_statistics
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

    def _learned(self) -> dict[str, Tensor]:
        return self.hardness_.state()

    def _load_learned(self, tensors: dict[str, Tensor]) -> None:
        self.hardness_.load_state(tensors)
