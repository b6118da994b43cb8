"""What every method shares: scikit-learn's contract, and a model in a file."""

from __future__ import annotations

import copy
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from augcl.checks import parameters, whole_number
from augcl.contract import Parametric, Transformer, check_fitted
from augcl.data.convert import as_graphset
from augcl.data.features import align_columns, align_edge_columns
from augcl.data.graph import GraphSet
from augcl.data.node_convert import as_node_graph
from augcl.data.node_graph import NodeGraph
from augcl.data.sparse import first_bad_row, torch_csr
from augcl.data.table import warn_unused
from augcl.data.wl import whole_numbers
from augcl.errors import InputError, shortened
from augcl.files import remove_temporary, write_json, write_text
from augcl.ops.neighbors import Neighbors, nearest
from augcl.training.checkpoint import Snapshot, prefixed


class GraphReader:
    """Reads whatever `as_graphset` takes, with the features of the fit.

    Edge features are left out unless the method uses them: see `edge_switch`.
    """

    level = "graph"
    columns_: Any
    edge_columns_: Any = None
    """Names of the edge features that the fit used, where the data have names."""
    n_edge_features_: int | None = None
    """How many edge features the fit used; None before it."""
    edge_switch: str | None = None
    """The hyper-parameter that says whether edge features are used: True, False, or None (as
    `_finds_edges` says). Without one, they never are."""
    edge_cure: str | None = "GraphCL and WLKernel use edge features"
    """What a warning says where the data have edge features and the method uses none; None: there
    is no warning."""

    def read(self, X: Any) -> GraphSet:
        """The graphs, whatever form they come in."""
        return self._edges_as_fitted(align_columns(as_graphset(X), self.columns_))

    def _check_edge_switch(self) -> None:
        """Raise `InputError` unless the switch is True, False or None."""
        if self.edge_switch is not None:
            given = getattr(self, self.edge_switch)
            if given is not None and not isinstance(given, bool | np.bool_):
                raise InputError(f"{self.edge_switch} is {given!r}: give True, False or None")

    def _finds_edges(self, graphs: GraphSet) -> bool:
        """Whether edge features are used where the user leaves it open: if there are any."""
        return graphs.edge_attr is not None and graphs.edge_attr.shape[1] > 0

    def _edges_as_fitted(self, graphs: GraphSet) -> GraphSet:
        """The graphs with the edge features of the fit, or without any if it used none."""
        used: bool | None = bool(self.n_edge_features_)
        if self.n_edge_features_ is None:
            told = None if self.edge_switch is None else getattr(self, self.edge_switch)
            used = told
            if self.edge_switch is None:
                used = False
            elif told is None:
                used = self._finds_edges(graphs)
            elif told and not GraphReader._finds_edges(self, graphs):
                raise InputError(
                    f"{self.edge_switch} is True, but {graphs.name} has no edge features: give "
                    "every edge some, or leave it out"
                )
            if told is None and not used and self.edge_cure is not None:
                warn_unused_edges(graphs, self.edge_cure)
        if used and self.n_edge_features_:
            return align_edge_columns(graphs, self.edge_columns_, self.n_edge_features_)
        if used or graphs.edge_attr is None:
            return graphs
        return replace(graphs, edge_attr=None, edge_columns=None)


def warn_unused_edges(graphs: GraphSet | NodeGraph, cure: str) -> None:
    """Warn if there are edge features, which the method at hand does not use."""
    if graphs.edge_attr is not None and graphs.edge_attr.shape[1]:
        names = graphs.edge_columns or [f"edge_attr{i}" for i in range(graphs.edge_attr.shape[1])]
        warn_unused(f"edges of {graphs.name}", list(names), cure)


class EdgeLabelReader(GraphReader):
    """Reads edge labels, unless `edge_labels` is False; if None, where all are whole numbers."""

    edge_switch = "edge_labels"
    edge_cure = "edge labels are whole numbers or words"
    edge_labels: bool | None

    def _finds_edges(self, graphs: GraphSet) -> bool:
        found = super()._finds_edges(graphs)
        return found and graphs.edge_attr is not None and whole_numbers(graphs.edge_attr)


class NodeReader:
    """Reads whatever `as_node_graph` takes, with the features of the fit.

    Rows of features sum to 1 unless told otherwise.
    """

    level = "node"
    columns_: Any
    normalize_features: bool = True

    def read(self, X: Any) -> NodeGraph:
        """The graph, whatever form it comes in."""
        graph = align_columns(as_node_graph(X), self.columns_)
        if graph.edge_attr is not None:  # no method for nodes uses more than weights
            if getattr(self, "n_edge_features_", None) is None:  # in the fit
                warn_unused_edges(graph, "methods for nodes use only the weight of an edge")
            graph = replace(graph, edge_attr=None, edge_columns=None)
        if graph.num_nodes < 2:
            raise InputError(f"{graph.name} has one node: contrasting needs two or more")
        return self._scaled(graph)

    def _scaled(self, graph: NodeGraph) -> NodeGraph:
        """Return the graph with normalised features, if the method wants that."""
        if first_bad_row(graph.x) is not None:  # a memory map is not read when it is loaded
            raise InputError(
                f"node features of {graph.name} hold NaN or infinity: give finite numbers"
            )
        return normalised_features(graph) if self._normalizes() else graph

    def _normalizes(self) -> bool:
        return self.normalize_features


def normalised_features(graph: NodeGraph) -> NodeGraph:
    """Every row of the features divided by its sum, where that is above 1."""
    x = graph.x
    if x.layout == torch.sparse_csr:
        counts = x.crow_indices().diff()
        sums = torch.zeros(len(counts), device=x.device, dtype=x.dtype)
        row = torch.repeat_interleave(counts.long())
        sums.index_add_(0, row, x.values())
        values = x.values() / sums.clamp_min(1)[row]
        return replace(graph, x=torch_csr(x.crow_indices(), x.col_indices(), values, x.shape[1]))
    return replace(graph, x=x / x.sum(1, keepdim=True).clamp_min(1))


MODEL_FILE = "model.safetensors"
NOT_DECISIVE = ("device", "progress", "callbacks", "warm_start")
"""Hyper-parameters that do not change the result."""

EDGE_SWITCHES = ("edge_features", "edge_labels")
"""Hyper-parameters that say whether edge features are used."""


class Method(Transformer, ABC):
    """Embeds graphs or nodes.

    A subclass stores its hyper-parameters in ``__init__``, among them `random_state` and
    `progress`, and implements what is abstract here. What it learns are tensors, given by
    `_learned` and taken back by `_load_learned`.

    Attributes
    ----------
    level : {"graph", "node"}
    history_ : list of dict
        One entry per epoch, if there are epochs.
    """

    level: str
    year: int
    """Year of the publication."""
    cost: str = "minutes"
    """Time of one training on a benchmark of the usual size: "seconds", "minutes" or "hours"."""
    revision: int = 1
    """Raised where the same settings and seed give another result: cells of an older one are not
    read."""
    needs: str | None = None
    """What the graphs must have for this method, "smiles"; None if any graph will do."""
    gives_kernel: bool = False
    """Whether `transform` gives the similarity to each training graph instead of an embedding."""
    preset_file: str | None = None
    """Where its presets are, if it has a hyper-parameter `preset`."""
    collapse_: str | None = None
    """Why one must say that nothing was learned, see `augcl.training.collapse`; None if it was."""
    best_epoch_: int | None = None
    """The epoch with the lowest loss, counted from 1, if epochs were compared."""
    n_edge_features_: int | None = None
    """How many edge features the fit used; None before it."""
    random_state: int | None
    progress: bool

    @abstractmethod
    def fit(
        self, X: Any, y: Any = None, *, folder: str | Path | None = None, resume: bool = False
    ) -> Any:
        """Learn without labels."""

    def check(self) -> None:
        """Raise `InputError` for settings with which `fit` would not start.

        Nothing is computed, and what a fitted model has learned stays.

        Examples
        --------
        >>> import augcl
        >>> augcl.GraphCL(tau=-1).check()
        Traceback (most recent call last):
        augcl.errors.InputError: tau is -1: give a finite number, above 0
        """
        self._started()._generator()

    def _started(self) -> Self:
        """A copy with checked settings, ready to learn."""
        started = copy.copy(self)
        started._start()
        return started

    @abstractmethod
    def read(self, X: Any) -> Any:
        """The data as the method works on it: ``.name``, ``.num_nodes``, ``.num_features``."""

    @abstractmethod
    def _embedded(self, data: Any) -> Tensor:
        """(n, d) embeddings by what was learned."""

    def _left_open(self) -> Mapping[str, Any]:
        """What hyper-parameters stand for that are None."""
        return {}

    def _setting(self, name: str) -> Any:
        """The value of a hyper-parameter."""
        given = getattr(self, name)
        return self._left_open().get(name) if given is None else given

    def _start(self) -> None:
        """Check hyper-parameters and reset what an earlier fit left."""

    def _learned(self) -> dict[str, Tensor]:
        """What was learned, beside a network."""
        return {}

    def _load_learned(self, tensors: dict[str, Tensor]) -> None:
        """Take back what `_learned` gave."""

    def _generator(self) -> torch.Generator:
        """The source of every random draw of a fit."""
        return seeded_generator(self.random_state)

    def transform(self, X: Any) -> NDArray[np.float32]:
        """(n, d) float32 embeddings of graphs or nodes, seen in training or not."""
        found: NDArray[np.float32] = self._in_container(self._embeddings(X))
        return found

    def _embeddings(self, X: Any) -> NDArray[np.float32]:
        """Return an array, also where `set_output` makes `transform` return a table."""
        check_fitted(self, "history_")
        data = self._read_as_fitted(X)
        with torch.no_grad():
            embeddings: NDArray[np.float32] = self._embedded(data).cpu().float().numpy()
        if not np.isfinite(embeddings).all():
            raise InputError(
                f"the embeddings of {data.name} by {type(self).__name__} are not finite numbers: "
                "scale the features, for instance to mean 0 and standard deviation 1, or lower the "
                "learning rate"
            )
        return embeddings

    def neighbors(self, X: Any, k: int = 5, *, among: Any = None) -> Neighbors:
        """Find the nearest graphs or nodes by the cosine of their embeddings.

        Parameters
        ----------
        X : graphs, or one graph for a method that embeds nodes
            A graph or node is not its own neighbour.
        k : int
            Number of neighbours of each; fewer if there are fewer others.
        among : graphs, or one graph, optional
            Search here, for instance in the training graphs, instead of in `X`.

        Returns
        -------
        Neighbors
            `indices` (n, k), counted from 0, the nearest first, of equally near ones the smaller
            index first; and `similarity` (n, k).

        Examples
        --------
        >>> import augcl
        >>> graphs = augcl.load("MUTAG")
        >>> indices, similarity = augcl.GraphCL(epochs=1).fit(graphs).neighbors(graphs, k=3)
        >>> indices.shape
        (188, 3)
        """
        if self.gives_kernel:
            raise InputError(
                f"{type(self).__name__} has a kernel instead of embeddings: neighbors needs a "
                "method that embeds"
            )
        whole_number("k", k, least=1)
        others = None if among is None else torch.from_numpy(self._embeddings(among))
        return nearest(torch.from_numpy(self._embeddings(X)), k, among=others)

    @property
    def _n_features_out(self) -> int:
        """Width of the embeddings: scikit-learn names the columns graphcl0, graphcl1 and so on."""
        check_fitted(self, "history_")
        with torch.no_grad():
            return self._width()

    def _width(self) -> int:
        """Return the width of an embedding, measured on one edge."""
        pairs, x = torch.tensor([[0], [1]]), torch.zeros(2, self.n_features_in_)
        if self.level == "node":
            return self._embedded(NodeGraph.from_arrays(pairs=pairs, num_nodes=2, x=x)).shape[1]
        graph_of_node = torch.zeros(2, dtype=torch.long)
        used = getattr(self, "n_edge_features_", None)
        edge = GraphSet.from_arrays(
            pairs=pairs,
            graph_of_node=graph_of_node,
            num_graphs=1,
            x=x,
            edge_attr=torch.zeros(1, used) if used else None,
        )
        return self._embedded(edge).shape[1]

    def _read_as_fitted(self, X: Any) -> Any:
        """The data, if it has the features of the fit."""
        data = self.read(X)
        if data.num_features != self.n_features_in_:
            raise InputError(
                f"{data.name} has {data.num_features} node features, the model was trained "
                f"on {self.n_features_in_}: give graphs with the same node features"
            )
        return data

    def _forget_features(self) -> None:
        """Let the next `read` take the data as they are: an earlier fit does not count."""
        self.columns_ = self.edge_columns_ = self.n_edge_features_ = None

    def _keep_features(self, data: Any) -> None:
        """Remember the number and the names of the features of nodes and edges."""
        self.n_features_in_, self.columns_ = data.num_features, getattr(data, "columns", None)
        edge_attr = getattr(data, "edge_attr", None)
        self.n_edge_features_ = 0 if edge_attr is None else edge_attr.shape[1]
        self.edge_columns_ = getattr(data, "edge_columns", None) if self.n_edge_features_ else None

    def save(self, path: str | Path) -> None:
        """Write the model to a folder: tensors and settings, and a JSON copy for people to read."""
        check_fitted(self, "history_")
        facts = self._facts()
        for name in (MODEL_FILE, "model.json"):  # of a process that was killed while it saved
            remove_temporary(Path(path), name)
        Snapshot(self._tensors(), facts).write(Path(path) / MODEL_FILE)
        write_json(Path(path) / "model.json", facts)

    def _facts(self) -> dict[str, Any]:
        """What a model file holds beside tensors."""
        return {
            "method": type(self).__name__,
            "settings": self.settings(),
            "features": self.n_features_in_,
            "columns": None if self.columns_ is None else list(self.columns_),
            "edge_features": self.n_edge_features_,
            "edge_columns": None if self.edge_columns_ is None else list(self.edge_columns_),
            "history": self.history_,
            "collapse": self.collapse_,
            "best_epoch": self.best_epoch_,
        }

    def _tensors(self) -> dict[str, Tensor]:
        return prefixed("learned", self._learned())

    def restore(self, snapshot: Snapshot) -> None:
        """Become the model of a snapshot that `save` wrote; see `augcl.load_model`."""
        self._start()
        _check_facts(snapshot.facts)
        self.n_features_in_ = snapshot.facts["features"]
        self.columns_ = snapshot.facts["columns"]
        self.n_edge_features_ = snapshot.facts["edge_features"]
        self.edge_columns_ = snapshot.facts["edge_columns"]
        self.history_ = snapshot.facts["history"]
        self.collapse_ = snapshot.facts["collapse"]
        self.best_epoch_ = snapshot.facts["best_epoch"]
        self._load_learned(snapshot.part("learned"))

    def settings(self) -> dict[str, Any]:
        """Hyper-parameters as plain JSON values, without what does not change the result."""
        values = {name: self._setting(name) for name in self.get_params(deep=False)}
        # A method that has no patience by itself and is given none is what it was without it. So
        # is one that leaves it to the data whether it uses edges or mini-batches.
        for name in ("patience", "batch_nodes", *EDGE_SWITCHES):
            if values.get(name, 0) is None and parameters(type(self))[name] is None:
                del values[name]
        return {
            name: plain_settings(value)
            for name, value in values.items()
            if name not in NOT_DECISIVE
        }


MOST_FEATURES = 10_000_000
"""A file that claims more node features than this is not a model of ours."""


def _check_facts(facts: dict[str, Any]) -> None:
    """Raise ValueError unless the facts of a model have the types that `save` writes."""

    def counts(value: Any) -> bool:
        return type(value) is int and 0 <= value <= MOST_FEATURES

    def words(value: Any) -> bool:
        return isinstance(value, list) and all(isinstance(word, str) for word in value)

    history = facts["history"]
    right = {
        "features": counts(facts["features"]),
        "columns": facts["columns"] is None
        or (words(facts["columns"]) and len(facts["columns"]) == facts["features"]),
        "edge_features": facts["edge_features"] is None or counts(facts["edge_features"]),
        "edge_columns": facts["edge_columns"] is None
        or (words(facts["edge_columns"]) and len(facts["edge_columns"]) == facts["edge_features"]),
        "history": isinstance(history, list) and all(isinstance(m, dict) for m in history),
        "collapse": isinstance(facts["collapse"], str | None),
        "best_epoch": isinstance(facts["best_epoch"], int | None),
    }
    for name, is_right in right.items():
        if not is_right:
            raise ValueError(f"{name!r} is {shortened(facts[name])}")


class PlainMethod(Method):
    """A method that is not trained by gradient steps of ours: kernels, walks, counts."""

    @abstractmethod
    def _learn(self, data: Any, generator: torch.Generator) -> None:
        """Learn from the data; all draws come from `generator`."""

    def fit(
        self, X: Any, y: Any = None, *, folder: str | Path | None = None, resume: bool = False
    ) -> Any:
        """Learn without labels.

        Parameters
        ----------
        X : graphs, or one graph for a method that embeds nodes
        y, resume : ignored
        folder : path, optional
            Where other methods keep their metrics; this one has none.
        """
        self._start()
        self._forget_features()
        data = self.read(X)
        self._keep_features(data)
        self._learn(data, self._generator())
        if folder is not None:
            write_text(Path(folder) / "metrics.jsonl", "")
        self.history_: list[dict[str, Any]] = []
        return self


def seeded_generator(random_state: int | None) -> torch.Generator:
    """The source of random draws; None is a new seed every time."""
    generator = torch.Generator()
    if random_state is None:
        generator.seed()
    elif isinstance(random_state, int | np.integer):
        generator.manual_seed(int(random_state))
    else:
        raise InputError(f"random_state is {random_state!r}: give a whole number, or None")
    return generator


def fingerprint(data: Any, *, edge_features: bool = False) -> str:
    """A hash of node features, edges, their weights and order; and of edge features on demand."""
    x = data.x
    sparse = x.layout == torch.sparse_csr
    parts = [x.crow_indices(), x.col_indices(), x.values()] if sparse else [x]
    digest = hashlib.blake2b(digest_size=16)
    parts += [data.edge_index, getattr(data, "node_ptr", torch.empty(0))]
    for name in ("edge_weight", *(["edge_attr"] if edge_features else [])):
        if getattr(data, name, None) is not None:
            parts.append(getattr(data, name))
    for tensor in parts:
        digest.update(tensor.cpu().contiguous().numpy().reshape(-1).view(np.uint8))
    return digest.hexdigest()


def plain_settings(value: Any) -> Any:
    """Settings as JSON has them."""
    if isinstance(value, nn.Module):
        return {"class": type(value).__name__}
    if isinstance(value, Parametric):
        params = {k: plain_settings(v) for k, v in value.get_params(deep=False).items()}
        return {"class": type(value).__name__, "params": params}
    if isinstance(value, tuple | list):  # JSON knows lists only
        return [plain_settings(entry) for entry in value]
    if callable(value):  # an augmentation of the user: no file can hold it
        return {"callable": getattr(value, "__qualname__", type(value).__qualname__)}
    return value.item() if isinstance(value, np.generic) else value
