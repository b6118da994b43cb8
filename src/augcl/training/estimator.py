"""What every neural method shares: the training loop behind scikit-learn's contract."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from augcl.checks import number, whole_number
from augcl.data.graph import GraphSet
from augcl.data.node_graph import NodeGraph
from augcl.errors import InputError
from augcl.ops.adam import Adam
from augcl.training.checkpoint import Snapshot, load_module, prefixed
from augcl.training.collapse import collapse
from augcl.training.loop import Metrics, Run, make_fabric, train
from augcl.training.method import GraphReader, Method, NodeReader, fingerprint
from augcl.training.threads import threads_for
from augcl.views.nodes import NodeViews


@contextmanager
def batch_statistics(network: nn.Module) -> Iterator[None]:
    """As in training, each batch with its own statistics; the running averages stay as they are."""
    norms = [m for m in network.modules() if isinstance(m, _BatchNorm)]
    momenta = [norm.momentum for norm in norms]
    network.train()
    for norm in norms:
        norm.momentum = 0.0
    try:
        yield
    finally:
        for norm, momentum in zip(norms, momenta, strict=True):
            norm.momentum = momentum


@contextmanager
def running_statistics(network: nn.Module) -> Iterator[None]:
    """As in evaluation: the running averages for every batch."""
    network.eval()
    try:
        yield
    finally:
        network.train()


def fixed_batches(graphs: GraphSet, size: int, generator: torch.Generator) -> list[GraphSet]:
    """Shuffle once and cut; a single graph left over joins the batch before it.

    The members of a batch never change (as in the published code), so what depends on the batch
    alone, such as its adjacency, is computed once. One graph has no negatives and would teach
    nothing.
    """
    if not len(graphs):
        raise InputError(f"{graphs.name} holds no graphs: give at least one")
    order = torch.randperm(len(graphs), generator=generator, device=generator.device)
    parts = list(torch.split(order, size))
    if len(parts) > 1 and len(parts[-1]) == 1:
        parts[-2:] = [torch.cat(parts[-2:])]
    return [graphs.select(part) for part in parts]


class Estimator(Method):
    """A network that is trained; a method says which one, which loss, and what happens between.

    Among its hyper-parameters are `epochs`, `lr` and `device` besides.
    """

    epochs: int
    lr: float
    device: str
    checkpoint_seconds: float = 0.0
    patience: int | None = None
    """Epochs without a lower loss after which training ends; the best weights are kept."""

    @abstractmethod
    def _batches(self, data: Any, generator: torch.Generator) -> list[Any]:
        """What one epoch goes through."""

    @abstractmethod
    def _build(self, features: int, generator: torch.Generator) -> nn.Module:
        """The network for so many node features."""

    @abstractmethod
    def _loss(self, batch: Any, generator: torch.Generator) -> Tensor:
        """The loss of one batch, from the network in ``self.network_``."""

    @abstractmethod
    def _embed(self, data: Any, device: torch.device) -> Tensor:
        """Embeddings by the trained network."""

    def _optimizer(self, network: nn.Module) -> torch.optim.Optimizer:
        return Adam(network.parameters(), lr=self._setting("lr"), fused=True)

    def _threads(self, data: Any, batches: list[Any]) -> AbstractContextManager[None]:
        return threads_for(data.num_nodes / len(batches))

    def _before_epoch(self, epoch: int, batches: list[Any], generator: torch.Generator) -> Metrics:
        return {}

    def _after_epoch(self) -> Metrics:
        return {}

    def _start(self) -> None:
        whole_number("epochs", self._setting("epochs"), least=0)
        number("lr", self._setting("lr"), above=0)
        if self.patience is not None:
            whole_number("patience", self.patience, least=1)

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
            Keep metrics.jsonl and a checkpoint of every epoch there.
        resume : bool
            Go on from the checkpoint in `folder`, if there is one.
        """
        self._start()
        self.collapse_ = None
        if resume and self.random_state is None:
            raise InputError("random_state is None: only a run with a seed can be resumed")
        fabric = make_fabric(self.device)
        self.columns_ = None  # those of an earlier fit do not count
        data = self._read(X).to(fabric.device)
        generator = self._generator()
        self.n_features_in_, self.columns_ = data.num_features, getattr(data, "columns", None)
        network = self._build(data.num_features, generator).to(fabric.device)
        self.network_, optimizer = fabric.setup_module(network), self._optimizer(network)
        batches = self._batches(data, generator)
        run = Run(network, optimizer, generator, self._learned, self._load_learned)
        settings = None if folder is None else {**self.settings(), "data": fingerprint(data)}
        try:
            with self._threads(data, batches):
                train(
                    run,
                    lambda batch: self._loss(batch, generator),
                    batches,
                    fabric=fabric,
                    epochs=self._setting("epochs"),
                    settings=settings or {},
                    patience=self.patience,
                    before_epoch=lambda epoch: self._before_epoch(epoch, batches, generator),
                    after_epoch=self._after_epoch,
                    folder=None if folder is None else Path(folder),
                    resume=resume,
                    title=f"{type(self).__name__} on {data.name}",
                    checkpoint_seconds=self.checkpoint_seconds,
                    progress=self.progress,
                )
        finally:  # also a training that was stopped leaves a network that can be used
            self.network_, self.history_ = network, run.history
        with self._threads(data, batches):
            self.collapse_ = self._find_collapse(data, batches[0], run)
        self._warn_of_collapse(f" on {data.name}", stacklevel=2)
        return self

    def _first_loss(self, batch: Any, generator: torch.Generator) -> Tensor:
        """The loss as it is in the first epoch, before any weights set in."""
        return self._loss(batch, generator)

    def _projections(self, batch: Any, generator: torch.Generator) -> Tensor | None:
        """(n, d) what the loss compares by angle, if that is not the embeddings."""
        return None

    def _find_collapse(self, data: Any, batch: Any, run: Run) -> str | None:
        """Why one must say that nothing was learned, see `collapse`."""
        if not run.history:
            return None
        generator = self._generator()
        untrained = self._build(self.n_features_in_, generator)
        untrained.to(next(self.network_.parameters()).device)
        draws = generator.get_state()

        def look(network: nn.Module) -> Look:
            return Look(self, network, data, batch, draws)

        return collapse(
            look(self.network_),
            look(untrained),
            epochs=len(run.history),
            kept_first=run.kept_first,
        )

    def _warn_of_collapse(self, what: str, stacklevel: int) -> None:
        if self.collapse_ is None:
            return
        cure = f"lower the learning rate (lr), which was {self._setting('lr'):g}"
        if getattr(self, "normalize_features", True) is False:
            cure += ", or divide large features by their sum (normalize_features=True)"
        message = f"{type(self).__name__}{what}: nothing was learned: {self.collapse_}; {cure}"
        warnings.warn(message, stacklevel=stacklevel + 1)

    def _embedded(self, data: Any) -> Tensor:
        self.network_.eval()
        return self._embed(data, next(self.network_.parameters()).device)

    def _tensors(self) -> dict[str, Tensor]:
        return {**prefixed("network", self.network_.state_dict()), **super()._tensors()}

    def restore(self, snapshot: Snapshot) -> None:
        """Become the model of a snapshot that `save` wrote; see `augcl.load_model`."""
        super().restore(snapshot)
        self.network_ = self._build(self.n_features_in_, torch.Generator())
        load_module(self.network_, snapshot.part("network"))
        self.network_.to(make_fabric(self.device).device)
        self._warn_of_collapse("", stacklevel=3)


class Look:
    """What a method would give with some network; neither is changed.

    Parameters
    ----------
    method : Estimator
    network : Module
    data, batch :
        What was trained on, and a batch of it.
    draws : Tensor
        State of a generator: two networks that are looked at with the same one see the same views.
    """

    def __init__(
        self, method: Estimator, network: nn.Module, data: Any, batch: Any, draws: Tensor
    ) -> None:
        self.method = method
        self.network = network
        self.data = data
        self.batch = batch
        self.draws = draws

    def embeddings(self) -> Tensor:
        """(n, d) of all data."""
        with self._in_place():
            return self.method._embedded(self.data)

    def projections(self) -> Tensor | None:
        """(b, d) what the loss of the batch compares by angle, if that is not the embeddings."""
        with self._in_place() as generator, batch_statistics(self.network):
            return self.method._projections(self.batch, generator)

    def loss(self) -> float:
        """Of the batch, as in the first epoch."""
        with self._in_place() as generator, batch_statistics(self.network):
            return float(self.method._first_loss(self.batch, generator))

    @contextmanager
    def _in_place(self) -> Iterator[torch.Generator]:
        generator = torch.Generator()
        generator.set_state(self.draws)
        before, was_training = self.method.network_, self.network.training
        self.method.network_ = self.network
        try:
            with torch.no_grad(), torch.random.fork_rng(devices=[]):  # dropout of an own encoder
                yield generator
        finally:
            self.method.network_ = before
            self.network.train(was_training)


class GraphEstimator(GraphReader, Estimator):
    """Embeds whole graphs, in batches of `batch_size`."""

    batch_size: int

    def _start(self) -> None:
        super()._start()
        whole_number("batch_size", self.batch_size, least=2)

    def _batches(self, data: GraphSet, generator: torch.Generator) -> list[GraphSet]:
        return fixed_batches(data, int(self.batch_size), generator)

    def _embed(self, data: GraphSet, device: torch.device) -> Tensor:
        parts = torch.arange(len(data)).split(256)
        return torch.cat([self.network_.embed(data.select(p).to(device)).cpu() for p in parts])


class NodeBatch:
    """The whole graph as the one batch of an epoch."""

    def __init__(self, graph: NodeGraph) -> None:
        self.graph = graph
        self.views = NodeViews(graph)
        self.labels = None if graph.y is None else graph.y.to(graph.x.device)

    def __len__(self) -> int:
        return self.graph.num_nodes


class NodeEstimator(NodeReader, Estimator):
    """Embeds the nodes of a graph, all of them in every step."""

    checkpoint_seconds = 5.0
    weight_decay: float = 0.0

    def _start(self) -> None:
        super()._start()
        number("weight_decay", self.weight_decay, least=0)

    def _batches(self, data: NodeGraph, generator: torch.Generator) -> list[NodeBatch]:
        return [NodeBatch(data)]

    def _embed(self, data: NodeGraph, device: torch.device) -> Tensor:
        embeddings: Tensor = self.network_.embed(NodeViews(data.to(device)).clean)
        return embeddings

    def _threads(self, data: NodeGraph, batches: list[NodeBatch]) -> AbstractContextManager[None]:
        return threads_for(data.num_nodes**2 / 1000)  # the loss is over all pairs of nodes

    def _optimizer(self, network: nn.Module) -> torch.optim.Optimizer:
        return Adam(
            network.parameters(),
            lr=self._setting("lr"),
            weight_decay=self.weight_decay,
            fused=True,
        )
