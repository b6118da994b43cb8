"""What every neural method shares: the training loop behind scikit-learn's contract.

`Estimator` trains a network, `GraphEstimator` on batches of graphs, `NodeEstimator` on all nodes of
one graph. A method is one of them with a network and a loss.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from augcl.checks import number, parameters, whole_number
from augcl.data.graph import GraphSet
from augcl.data.node_graph import NodeGraph
from augcl.data.sparse import row_scales
from augcl.encoders.blocks import blocks_of, embed_in_blocks
from augcl.errors import InputError, ours, warn_user
from augcl.ops import processes
from augcl.ops.adam import Adam
from augcl.ops.rebuild import rebuilt
from augcl.ops.threads import threads_for
from augcl.training.batches import NodeBatch, batch_statistics, fixed_batches
from augcl.training.callbacks import (
    CHECKPOINT,
    Callbacks,
    Checkpoints,
    EpochTimer,
    Hooks,
    KeepBest,
    Metrics,
    MetricsFile,
    ProgressBar,
    check_callbacks,
)
from augcl.training.checkpoint import Snapshot, load_module, prefixed, same_settings
from augcl.training.collapse import Outputs, collapse
from augcl.training.loop import Run, make_fabric, train
from augcl.training.method import GraphReader, Method, NodeReader, fingerprint
from augcl.training.parts import NodeParts, nodes_per_step
from augcl.training.processes import check_precision, check_shared, same_start
from augcl.training.progress import one_more, progress_bar
from augcl.training.threads import give_back_memory
from augcl.views.nodes import NodeViews, TwoViews

SIZES = {"width": 1_000_000, "layers": 1000}
"""The largest network: a larger one is a slip, or a file that is not ours."""
LEAST_BATCH = 16
"""Nodes of the smallest mini-batch: with fewer there is next to no negative."""
MAY_CHANGE = ("epochs", "lr", "patience")
"""Settings that may differ between two fits of which the second goes on with the first."""


class Estimator(Method):
    """A network that is trained.

    A method says which network and which loss, and what happens between epochs. Beside its own it
    has the hyper-parameters named here.

    Parameters
    ----------
    epochs : int
    lr : float
        Learning rate.
    patience : int, optional
        End the training after this many epochs without a lower loss, and keep the weights with the
        lowest loss. With a hardness, epochs count from its first one on: the loss before it is
        another. None: train all epochs, keep the last weights.
    callbacks : list of Callback
        Called before and after every epoch and after every batch; see `augcl.callbacks`.
    warm_start : bool
        A further call of `fit` continues the last one up to `epochs` in total, on the same data:
        ``fit`` with 4 epochs, ``set_params(epochs=8).fit`` ends in the same bits as 8 epochs at
        once. Only `epochs`, `lr` and `patience` may change meanwhile. What depends on the total
        number of epochs is decided again with the new number: the epoch in which a hardness sets
        in, if `warmup` is None (for the same bits give `warmup` a number).
    device : str

    Attributes
    ----------
    precision : {"32-true", "64-true", "bf16-mixed"}
        Numbers of the training; set it before `fit`. It is no hyper-parameter, so that copies
        (`clone`, a grid search) and saved models have "32-true" again: "64-true" is for
        results that agree in every world of processes, at twice the time and memory, and
        "bf16-mixed" (Fabric's, on CUDA only) was never tried.
    history_ : list of dict
        One entry per epoch; it grows while the training goes on.
    best_epoch_ : int or None
        The epoch with the lowest loss, counted from 1, if epochs were compared.
    """

    epochs: int
    lr: float
    device: str
    patience: int | None = None
    callbacks: Callbacks = ()
    warm_start: bool = False
    checkpoint_seconds: float = 2.0
    precision: str = "32-true"

    @abstractmethod
    def _batches(self, data: Any, generator: torch.Generator) -> Any:
        """What one epoch goes through."""

    def _placed(self, data: Any, device: torch.device) -> Any:
        """The data where they are during the training."""
        return data.to(device)

    @abstractmethod
    def _build(self, features: int, generator: torch.Generator) -> nn.Module:
        """The network for data with that number of node features."""

    @abstractmethod
    def _loss(self, batch: Any, generator: torch.Generator) -> Tensor:
        """The loss of one batch, from the network in ``self.network_``."""

    @abstractmethod
    def _embed(self, data: Any, device: torch.device) -> Tensor:
        """Embeddings by the trained network."""

    def _optimizer(self, network: nn.Module) -> torch.optim.Optimizer:
        return Adam(network.parameters(), lr=self._setting("lr"), fused=True)

    def _lr(self, epoch: int) -> float:
        """The learning rate of an epoch, counted from 0."""
        return float(self._setting("lr"))

    def _threads(self, data: Any, batches: Any) -> AbstractContextManager[None]:
        return threads_for(data.num_nodes / len(batches))

    def _before_epoch(self, epoch: int, batches: Any, generator: torch.Generator) -> Metrics:
        return {}

    _note: Callable[[str], None] | None = None
    """How the progress bar says what is going on; it sets this while it is there."""

    def _show(self, doing: str) -> None:
        """Say beside the progress bar what takes time between two epochs."""
        if self._note is not None:
            self._note(doing)

    def _after_epoch(self) -> Metrics:
        return {}

    @property
    def _comparable_from(self) -> int:
        """The first epoch, from 0, whose loss can be compared with that of the last one."""
        return 0

    @property
    def _selects_by(self) -> str | None:
        """The metric that chooses the best epoch even without patience, if there is one."""
        return None

    def _start(self) -> None:
        whole_number("epochs", self._setting("epochs"), least=0)
        number("lr", self._setting("lr"), above=0)
        if self.patience is not None:
            whole_number("patience", self.patience, least=1)
        check_callbacks(self.callbacks)

    def check(self) -> None:
        """Raise `InputError` for settings with which `fit` would not start; see `Method.check`."""
        super().check()
        check_precision(type(self), self.precision)
        make_fabric(self.device, precision=self.precision)

    def warmup_epochs(self) -> int:
        """The number of epochs before the hardness sets in; 0 without a hardness."""
        return self._started()._comparable_from

    def fit(
        self, X: Any, y: Any = None, *, folder: str | Path | None = None, resume: bool = False
    ) -> Any:
        """Learn without labels.

        Parameters
        ----------
        X : graphs, or one graph for a method that embeds nodes
            GraphSet, list of PyG Data or networkx graphs, PyG dataset; or one Data or networkx
            graph.
        y : ignored
        folder : path, optional
            Keep metrics.jsonl and the latest checkpoint there.
        resume : bool
            Go on from the checkpoint in `folder`, if there is one. A run that a callback ended
            goes on, too.
        """
        for _ in self.fit_epochs(X, y, folder=folder, resume=resume):
            pass
        return self

    def fit_epochs(
        self, X: Any, y: Any = None, *, folder: str | Path | None = None, resume: bool = False
    ) -> Iterator[Metrics]:
        """Learn as `fit` does, but pause after every epoch; yields its metrics.

        The model is fitted when the iterator has ended.

        Examples
        --------
        >>> import augcl
        >>> model = augcl.GraphCL(epochs=2, random_state=0)
        >>> [metrics["epoch"] for metrics in model.fit_epochs(augcl.load("MUTAG"))]
        [1, 2]
        """
        self._start()
        check_shared(type(self))
        if resume and self.random_state is None:
            raise InputError("random_state is None: only a run with a seed can be resumed")
        check_precision(type(self), self.precision)
        fabric = make_fabric(self.device, precision=self.precision)
        self.collapse_ = self.best_epoch_ = None  # of an earlier fit
        self._forget_features()
        data = self._placed(self.read(X), fabric.device)
        self._keep_features(data)

        generator = self._generator()
        network = self._build(data.num_features, generator).to(fabric.device)
        network = network.double() if self.precision == "64-true" else network
        self.network_, optimizer = fabric.setup_module(network), self._optimizer(network)
        batches = self._batches(data, generator)
        run = Run(network, optimizer, generator, self._learned, self._load_learned)

        place = None if folder is None or processes.rank() else Path(folder)
        settings = {}
        if place is not None or self.warm_start or processes.several():
            wide = self.precision == "64-true"
            known = fingerprint(
                _converted(data, torch.float32) if wide else data, edge_features=True
            )
            settings = {**self.settings(), "data": known}
            if self.precision != "32-true":
                settings["precision"] = self.precision
        if processes.several():
            same_start(settings)
        self._restore_run(run, settings, place if resume else None)
        self.history_ = run.history

        def before_epoch(epoch: int) -> Metrics:
            for group in optimizer.param_groups:
                group["lr"] = self._lr(epoch)
            return self._before_epoch(epoch, batches, generator)

        epochs = train(
            run,
            lambda batch: self._loss(batch, generator),
            batches,
            fabric=fabric,
            epochs=self._setting("epochs"),
            hooks=Hooks(self._all_callbacks(run, data.name, settings, place), self),
            before_epoch=before_epoch,
            after_epoch=self._after_epoch,
        )
        try:
            while True:
                with self._threads(data, batches):  # not while the caller does other work
                    metrics = next(epochs, None)
                if metrics is None:
                    break
                yield metrics
        finally:  # also a training that was stopped leaves a network that can be used
            epochs.close()
            self.network_ = network
        self._last_run = run.snapshot(settings).copy() if self.warm_start else None
        run.best.put_back(network)
        self.best_epoch_ = run.best.epoch or None
        with self._threads(data, batches):
            self.collapse_ = self._find_collapse(data, batches[0])
        self._warn_of_collapse(f" on {data.name}")

    _last_run: Snapshot | None = None
    """Where `warm_start` goes on."""

    def _restore_run(self, run: Run, settings: dict[str, Any], folder: Path | None) -> None:
        """Go on from the checkpoint in the folder or, with `warm_start`, from the last fit."""
        snapshot = None
        if folder is not None and (folder / CHECKPOINT).exists():
            snapshot = Snapshot.read(folder / CHECKPOINT)
            with ours(folder / CHECKPOINT, "delete it"):
                same_settings(snapshot.facts["settings"], settings, folder)
        snapshot = processes.of_first(snapshot)
        if snapshot is not None:
            with ours(CHECKPOINT if folder is None else folder / CHECKPOINT, "delete it"):
                run.restore(snapshot)
        elif self.warm_start and self._last_run is not None:
            last, done = self._last_run, len(self._last_run.facts["history"])
            before, now = (
                {name: value for name, value in every.items() if name not in MAY_CHANGE}
                for every in (last.facts["settings"], settings)
            )
            same_settings(before, now, "the last fit", "use the old value or warm_start=False")
            if self._setting("epochs") < done:
                raise InputError(
                    f"epochs is {self._setting('epochs')}, but the last fit did {done} of them: "
                    "with warm_start give more, or set warm_start=False"
                )
            run.restore(last.copy())

    def _all_callbacks(
        self, run: Run, name: str, settings: dict[str, Any], folder: Path | None
    ) -> list[Any]:
        """Those of the user among ours; what the files hold comes last, when all is known."""
        epochs, chosen_by = self._setting("epochs"), self._selects_by
        ours: list[Any] = [EpochTimer()]
        if self.patience is not None or chosen_by is not None:
            watch, first = chosen_by or "loss", self._comparable_from
            ours.append(KeepBest(run, patience=self.patience, watch=watch, first=first))
        title = f"{type(self).__name__} on {name}"
        files: list[Any] = []
        if folder is not None:
            seconds = self.checkpoint_seconds
            checkpoints = Checkpoints(run, folder, settings, epochs=epochs, seconds=seconds)
            files = [MetricsFile(folder), checkpoints]
        bar = ProgressBar(title, epochs, show=self.progress and not processes.rank())
        return [*ours, *self.callbacks, bar, *files]

    def _first_loss(self, batch: Any, generator: torch.Generator) -> Tensor:
        """The loss as it is in the first epoch, before a hardness sets in."""
        return self._loss(batch, generator)

    def _projections(self, batch: Any, generator: torch.Generator) -> Tensor | None:
        """(n, d) what the loss compares by angle, if that is not the embeddings."""
        return None

    def _find_collapse(self, data: Any, batch: Any) -> str | None:
        """Why nothing was learned, see `collapse`; None if something was."""
        if not self.history_:
            return None
        generator = self._generator()
        untrained = self._build(self.n_features_in_, generator)
        untrained.to(next(self.network_.parameters()))  # device and kind of numbers
        draws = generator.get_state()
        return collapse(
            self._outputs(self.network_, data, batch, draws),
            self._outputs(untrained, data, batch, draws),
            losses=[metrics["loss"] for metrics in self.history_],
            kept_first=self._selects_by is None and self.best_epoch_ == 1 < len(self.history_),
        )

    def _outputs(self, network: nn.Module, data: Any, batch: Any, draws: Tensor) -> Outputs:
        """What the method would give with that network, and random draws from that state."""

        def embeddings() -> Tensor:
            with self._with_network(network, draws):
                return self._embedded(data)

        def projections() -> Tensor | None:
            with self._with_network(network, draws) as generator, batch_statistics(network):
                return self._projections(batch, generator)

        def loss() -> float:
            with self._with_network(network, draws) as generator, batch_statistics(network):
                return float(self._first_loss(batch, generator))

        return Outputs(embeddings, projections, loss)

    @contextmanager
    def _with_network(self, network: nn.Module, draws: Tensor) -> Iterator[torch.Generator]:
        """Work with another network for a while; neither it nor the method changes."""
        generator = torch.Generator()
        generator.set_state(draws)
        own, was_training = self.network_, network.training
        self.network_ = network
        try:
            with torch.no_grad(), torch.random.fork_rng(devices=[]):  # dropout of an own encoder
                yield generator
        finally:
            self.network_ = own
            network.train(was_training)

    def _warn_of_collapse(self, what: str) -> None:
        if self.collapse_ is None:
            return
        cure = f"lower the learning rate (lr), which was {self._setting('lr'):g}"
        if getattr(self, "normalize_features", True) is False:
            cure += ", or divide large features by their sum (normalize_features=True)"
        warn_user(f"{type(self).__name__}{what}: nothing was learned: {self.collapse_}; {cure}")

    def _embedded(self, data: Any) -> Tensor:
        self.network_.eval()
        return self._embed(data, next(self.network_.parameters()).device)

    def _tensors(self) -> dict[str, Tensor]:
        return {**prefixed("network", self.network_.state_dict()), **super()._tensors()}

    def restore(self, snapshot: Snapshot) -> None:
        """Become the model of a snapshot that `save` wrote; see `augcl.load_model`."""
        super().restore(snapshot)
        weights = snapshot.part("network")
        if getattr(self, "encoder", None) is None:
            self.network_ = rebuilt(
                lambda: self._build(self.n_features_in_, torch.Generator()), weights
            )
        else:  # the user's own has its size
            self.network_ = self._build(self.n_features_in_, torch.Generator())
            load_module(self.network_, weights)
        self.network_.to(make_fabric(self.device, alone=True).device)
        self._warn_of_collapse("")


class GraphEstimator(GraphReader, Estimator):
    """Embeds whole graphs, in batches of `batch_size`."""

    batch_size: int

    def read(self, X: Any) -> GraphSet:
        """The graphs, whatever form they come in, with numbers of the precision."""
        return _in_precision(super().read(X), self.precision)

    def _finds_edges(self, graphs: GraphSet) -> bool:
        # An encoder of the user gets a third argument only if the user says so.
        return getattr(self, "encoder", None) is None and super()._finds_edges(graphs)

    def _start(self) -> None:
        super()._start()
        self._check_edge_switch()
        whole_number("batch_size", self._setting("batch_size"), least=2)
        if getattr(self, "encoder", None) is None:  # one of the user has sizes of its own
            for name in {"width", "layers"} & parameters(type(self)).keys():
                whole_number(name, self._setting(name), least=1, most=SIZES[name])

    def _batches(self, data: GraphSet, generator: torch.Generator) -> list[GraphSet]:
        return fixed_batches(data, int(self._setting("batch_size")), generator)

    def _embed(self, data: GraphSet, device: torch.device) -> Tensor:
        parts = torch.arange(len(data)).split(256)
        return torch.cat([self.network_.embed(data.select(p).to(device)).cpu() for p in parts])


class NodeEstimator(NodeReader, Estimator):
    """Embeds the nodes of a graph: all of them in every step, or mini-batches of a large graph."""

    weight_decay: float = 0.0
    batch_nodes: int | None = None
    """A hyper-parameter of methods that can take mini-batches; see `NodeParts`."""

    def read(self, X: Any) -> NodeGraph:
        """The graph, whatever form it comes in, with numbers of the precision."""
        return _in_precision(super().read(X), self.precision)

    def _start(self) -> None:
        super()._start()
        number("weight_decay", self._setting("weight_decay"), least=0)
        if self.batch_nodes is not None:
            whole_number("batch_nodes", self.batch_nodes, least=LEAST_BATCH)

    def _nodes_per_step(self, graph: NodeGraph) -> int | None:
        """How many nodes a step takes; None for all."""
        if "batch_nodes" not in parameters(type(self)):
            return None
        return nodes_per_step(graph.num_nodes, self.batch_nodes)

    def _scaled(self, graph: NodeGraph) -> NodeGraph:
        # Of a large graph, the features of a batch or of a block are, when they are needed.
        return graph if self._nodes_per_step(graph) is not None else super()._scaled(graph)

    def _placed(self, data: NodeGraph, device: torch.device) -> NodeGraph:
        self._device = device
        return data if self._nodes_per_step(data) is not None else data.to(device)

    def _batches(self, data: NodeGraph, generator: torch.Generator) -> Sequence[NodeBatch]:
        size = self._nodes_per_step(data)
        if size is None:
            return [NodeBatch(data)]
        return NodeParts(data, size, generator, prepare=self._prepared, show=self._show)

    def _prepared(self, graph: NodeGraph) -> NodeGraph:
        return super()._scaled(graph).to(self._device)

    def _view_settings(self) -> dict[str, Any]:
        """How `TwoViews` draws the two views of a batch."""
        settings = {name: self._setting(name) for name in ("edge_drop", "feature_drop")}
        return {**settings, "slowed": self._setting("half_hop")}

    def _two_views(self, batch: NodeBatch) -> TwoViews:
        if batch.pair is None:
            batch.pair = TwoViews(batch.views, **self._view_settings())
        return batch.pair

    def _embed(self, data: NodeGraph, device: torch.device) -> Tensor:
        large = self._nodes_per_step(data) is not None
        layers = self.network_.layer_list() if large else []
        if layers:
            scales = row_scales(data.x) if self._normalizes() else None
            blocks = len(layers) * len(list(blocks_of(data.num_nodes)))
            title = f"{type(self).__name__} on {data.name}: embed"
            with progress_bar(title, blocks, show=self.progress, stay=False) as report:
                done = one_more(report)
                found = embed_in_blocks(layers, data, scales=scales, device=device, done=done)
            give_back_memory()
            return found
        whole = super()._scaled(data) if large else data  # large: for an encoder of the user
        embeddings: Tensor = self.network_.embed(NodeViews(whole.to(device)).clean)
        return embeddings

    def _find_collapse(self, data: NodeGraph, batch: NodeBatch) -> str | None:
        return super()._find_collapse(batch.graph, batch)  # a batch of a large graph is enough

    def _threads(self, data: NodeGraph, batches: Any) -> AbstractContextManager[None]:
        nodes = data.num_nodes / len(batches)
        return threads_for(nodes**2 / 1000)  # the loss is over all pairs of nodes

    def _optimizer(self, network: nn.Module) -> torch.optim.Optimizer:
        return Adam(
            network.parameters(),
            lr=self._setting("lr"),
            weight_decay=self._setting("weight_decay"),
            fused=True,
        )


G = TypeVar("G", GraphSet, NodeGraph)


def _in_precision(data: G, precision: str) -> G:
    """Return the data with features in 64 bits, if the precision asks for them."""
    return _converted(data, torch.float64) if precision == "64-true" else data


def _converted(data: G, numbers: torch.dtype) -> G:
    edge_attr = None if data.edge_attr is None else data.edge_attr.to(numbers)
    return replace(data, x=data.x.to(numbers), edge_attr=edge_attr)
