"""Graph2vec: doc2vec with graphs as documents and rooted subgraphs as words."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from augcl.checks import whole_number
from augcl.data.features import degrees
from augcl.data.graph import GraphSet
from augcl.data.wl import edge_labels
from augcl.errors import InputError, need, one_of
from augcl.ops.hashing import refined_labels
from augcl.ops.segments import pointer, segment_sum
from augcl.rivals.gensim_models import FrozenBags, Texts, mark, numbers, trained
from augcl.training.method import EdgeLabelReader, PlainMethod
from augcl.training.progress import progress_bar

RECIPES: dict[str, dict[str, Any]] = {
    "default": {"dimensions": 128, "passes": 100, "negatives": 5, "labels": True},
    "paper": {"dimensions": 512, "passes": 1000, "negatives": 10, "labels": True},
    "authors": {"dimensions": 512, "passes": 1000, "negatives": 10, "labels": False},
}


LARGEST_WEIGHT = 1e6
"""Weights in a file beyond this are none that training gives: their products could overflow."""


class Graph2Vec(EdgeLabelReader, PlainMethod):
    """Embed graphs so that graphs with the same rooted subgraphs lie close together.

    A graph is a document, its words are the subgraphs around its nodes (Weisfeiler–Lehman labels),
    and skip-gram predicts them from the vector of the graph (PV-DBOW). One-hot node features are
    the labels of the nodes; with any other features the degree is the label. Where edges have
    labels, a neighbour counts together with the label of the edge to it.

    To embed graphs other than those of the fit, new vectors are trained while the vectors of the
    words are fixed; words that did not occur in the fit are ignored.

    Parameters
    ----------
    height : int
        Largest distance of a node of a subgraph from its root.
    dimensions : int, optional
        Width of the embedding; 128 by default. Published: 512.
    passes : int, optional
        Passes over the documents, in a new random order each time; 100 by default. Published:
        1000, which takes ten times as long and was not better on MUTAG.
    negatives : int, optional
        Random words that each word is contrasted with; 5 by default. Published: 10.
    labels : bool, optional
        Use the labels of the nodes.
    edge_labels : bool, optional
        Use the labels of edges (features that are whole numbers). If None, where there are any
        and the labels of the nodes are used, too.
    recipe : {"default", "paper", "authors"}
        Sets every option that is None: "paper" uses the published sizes; "authors" does too and,
        like the code behind the published table, ignores node labels.
    random_state : int or None
    progress : bool

    Attributes
    ----------
    vectors_ : (G, dimensions) float32
        Vectors of the graphs of the fit.
    words_, counts_ : (W,) int64
        Names of the rooted subgraphs, increasing, and how often each occurs.
    weights_ : (W, dimensions) float32
        Output weights of the words.

    References
    ----------
    A. Narayanan, M. Chandramohan, R. Venkatesan, L. Chen, Y. Liu and S. Jaiswal. "graph2vec:
    Learning Distributed Representations of Graphs". Workshop on Mining and Learning with
    Graphs, 2017. arXiv:1707.05005,
    doi:10.48550/arXiv.1707.05005.

    Examples
    --------
    >>> import augcl
    >>> graphs = augcl.load("MUTAG")
    >>> model = augcl.Graph2Vec(dimensions=8, passes=5).fit(graphs)
    >>> model.transform(graphs.select(range(10))).shape
    (10, 8)
    """

    year = 2017
    revision = 2

    def __init__(
        self,
        *,
        height: int = 3,
        dimensions: int | None = None,
        passes: int | None = None,
        negatives: int | None = None,
        labels: bool | None = None,
        edge_labels: bool | None = None,
        recipe: str = "default",
        random_state: int | None = 0,
        progress: bool = True,
    ) -> None:
        self.height = height
        self.dimensions = dimensions
        self.passes = passes
        self.negatives = negatives
        self.labels = labels
        self.edge_labels = edge_labels
        self.recipe = recipe
        self.random_state = random_state
        self.progress = progress

    def _left_open(self) -> dict[str, Any]:
        return RECIPES[one_of(self.recipe, RECIPES, "recipe")]

    def _start(self) -> None:
        need("gensim", "Graph2Vec")
        one_of(self.recipe, RECIPES, "recipe")
        whole_number("height", self.height, least=0, most=1000)
        self._check_edge_switch()
        for name in ("dimensions", "passes", "negatives"):
            whole_number(name, self._setting(name), least=1)

    def _finds_edges(self, graphs: GraphSet) -> bool:
        return bool(self._setting("labels")) and super()._finds_edges(graphs)

    def _learn(self, data: GraphSet, generator: torch.Generator) -> None:
        names, node_ptr = self._names(data)
        self.words_, words, self.counts_ = names.unique(return_inverse=True, return_counts=True)
        model = trained(
            Texts(words, node_ptr),
            generator,
            passes=int(self._setting("passes")),
            title=f"Graph2Vec on {data.name}",
            progress=self.progress,
            vector_size=int(self._setting("dimensions")),
            negative=int(self._setting("negatives")),
            dm=0,
        )
        self.vectors_ = torch.from_numpy(model.dv.vectors.copy())
        self.weights_ = torch.empty(len(self.words_), self.vectors_.shape[1])
        self.weights_[numbers(model)] = torch.from_numpy(model.syn1neg)
        self.fitted_on_ = mark(data)

    def _width(self) -> int:
        return self.vectors_.shape[1]

    def _embedded(self, data: GraphSet) -> Tensor:
        vectors = self.vectors_.clone()  # the user may write into it
        if not torch.equal(mark(data), self.fitted_on_):
            vectors = self._inferred(data)
        if self.recipe == "authors":  # divided by the root of their mean square, for the SVM
            vectors = vectors / self.vectors_.square().mean().sqrt().clamp(min=1e-12)
        return vectors

    def _inferred(self, data: GraphSet) -> Tensor:
        names, ptr = self._names(data)
        place = torch.searchsorted(self.words_, names).clamp_(max=len(self.words_) - 1)
        known = self.words_[place] == names
        if not bool(known.any()):
            raise InputError(
                f"{data.name} shares no rooted subgraph with the graphs of the fit: fit Graph2Vec "
                "on graphs with the same node labels"
            )
        kept = segment_sum(known.long().unsqueeze(1), ptr).squeeze(1)
        texts = Texts(place[known], pointer(kept))
        frozen = FrozenBags(
            self.weights_,
            self.counts_,
            negatives=int(self._setting("negatives")),
            passes=int(self._setting("passes")),
        )
        vectors = []
        with progress_bar(f"Graph2Vec on {data.name}", len(data), show=self.progress) as report:
            for text in range(len(data)):
                vectors.append(frozen.vector(texts, text))
                report(text + 1)
        return torch.stack(vectors)

    def _names(self, data: GraphSet) -> tuple[Tensor, Tensor]:
        """Return the names of all rooted subgraphs, graph by graph, and the graphs' pointer."""
        data = data.to("cpu")
        if self._setting("labels"):
            start = labels_or_degrees(data)
        else:
            start = torch.zeros(data.num_nodes, dtype=torch.long)
        edges, of_edges = data.edge_index.numpy(), edge_labels(data)
        rounds = refined_labels(start.numpy(), edges, int(self.height), edge_labels=of_edges)
        names = torch.from_numpy(np.stack(rounds, axis=1).view(np.int64))
        return names.flatten(), data.node_ptr * len(rounds)

    def _learned(self) -> dict[str, Tensor]:
        return {
            "vectors": self.vectors_,
            "words": self.words_,
            "counts": self.counts_,
            "weights": self.weights_,
            "fitted_on": self.fitted_on_,
        }

    def _load_learned(self, tensors: dict[str, Tensor]) -> None:
        for name in ("vectors", "words", "counts", "weights", "fitted_on"):
            setattr(self, f"{name}_", tensors[name])
        words = len(self.words_)
        if (
            self.weights_.shape != (words, self.vectors_.shape[1])  # gensim's C code does not check
            or self.weights_.dtype != torch.float32
            or self.counts_.shape != (words,)
            or not bool(((self.counts_ > 0) & (self.counts_ < 1 << 40)).all())
        ):
            raise ValueError("weights, words and counts do not belong together")
        if not bool((self.weights_.abs() < LARGEST_WEIGHT).all()):  # NaN is an index there
            raise ValueError("the weights of the words are not finite, or too large")


def labels_or_degrees(graphs: GraphSet) -> Tensor:
    """Return (V,) the column of one-hot features, or the degree if features are not one-hot."""
    x = graphs.x
    one_hot = graphs.num_features > 1 and bool(
        ((x == 0) | (x == 1)).all() and (x.sum(1) == 1).all()
    )
    return x.argmax(1) if one_hot else degrees(graphs)
