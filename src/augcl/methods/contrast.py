"""Contrastive training with a hardness: when it is fitted, on what, and the loss with it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from augcl.checks import number, whole_number
from augcl.data.graph import GraphSet
from augcl.data.wl import wl_rows
from augcl.encoders import ContrastiveNetwork, inputs, output_width, own_or_gin, projector
from augcl.encoders.contrastive import inputs_of
from augcl.errors import InputError, one_of
from augcl.hardness import AffinityUncertainty, Hardness, Uniform
from augcl.hardness.base import Batches, gives_weights
from augcl.hardness.diagnostics import WeightStatistics
from augcl.hardness.oracle import for_batch
from augcl.hardness.progcl import ProGCL
from augcl.losses import info_nce
from augcl.methods.recipes import by_recipe, chosen_hardness, get_recipe
from augcl.ops import processes
from augcl.ops.cosine import cosine
from augcl.training.batches import STATISTICS
from augcl.training.callbacks import Metrics
from augcl.training.estimator import GraphEstimator
from augcl.training.processes import Share

Pair = Callable[..., tuple[Tensor, Tensor]]
"""From a batch and a generator to the projections of its anchors and of its candidates.

Where no draw changes the anchors, it takes their projections as a third argument if it has been
called with that batch before.
"""


@dataclass(frozen=True)
class Contrast:
    """How N graphs or nodes stand to each other as negatives, at one moment of a training.

    Parameters
    ----------
    similarity : (N, N)
        Cosine of the projections of anchor i and candidate j; the positives on the diagonal.
    active : bool
        Whether the hardness counts at this moment.
    log_weights, log_uncertainty : (N, N), optional
        log w_ij and log u_ij, where the hardness has them and counts.
    similar : (N, N) bool, optional
        Is candidate j in the similar group of anchor i? Where the hardness has groups and counts.
    """

    similarity: Tensor
    active: bool
    log_weights: Tensor | None = None
    log_uncertainty: Tensor | None = None
    similar: Tensor | None = None

    @classmethod
    def of(
        cls,
        hardness: Hardness,
        active: bool,
        similarity: Tensor,
        vectors: tuple[Tensor, Tensor],
        log_weights: Tensor | None = None,
    ) -> Contrast:
        """Ask the hardness about pairs of `vectors`; `log_weights` replace those that it gives."""
        uncertainty = similar = None
        if active and log_weights is None and gives_weights(hardness):
            log_weights = hardness.log_weights(*vectors, cosine(*vectors))
        if active and isinstance(hardness, AffinityUncertainty):
            smallest = torch.finfo(torch.float32).tiny
            uncertainty = hardness.uncertainty(*vectors).clamp_min(smallest).log()
            similar = hardness.groups(*vectors)
        return cls(similarity, active, log_weights, uncertainty, similar)

    def __post_init__(self) -> None:
        """Whoever looks at it takes numbers of 32 bits, whatever the training works with."""
        for name in ("similarity", "log_weights", "log_uncertainty"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, getattr(self, name).float())


class ContrastiveGraphMethod(GraphEstimator):
    """Contrast two projections of every graph with those of the other graphs of its batch.

    A method defines in `_pair` where the two come from; the hardness is fitted on fresh pairs after
    a warm-up. The hyper-parameters named here are those of every such method.

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
    tau: float | None
    encoder: nn.Module | None
    edge_features: bool | None
    layers: int
    width: int
    pooling: str

    edge_switch = "edge_features"

    _anchors_stay = False
    """Whether no draw changes the anchors; `_pair` then takes their projections, once known."""

    @abstractmethod
    def _pair(self, batch: GraphSet, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """(G, D) projections of the anchors and of the candidates; row i of both is graph i.

        The projector is called for the anchors first, then for the candidates.
        """

    def _start(self) -> None:
        super()._start()
        recipe = get_recipe(self.recipe)
        one_of(self.pooling, ("sum", "mean", "both"), "pooling")
        self._statistics = STATISTICS[recipe.statistics]
        self.hardness_ = chosen_hardness(self.hardness, recipe)
        self._wl_rows: dict[GraphSet, Tensor] = {}
        self._shares: dict[GraphSet, Share] = {}
        self._schedule = HardnessSchedule(
            self.hardness_,
            epochs=self.epochs,
            usual=recipe.warmup(self.epochs),
            warmup=self.warmup,
        )
        self._contrast = ScheduledLoss(
            self._schedule,
            tau=by_recipe(self, "tau"),
            positive_in_denominator=self.positive_in_denominator,
            symmetric=self.symmetric,
        )

    def _finds_edges(self, graphs: GraphSet) -> bool:
        return get_recipe(self.recipe).edge_features and super()._finds_edges(graphs)

    def _build(self, features: int, generator: torch.Generator) -> ContrastiveNetwork:
        edge_features = self.n_edge_features_ or 0
        encoder = own_or_gin(
            self.encoder,
            features,
            edge_features=edge_features,
            width=self.width,
            layers=self.layers,
            generator=generator,
        )
        width = output_width(encoder, features, edge_features)
        head = self._head(2 * width if self.pooling == "both" else width, generator)
        return ContrastiveNetwork(encoder, head, pooling=self.pooling)

    def _head(self, width: int, generator: torch.Generator) -> nn.Module:
        return projector(width, generator)

    def _share(self, batch: GraphSet) -> Share:
        """The graphs of a batch that this process encodes; of a fixed batch they stay the same."""
        if not processes.is_shared():
            return Share.of(batch)
        if batch not in self._shares:
            self._shares[batch] = Share.of(batch)
        return self._shares[batch]

    def _project(self, graphs: GraphSet, *more: Tensor) -> Tensor:
        projections: Tensor = self.network_(*inputs(self.network_.encoder, graphs), *more)
        return projections

    def _loss(self, batch: GraphSet, generator: torch.Generator) -> Tensor:
        return self._loss_of(batch, self._pair, generator)

    def _first_loss(self, batch: GraphSet, generator: torch.Generator) -> Tensor:
        return self._loss_of(batch, self._pair, generator, first=True)

    def _loss_of(
        self, batch: GraphSet, pair: Pair, generator: torch.Generator, **how: bool
    ) -> Tensor:
        """The loss of the projections that `pair` draws; `how` as in `ScheduledLoss`."""
        (anchors, candidates), vectors = self._with_vectors(pair, batch, generator)
        return self._contrast(anchors, candidates, batch.labels, generator, vectors=vectors, **how)

    def _with_vectors(
        self, pair: Pair, batch: GraphSet, generator: torch.Generator
    ) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor] | None]:
        """The projections of a batch, and the vectors that the hardness compares if not these."""
        asked = self.hardness_.affinity_of
        if asked == "projection":
            return pair(batch, generator), None
        if asked == "embedding":
            with inputs_of(self.network_.projector) as embeddings:
                projections = pair(batch, generator)
            gather = self._share(batch).gather
            of_anchors, of_candidates = (gather(part.detach()) for part in embeddings)
            return projections, (of_anchors, of_candidates)
        return pair(batch, generator), self._vectors(batch, generator)

    def _vectors(self, batch: GraphSet, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Vectors of anchors and candidates that are not projections, to fit a hardness on."""
        if self.hardness_.affinity_of == "embedding":
            found = self._with_vectors(self._pair, batch, generator)[1]
            assert found is not None
            return found
        if batch not in self._wl_rows:  # they depend on the graphs alone
            self._wl_rows[batch] = wl_rows(batch)
        return self._wl_rows[batch], self._wl_rows[batch]

    def _projections(self, batch: GraphSet, generator: torch.Generator) -> Tensor:
        return self._pair(batch, generator)[0]

    def _before_epoch(
        self, epoch: int, batches: list[GraphSet], generator: torch.Generator
    ) -> Metrics:
        pairs = EmbeddedBatches(self._pair, batches, generator, anchors_stay=self._anchors_stay)
        if self.hardness_.affinity_of != "projection":
            pairs = EmbeddedBatches(self._vectors, batches, generator)
        with self._statistics(self.network_):
            return self._schedule.before_epoch(epoch, pairs, generator)

    def _after_epoch(self) -> Metrics:
        return self._contrast.statistics.read()

    @property
    def _comparable_from(self) -> int:
        return 0 if isinstance(self.hardness_, Uniform) else self._schedule.first_epoch

    def pairs(self, batches: list[GraphSet], generator: torch.Generator) -> EmbeddedBatches:
        """Projections of anchors and candidates of all batches, by the network of the moment.

        Every pass over them draws fresh views; this is what a hardness is fitted on.
        """
        return EmbeddedBatches(self._pair, batches, generator)

    @torch.no_grad()
    def contrast(self, graphs: GraphSet, generator: torch.Generator) -> Contrast:
        """Return how these graphs stand to each other in one batch, by the network of now."""
        self.network_.eval()
        batch = self.read(graphs).to(next(self.network_.parameters()).device)
        projections, vectors = self._with_vectors(self._pair, batch, generator)
        hardness = for_batch(self.hardness_, batch.labels)
        vectors = projections if vectors is None else vectors
        return Contrast.of(hardness, self._schedule.active, cosine(*projections), vectors)

    def _learned(self) -> dict[str, Tensor]:
        return self.hardness_.state()

    def _load_learned(self, tensors: dict[str, Tensor]) -> None:
        self.hardness_.load_state(tensors)


class HardnessSchedule:
    """Decide when a hardness is fitted, and from which epoch on its weights count.

    A hardness that learns is fitted after a warm-up; any other counts from the first epoch. A
    hardness may have two settings for this: `start` (its own first epoch) and `refresh` (refit
    every `refresh` epochs; fit once if None).

    Parameters
    ----------
    hardness : Hardness
    epochs : int
        Epochs of the whole training.
    usual : int
        Usual warm-up of a hardness that learns.
    warmup : int, optional
        Warm-up that the user asked for, which has the last word.

    Attributes
    ----------
    first_epoch : int
        The first epoch in which the hardness counts.
    active : bool
        Whether it counts in the present epoch.
    """

    def __init__(
        self, hardness: Hardness, *, epochs: int, usual: int, warmup: int | None = None
    ) -> None:
        self.hardness = hardness
        self.active = False
        name, asked = "warmup", warmup
        if asked is None:
            name, asked = "start", getattr(hardness, "start", None)
        if asked is None:
            self.first_epoch = usual if hardness.waits else 0
            return
        whole_number(name, asked, least=0)
        if asked > epochs:
            raise InputError(f"{name} is {asked}: it must lie between 0 and {epochs} epochs")
        self.first_epoch = asked

    def fits_before(self, epoch: int) -> bool:
        """Return whether the hardness is fitted before that epoch."""
        since, refresh = epoch - self.first_epoch, getattr(self.hardness, "refresh", None)
        return since == 0 or (refresh is not None and since > 0 and since % refresh == 0)

    def before_epoch(self, epoch: int, pairs: Batches, generator: torch.Generator) -> Metrics:
        """Fit the hardness on `pairs` if it is time; return its diagnosis."""
        self.active = epoch >= self.first_epoch and not isinstance(self.hardness, Uniform)
        if not (self.active and self.fits_before(epoch)):
            return {}
        self.hardness.fit(pairs, generator=generator)
        found = self.hardness.diagnose()
        return {"hardness": found} if found else {}


class ScheduledLoss:
    """`info_nce` with a hardness from its first epoch on; keeps statistics of the weights.

    Parameters
    ----------
    schedule : HardnessSchedule
    tau, positive_in_denominator, symmetric :
        See `info_nce`.

    Attributes
    ----------
    statistics : WeightStatistics
    """

    def __init__(
        self,
        schedule: HardnessSchedule,
        *,
        tau: float,
        positive_in_denominator: bool,
        symmetric: bool = False,
    ) -> None:
        number("tau", tau, above=0)
        self.schedule = schedule
        self.statistics = WeightStatistics()
        self.options = {
            "tau": tau,
            "positive_in_denominator": positive_in_denominator,
            "symmetric": symmetric,
        }

    def __call__(
        self,
        anchors: Tensor,
        candidates: Tensor,
        labels: Tensor | None,
        generator: torch.Generator,
        *,
        vectors: tuple[Tensor, Tensor] | None = None,
        observed: bool = True,
        first: bool = False,
    ) -> Tensor:
        """Return the loss of the projections of one batch.

        Parameters
        ----------
        anchors, candidates : (G, D)
        labels : (G,), optional
            For the statistics, and for the oracle.
        generator : Generator
        vectors : ((G, D'), (G, D')), optional
            What the hardness compares, if not the projections.
        observed : bool
            Whether the weights enter the statistics.
        first : bool
            Return the loss as it is in the first epoch.
        """
        schedule, hardness = self.schedule, None
        if schedule.first_epoch == 0 if first else schedule.active:
            hardness = for_batch(schedule.hardness, labels)

        def observe(logits: Tensor, log_weights: Tensor | None) -> None:
            if log_weights is not None:
                self.statistics.add(log_weights.exp(), labels)
            if labels is not None and len(labels) == len(logits):
                own = torch.eye(len(labels), dtype=torch.bool, device=logits.device)
                weighted = weighted_logits(hardness, logits, log_weights)
                self.statistics.add_mass(logits, weighted, labels, labels, own)

        return info_nce(
            anchors,
            candidates,
            hardness=hardness,
            generator=generator,
            vectors=None if hardness is None else vectors,
            observe=observe if observed and not first else None,
            **self.options,  # type: ignore[arg-type]
        )


def weighted_logits(
    hardness: Hardness | None, logits: Tensor, log_weights: Tensor | None
) -> Tensor | None:
    """Return the logits s_ij/τ (N, M) with the weights of a hardness; None if these change nothing.

    HCL weighs by a power of the exponentials. Mixed negatives of ProGCL have no weights.
    """
    if hardness is None or (isinstance(hardness, ProGCL) and hardness.mixes):
        return None
    power = hardness.powers[0]
    if log_weights is None:
        return None if power == 1 else power * logits
    return power * logits + log_weights


class EmbeddedBatches:
    """Projections of all batches, under fresh views in every pass.

    The network does not change meanwhile: anchors that no draw changes (`anchors_stay`) are
    projected in the first pass only.
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
        for index, batch in enumerate(self.batches):
            known = [self._anchors[index]] if index in self._anchors else []
            anchors, candidates = self.pair(batch, self.generator, *known)
            if self.anchors_stay:
                self._anchors[index] = anchors
            yield anchors, candidates


FITTED, FEWER = 16_384, 8192
"""Nodes of a graph up to which a pass of the fit of a hardness sees all, and how many it sees of a
larger one: two million pairs in blocks of 256."""


class EmbeddedNodes:
    """Projections of both views of one graph in random blocks of `size` nodes, fresh in every pass.

    `pair` draws the views and gives the projections (N, D) of anchors and candidates. Of a graph
    with more than `FITTED` nodes, a pass sees `FEWER`, drawn at random, and all passes see the same
    views: otherwise a fit would take longer than many epochs.
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
        self._large: tuple[Tensor, Tensor] | None = None

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        anchors, candidates = self._large or self.pair(self.generator)
        order = torch.randperm(len(anchors), generator=self.generator)
        if len(order) > FITTED:
            self._large, order = (anchors, candidates), order[:FEWER]
        blocks = [block.to(anchors.device) for block in order.split(self.size)]
        return ((anchors[b], candidates[b]) for b in blocks if len(b) > 1)
