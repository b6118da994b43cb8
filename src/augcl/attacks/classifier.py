"""The victim of the attacks, a graph classifier: training on labels, choice of the epoch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from augcl.attacks.victim_network import EdgeFactors, GraphClassifier
from augcl.checks import whole_number
from augcl.contract import check_fitted
from augcl.data.convert import as_graphset
from augcl.data.graph import GraphSet
from augcl.data.labels import class_labels
from augcl.encoders.structure2vec import Structure2Vec
from augcl.errors import InputError, one_of
from augcl.hardness import Hardness, Uniform
from augcl.methods.contrast import EmbeddedBatches, HardnessSchedule, ScheduledLoss
from augcl.methods.recipes import by_recipe, chosen_hardness, get_recipe
from augcl.ops.segments import pointer, ranges
from augcl.training.batches import fixed_batches
from augcl.training.callbacks import Callbacks, Metrics
from augcl.training.checkpoint import Snapshot, prefixed
from augcl.training.estimator import GraphEstimator
from augcl.views.graphs import NodeDrop

FORMS = ("self-loops", "star", "plain")


@dataclass(frozen=True)
class VictimDrop:
    """Remove floor(ratio · n) nodes with their edges.

    Parameters
    ----------
    ratio : float
    form : {"self-loops", "star", "plain"}
        "self-loops": every kept node also gets a self-loop, which the original graph does not have;
        this is what the released code intends. "star": what the released code does. It reads the
        list of edges and self-loops, stored as 64-bit numbers, as 32-bit numbers, so that every
        second number is 0, and takes as many edges as the *original* graph has: entry q of the list
        becomes an edge to the first node, in both directions. The result is a star with multiple
        edges. "plain": only remove the nodes.
    """

    ratio: float = 0.2
    form: str = "self-loops"

    def __call__(self, graphs: GraphSet, generator: torch.Generator) -> GraphSet:
        """Return the changed batch; graph i of the result is a view of graph i."""
        one_of(self.form, FORMS, "form of the view")
        kept = NodeDrop(self.ratio)(graphs, generator)
        if self.form == "plain":
            return kept
        loops = torch.arange(kept.num_nodes, device=kept.device).expand(2, -1)
        if self.form == "self-loops":
            return _with_edges(kept, torch.cat([kept.edge_index, loops], 1), symmetric=True)
        once = kept.edge_index[:, kept.edge_index[0] < kept.edge_index[1]]
        ends = _star_ends(kept, torch.cat([loops, once], 1), graphs.edge_ptr.diff() // 2)
        centre = kept.node_ptr[kept.graph_of_node[ends]]
        both = torch.stack([torch.cat([ends, centre]), torch.cat([centre, ends])])
        return _with_edges(kept, both, symmetric=True)


def _star_ends(kept: GraphSet, entries: Tensor, wanted: Tensor) -> Tensor:
    """Return the first `wanted[g]` numbers of each graph's row-major list of edge entries.

    If the list is too short, the released code reads past its end; here it is repeated.
    """
    order = torch.argsort(entries[0] * kept.num_nodes + entries[1])
    numbers = entries[:, order].t().flatten()  # r0, c0, r1, c1, …
    length = 2 * torch.bincount(kept.graph_of_node[entries[0]], minlength=len(kept))
    graph = torch.repeat_interleave(wanted)
    position = ranges(torch.zeros_like(wanted), wanted) % length[graph]
    return numbers[pointer(length)[:-1][graph] + position]


def _with_edges(graphs: GraphSet, edges: Tensor, *, symmetric: bool) -> GraphSet:
    source, order = edges[0].sort(stable=True)
    counts = torch.bincount(graphs.graph_of_node[source], minlength=len(graphs))
    return replace(
        graphs,
        edge_index=torch.stack([source, edges[1][order]]),
        edge_ptr=pointer(counts),
        symmetric=symmetric,
    )


AT_ONCE = 2048
"""Number of graphs in a batch for predictions."""


class GraphClassifierEstimator(GraphEstimator):
    """Base of classifiers that keep the epoch with the lowest loss on held-out graphs.

    The network of a subclass returns (G, C) logits of a batch; its hyper-parameters include
    `validation`, `select_on` and `reshuffle`.

    Attributes
    ----------
    classes_ : (C,) array
    best_epoch_ : int or None
    """

    validation: float
    recipe: str
    select_on: str | None
    reshuffle: bool | None

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        test: Any = None,
        folder: str | Path | None = None,
        resume: bool = False,
    ) -> Any:
        """Train on graphs and their classes; return self.

        Parameters
        ----------
        X : graphs
            GraphSet, list of PyG Data or networkx graphs, PyG dataset.
        y : (n,) array, optional
            Classes; the labels of the graphs if None.
        test : GraphSet, optional
            Graphs with labels on whose loss the epoch is chosen, with ``select_on="test"``.
        folder, resume :
            Write metrics.jsonl and a checkpoint to this folder; continue from the checkpoint.
        """
        for _ in self.fit_epochs(X, y, test=test, folder=folder, resume=resume):
            pass
        return self

    def fit_epochs(
        self,
        X: Any,
        y: Any = None,
        *,
        test: Any = None,
        folder: str | Path | None = None,
        resume: bool = False,
    ) -> Iterator[Metrics]:
        """Train as `fit` does, but yield the metrics after every epoch."""
        graphs = as_graphset(X)
        labels = class_labels(graphs, y)
        self.classes_, coded = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError(f"{graphs.name} has only one class: a classifier needs two or more")
        self._test = self._check_test(test)
        coded_graphs = replace(graphs, y=torch.from_numpy(coded.astype(np.int64)))
        yield from super().fit_epochs(coded_graphs, folder=folder, resume=resume)

    def _check_test(self, test: Any) -> GraphSet | None:
        if not self.selects_on_test:
            if test is not None:
                raise InputError(
                    'test= is used only with select_on="test" (recipe "authors"): leave out '
                    'test=, or set select_on="test"'
                )
            return None
        if test is None:
            raise InputError(
                'select_on="test" (recipe "authors") chooses the epoch on test graphs: give them '
                "with fit(…, test=)"
            )
        graphs = as_graphset(test)
        found = class_labels(graphs, None)
        if not np.isin(found, self.classes_).all():
            raise InputError(f"{graphs.name} has a class that the training graphs do not have")
        return replace(graphs, y=torch.from_numpy(np.searchsorted(self.classes_, found)))

    @property
    def selects_on_test(self) -> bool:
        """Return whether `fit` needs test graphs to choose the epoch."""
        return bool(by_recipe(self, "select_on") == "test")

    @property
    def _competes(self) -> bool:
        """Return whether the current epoch is a candidate for the one that is kept."""
        return True

    def _start(self) -> None:
        super()._start()
        get_recipe(self.recipe)
        one_of(by_recipe(self, "select_on"), ("validation", "test"), "select_on")
        if not 0 <= self.validation < 1:
            raise InputError(f"validation is {self.validation!r}: give a share from 0 to below 1")
        self._selection: list[GraphSet] = []

    def _batches(self, data: GraphSet, generator: torch.Generator) -> list[GraphSet]:
        self._selection = []
        if self._test is not None:
            held = self._test.to(data.device)
            self._selection = [held.select(part) for part in torch.arange(len(held)).split(50)]
        elif self.validation:
            order = torch.randperm(len(data), generator=generator)
            count = max(1, int(len(data) * self.validation))
            self._selection = [data.select(order[:count])]
            data = data.select(order[count:])
        self._learning = data
        return self._full_batches(generator)

    def _full_batches(self, generator: torch.Generator) -> list[GraphSet]:
        batches = fixed_batches(self._learning, int(self.batch_size), generator)
        full = [batch for batch in batches if len(batch) >= self.batch_size]
        return full or batches

    def _before_epoch(
        self, epoch: int, batches: list[GraphSet], generator: torch.Generator
    ) -> Metrics:
        self._draws = generator
        if epoch and by_recipe(self, "reshuffle"):
            batches[:] = self._full_batches(generator)
        return {}

    def _after_epoch(self) -> Metrics:
        if not (self._selection and self._competes):
            return {}
        with torch.no_grad():
            losses = [float(self._loss(batch, self._draws)) for batch in self._selection]
        loss = float(np.average(losses, weights=[len(batch) for batch in self._selection]))
        return {"selection_loss": loss}

    @property
    def _selects_by(self) -> str | None:
        return "selection_loss" if self._selection else None

    def _learned(self) -> dict[str, Tensor]:
        classes = json.dumps(self.classes_.tolist()).encode()  # numbers or words
        return {"classes": torch.tensor(list(classes), dtype=torch.uint8)}

    def _load_learned(self, tensors: dict[str, Tensor]) -> None:
        self.classes_ = np.array(json.loads(bytes(tensors["classes"].tolist())))

    def logits(self, graphs: Any) -> Tensor:
        """Return (n, C) logits of the classes, without gradient."""
        check_fitted(self, "history_")
        data = self._read_as_fitted(graphs)
        device = next(self.network_.parameters()).device
        with torch.no_grad():
            if len(data) <= AT_ONCE:
                logits: Tensor = self.network_(data.to(device))
                return logits
            parts = torch.arange(len(data)).split(AT_ONCE)
            return torch.cat([self.network_(data.select(p).to(device)) for p in parts])

    def predict_proba(self, graphs: Any) -> NDArray[np.float32]:
        """Return (n, C) probabilities of the classes."""
        found: NDArray[np.float32] = self.logits(graphs).softmax(1).cpu().numpy()
        return found

    def predict(self, graphs: Any) -> NDArray[Any]:
        """Return (n,) the most probable classes."""
        best = self.logits(graphs).argmax(1).cpu().numpy()
        found: NDArray[Any] = self.classes_[best]
        return found

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy: the share of graphs that are classified correctly; y as in `fit`."""
        right = self.predict(X) == class_labels(as_graphset(X), y)
        return float(np.average(right, weights=sample_weight))

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        tags.target_tags.required = True
        return tags


PUBLISHED_EPOCHS, PUBLISHED_PRETRAINING = 1000, 101


class Structure2VecClassifier(GraphClassifierEstimator):
    """Classify graphs with structure2vec: the victim of the paper's attacks.

    Parameters
    ----------
    depth : int
        Rounds of propagation; the paper's table has 2, 3 and 4.
    pretrain : bool
        Begin the training with contrastive epochs, which do not use the labels.
    hardness : Hardness or {"none", "augcl", "dcl", "hcl", "progcl"}, optional
        Weights of the negatives in the pre-training; "none" is GraphCL. Any other value needs
        ``pretrain=True``.
    recipe : {"default", "authors", "paper"}
        Decides the settings of a hardness given by name, and every option below that names the
        recipe.
    epochs : int
        Total number of epochs, including the pre-training; published: up to 1000.
    pretrain_epochs : int, optional
        Contrastive epochs; if None, the published share (101 of 1000), but at least one.
    validation : float
        Share of the training graphs held out to choose the epoch; 0 keeps the last epoch.
    select_on : {"validation", "test"}, optional
        Keep the epoch with the lowest loss on graphs held out of the training set, or on `test`
        (see `fit`). The recipe decides this and the next four options if they are None; the
        recipe "authors" (the released code) takes the second value of each.
    select_from_start : bool, optional
        Also consider the epochs of the pre-training when choosing the epoch (False, True).
    reshuffle : bool, optional
        Draw new batches before every epoch (False, True).
    positive_in_denominator : bool, optional
        See `info_nce` (True, False); always True with a hardness that weights pairs.
    view : {"self-loops", "star", "plain"}, optional
        How 20 % of the nodes are dropped, see `VictimDrop`.
    tau : float
        Temperature of the pre-training.
    width, hidden : int
        Widths of the embedding, and of the layer between it and the classes.
    batch_size, lr : int, float
        Graphs per batch (an incomplete last batch is left out, as published); learning rate.
    patience : int, optional
        End the training after this many epochs without a lower loss on the graphs held out (on
        the training graphs, after the pre-training, if `validation` is 0).
    random_state : int or None
    device : str
    progress : bool
    callbacks : list of Callback
        Watch or end the training; see `augcl.callbacks`.
    warm_start : bool
        Let a further `fit` on the same graphs continue the last one, up to `epochs` in total. Give
        `pretrain_epochs` a number: its default depends on `epochs`.

    Attributes
    ----------
    classes_ : (C,) array
    network_ : GraphClassifier
    best_epoch_ : int or None
        The epoch whose weights were kept, counted from 1.
    history_ : list of dict
        One entry per epoch: loss, phase, `selection_loss` and seconds.

    References
    ----------
    H. Dai, B. Dai and L. Song. "Discriminative Embeddings of Latent Variable Models for
    Structured Data". ICML 2016. arXiv:1603.05629,
    doi:10.48550/arXiv.1603.05629.

    Examples
    --------
    >>> import augcl
    >>> graphs = augcl.load("MUTAG")
    >>> model = augcl.Structure2VecClassifier(epochs=3, random_state=0).fit(graphs)
    >>> model.predict(graphs).shape, model.predict_proba(graphs).shape
    ((188,), (188, 2))
    """

    year = 2016

    def __init__(
        self,
        *,
        depth: int = 2,
        pretrain: bool = False,
        hardness: Hardness | str | None = None,
        recipe: str = "default",
        epochs: int = 100,
        pretrain_epochs: int | None = None,
        validation: float = 0.1,
        select_on: str | None = None,
        select_from_start: bool | None = None,
        reshuffle: bool | None = None,
        positive_in_denominator: bool | None = None,
        view: str | None = None,
        tau: float = 0.5,
        width: int = 64,
        hidden: int = 32,
        batch_size: int = 50,
        lr: float = 0.001,
        patience: int | None = None,
        random_state: int | None = 0,
        device: str = "cpu",
        progress: bool = True,
        callbacks: Callbacks = (),
        warm_start: bool = False,
    ) -> None:
        self.depth = depth
        self.pretrain = pretrain
        self.hardness = hardness
        self.recipe = recipe
        self.epochs = epochs
        self.pretrain_epochs = pretrain_epochs
        self.validation = validation
        self.select_on = select_on
        self.select_from_start = select_from_start
        self.reshuffle = reshuffle
        self.positive_in_denominator = positive_in_denominator
        self.view = view
        self.tau = tau
        self.width = width
        self.hidden = hidden
        self.batch_size = batch_size
        self.lr = lr
        self.patience = patience
        self.random_state = random_state
        self.device = device
        self.progress = progress
        self.callbacks = callbacks
        self.warm_start = warm_start

    @property
    def _contrasted(self) -> int:
        """Return the number of epochs of pre-training."""
        if not self.pretrain:
            return 0
        if self.pretrain_epochs is not None:
            return self.pretrain_epochs
        share = round(self.epochs * PUBLISHED_PRETRAINING / PUBLISHED_EPOCHS)
        return min(max(1, share), max(0, self.epochs - 1))  # a short training has both phases too

    def _start(self) -> None:
        super()._start()
        for name in ("depth", "width", "hidden"):
            whole_number(name, getattr(self, name), least=1)
        whole_number("pretrain_epochs", self._contrasted, least=0)
        if self._contrasted > self.epochs:
            raise InputError(
                f"pretrain_epochs is {self._contrasted}, more than epochs={self.epochs}: lower it"
            )
        recipe = get_recipe(self.recipe)
        self.hardness_ = chosen_hardness(self.hardness, recipe)
        if not (self.pretrain or isinstance(self.hardness_, Uniform)):
            raise InputError(
                f"hardness {type(self.hardness_).__name__} is used only in pre-training: give "
                "pretrain=True, or leave out the hardness"
            )
        if self.hardness_.affinity_of != "projection":
            raise InputError(
                f"hardness {type(self.hardness_).__name__} compares {self.hardness_.affinity_of!r} "
                "vectors, but pre-training has only the projections: set 'projection'"
            )
        self._view = VictimDrop(form=by_recipe(self, "view"))
        contrasted = self._contrasted
        self._schedule = HardnessSchedule(self.hardness_, epochs=contrasted, usual=contrasted // 2)
        weighted = not isinstance(self.hardness_, Uniform)
        self._contrast = ScheduledLoss(
            self._schedule,
            tau=self.tau,
            positive_in_denominator=weighted or by_recipe(self, "positive_in_denominator"),
        )
        self._contrasting = False

    def _build(self, features: int, generator: torch.Generator) -> GraphClassifier:
        encoder = Structure2Vec(features, width=self.width, depth=self.depth, generator=generator)
        return GraphClassifier(
            encoder, hidden=self.hidden, classes=len(self.classes_), generator=generator
        )

    def _pair(
        self, batch: GraphSet, generator: torch.Generator, anchors: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        view = self._view(batch, generator)
        anchors = self.network_.project(batch) if anchors is None else anchors
        return anchors, self.network_.project(view)

    def _before_epoch(
        self, epoch: int, batches: list[GraphSet], generator: torch.Generator
    ) -> Metrics:
        super()._before_epoch(epoch, batches, generator)
        self._contrasting = epoch < self._contrasted
        if not self._contrasting:
            return {"phase": "supervised"}
        pairs = EmbeddedBatches(self._pair, batches, generator, anchors_stay=True)
        return {"phase": "contrastive", **self._schedule.before_epoch(epoch, pairs, generator)}

    def _loss(self, batch: GraphSet, generator: torch.Generator) -> Tensor:
        if self._contrasting:
            return self._contrast(*self._pair(batch, generator), batch.labels, generator)
        assert batch.y is not None
        return cross_entropy(self.network_(batch), batch.y)

    def _after_epoch(self) -> Metrics:
        return {**self._contrast.statistics.read(), **super()._after_epoch()}

    @property
    def _competes(self) -> bool:
        return bool(by_recipe(self, "select_from_start")) or not self._contrasting

    @property
    def _comparable_from(self) -> int:
        return 0 if self._selection else self._contrasted

    def _learned(self) -> dict[str, Tensor]:
        return {**super()._learned(), **prefixed("hardness", self.hardness_.state())}

    def _load_learned(self, tensors: dict[str, Tensor]) -> None:
        super()._load_learned(tensors)
        self.hardness_.load_state(Snapshot(tensors, {}).part("hardness"))

    def edge_factors(self, graphs: GraphSet, targets: Tensor) -> list[EdgeFactors]:
        """Return factors of the gradients of −log P(class targets[r, g]) by all pairs of nodes."""
        data = self.read(graphs)
        where = next(self.network_.parameters()).device
        factors: list[EdgeFactors] = self.network_.edge_factors(data.to(where), targets.to(where))
        return [factor.to(data.device) for factor in factors]
