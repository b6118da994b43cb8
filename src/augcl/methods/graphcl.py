"""GraphCL, with any hardness of negatives: with affinity uncertainty it is AUGCL."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from augcl.data.graph import GraphSet
from augcl.encoders import GIN, ContrastiveNetwork, inputs, output_width, projector
from augcl.errors import InputError, one_of
from augcl.hardness import Hardness, Uniform
from augcl.hardness.monitor import Monitor
from augcl.methods.onset import first_epoch, fit_due
from augcl.methods.recipes import chosen_hardness, get_recipe
from augcl.objectives import info_nce
from augcl.training.estimator import GraphEstimator
from augcl.training.loop import Metrics
from augcl.training.statistics import batch_statistics, running_statistics
from augcl.views import named_view


class GraphCL(GraphEstimator):
    """Pull a graph and its view together, push the other graphs of the batch away.

    Parameters
    ----------
    hardness : Hardness or {"none", "augcl", "dcl", "hcl", "progcl"}
        How hard each negative is. A name takes the settings of `recipe`.
    recipe : {"default", "authors", "paper"}
        Decides `warmup`, whether the anchor is augmented too, and the settings of a named
        hardness.
    epochs : int
        All epochs, before and after the hardness sets in; 0 gives the untrained encoder.
    warmup : int, optional
        Epochs before the hardness sets in; if None as the hardness says, which for one that has
        to be fitted is a matter of the recipe (half of all by default).
    augmentation : str
        "random2" (node dropping or subgraph), "random3" (+ edge perturbation), "random4"
        (+ attribute masking), one of "node-drop", "edge-perturb", "subgraph", "attribute-mask",
        or "identity".
    growth : {"star", "walk"}, optional
        How a subgraph grows: the released code's one-hop star, or a random walk; by the recipe
        if None (the star by default).
    augment_anchor : bool, optional
        Both views are augmented; by the recipe if None (False by default).
    positive_in_denominator, symmetric, tau :
        See `info_nce`.
    encoder : Module, optional
        A PyG-style module, (x, edge_index) to (V, D); GIN with `layers` and `width` if None.
    pooling : {"sum", "mean"}
    batch_size, lr : int, float
    random_state : int or None
        Seed of every draw of ours; dropout in an encoder of your own follows torch's global seed.
    device : str
        "cpu", "cuda", "cuda:1", "auto".
    progress : bool
        Show a progress bar when the error stream is a terminal.

    Attributes
    ----------
    network_ : ContrastiveNetwork
    hardness_ : Hardness
    history_ : list of dict
        One entry per epoch: loss, seconds and the spread of the weights.

    Examples
    --------
    >>> import augcl
    >>> graphs = augcl.load("MUTAG")
    >>> model = augcl.GraphCL(hardness="augcl", epochs=2, random_state=0).fit(graphs)
    >>> model.transform(graphs).shape
    (188, 96)
    """

    year = 2020

    def __init__(
        self,
        *,
        hardness: Hardness | str | None = None,
        recipe: str = "default",
        epochs: int = 40,
        warmup: int | None = None,
        augmentation: str = "random2",
        growth: str | None = None,
        augment_anchor: bool | None = None,
        positive_in_denominator: bool = True,
        symmetric: bool = False,
        tau: float = 0.2,
        encoder: nn.Module | None = None,
        layers: int = 3,
        width: int = 32,
        pooling: str = "sum",
        batch_size: int = 128,
        lr: float = 0.01,
        random_state: int | None = 0,
        device: str = "cpu",
        progress: bool = True,
    ) -> None:
        self.hardness = hardness
        self.recipe = recipe
        self.epochs = epochs
        self.warmup = warmup
        self.augmentation = augmentation
        self.growth = growth
        self.augment_anchor = augment_anchor
        self.positive_in_denominator = positive_in_denominator
        self.symmetric = symmetric
        self.tau = tau
        self.encoder = encoder
        self.layers = layers
        self.width = width
        self.pooling = pooling
        self.batch_size = batch_size
        self.lr = lr
        self.random_state = random_state
        self.device = device
        self.progress = progress

    def _start(self) -> None:
        super()._start()
        recipe = get_recipe(self.recipe)
        one_of(self.pooling, ("sum", "mean"), "pooling")
        if not 0 < self.tau < math.inf:
            raise InputError(f"tau is {self.tau!r}: the temperature must be above 0 and finite")
        self._view = named_view(self.augmentation, growth=self.growth or recipe.growth)
        self._two_views = (
            recipe.augment_anchor if self.augment_anchor is None else self.augment_anchor
        )
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

    def _build(self, features: int, generator: torch.Generator) -> ContrastiveNetwork:
        encoder = copy.deepcopy(self.encoder)
        if encoder is None:
            encoder = GIN(features, width=self.width, layers=self.layers, generator=generator)
        head = projector(output_width(encoder, features), generator)
        return ContrastiveNetwork(encoder, head, pooling=self.pooling)

    def _views(self, batch: GraphSet, generator: torch.Generator) -> tuple[GraphSet, GraphSet]:
        anchor = self._view(batch, generator) if self._two_views else batch
        return anchor, self._view(batch, generator)

    def _project(self, graphs: GraphSet) -> Tensor:
        return self.network_(*inputs(self.network_.encoder, graphs))  # type: ignore[no-any-return]

    def _loss(self, batch: GraphSet, generator: torch.Generator) -> Tensor:
        anchor, candidate = self._views(batch, generator)
        if self._hardened:
            self._monitor.begin_batch(batch.y, generator)
        return info_nce(
            self._project(anchor),
            self._project(candidate),
            tau=self.tau,
            hardness=self._monitor if self._hardened else None,
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
        with self._statistics(self.network_):
            self.hardness_.fit(EmbeddedBatches(self, batches, generator), generator=generator)
        found = self.hardness_.diagnose()
        return {"hardness": found} if found else {}

    def _after_epoch(self) -> Metrics:
        return self._monitor.read()

    def _learned(self) -> dict[str, Tensor]:
        return self.hardness_.state()

    def _load_learned(self, tensors: dict[str, Tensor]) -> None:
        self.hardness_.load_state(tensors)


class EmbeddedBatches:
    """Projections of all batches under fresh views, anew at every pass."""

    def __init__(
        self, method: GraphCL, batches: list[GraphSet], generator: torch.Generator
    ) -> None:
        self.method = method
        self.batches = batches
        self.generator = generator

    @torch.no_grad()
    def _pair(self, batch: GraphSet) -> tuple[Tensor, Tensor]:
        anchor, candidate = self.method._views(batch, self.generator)
        return self.method._project(anchor), self.method._project(candidate)

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        return (self._pair(batch) for batch in self.batches if len(batch) > 1)
