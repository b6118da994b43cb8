"""Graph2vec: graphs are documents, rooted subgraphs are their words."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from augcl.checks import whole_number
from augcl.data import GraphSet
from augcl.data.features import degrees
from augcl.errors import InputError, need, one_of
from augcl.ops.segments import pointer, segment_sum
from augcl.ops.wl import rooted_subgraphs
from augcl.rivals.gensim_models import FrozenBags, Texts, mark, numbers, trained
from augcl.training.method import GraphReader, PlainMethod
from augcl.training.progress import progress_bar

RECIPES: dict[str, dict[str, Any]] = {
    "default": {"dimensions": 128, "passes": 100, "negatives": 5, "labels": True},
    "paper": {"dimensions": 512, "passes": 1000, "negatives": 10, "labels": True},
    "authors": {"dimensions": 512, "passes": 1000, "negatives": 10, "labels": False},
}


class Graph2Vec(GraphReader, PlainMethod):
    """Embeds graphs so that those with the same rooted subgraphs lie together.

    A graph is a document, the subgraphs around its nodes (told apart by Weisfeiler and Lehman) are
    its words, and skip-gram predicts them from the vector of the graph (PV-DBOW). Where node
    features are one-hot, they are the labels of the nodes; else the degree is the label.

    A set of graphs other than that of the fit is embedded by training new vectors while the words
    stay as they are; words that did not occur in the fit are left out.

    Parameters
    ----------
    height : int
        Subgraphs reach up to so many steps from their root.
    dimensions : int, optional
        Of the embedding; 128. Published: 512.
    passes : int, optional
        How often the documents are gone through, in a new random order every time; 100.
        Published: 1000, which takes ten times as long and did not do better on MUTAG.
    negatives : int, optional
        Random words to tell each word from; 5. Published: 10.
    labels : bool, optional
        Use the labels of the nodes.
    recipe : {"default", "paper", "authors"}
        Decides what is not given: "paper" takes the published sizes, and "authors" does so and, as
        the code behind the published table, looks at no labels (every node has the same one).
    random_state : int or None
    progress : bool

    Attributes
    ----------
    vectors_ : (G, dimensions) float32
        Of the graphs of the fit.
    words_, counts_ : (W,) int64
        Names of the rooted subgraphs, increasing, and how often each occurs.
    weights_ : (W, dimensions) float32
        Of the words.

    References
    ----------
    Narayanan et al., graph2vec: Learning Distributed Representations of Graphs, 2017.

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
        recipe: str = "default",
        random_state: int | None = 0,
        progress: bool = True,
    ) -> None:
        self.height = height
        self.dimensions = dimensions
        self.passes = passes
        self.negatives = negatives
        self.labels = labels
        self.recipe = recipe
        self.random_state = random_state
        self.progress = progress

    def _left_open(self) -> dict[str, Any]:
        return RECIPES[one_of(self.recipe, RECIPES, "recipe")]

    def _start(self) -> None:
        need("gensim", "Graph2Vec")
        one_of(self.recipe, RECIPES, "recipe")
        whole_number("height", self.height, least=0)
        for name in ("dimensions", "passes", "negatives"):
            whole_number(name, self._setting(name), least=1)

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
        """The names of all rooted subgraphs, graph after graph, and where each graph begins."""
        data = data.to("cpu")
        if self._setting("labels"):
            start = labels_or_degrees(data)
        else:
            start = torch.zeros(data.num_nodes, dtype=torch.long)
        names = rooted_subgraphs(start, data.edge_index, int(self.height))
        return names.t().flatten(), data.node_ptr * len(names)

    def _learned(self) -> dict[str, Tensor]:
        return {
            "vectors": self.vectors_,
            "words": self.words_,
            "counts": self.counts_,
            "weights": self.weights_,
            "fitted_on": self.fitted_on_,
        }

    def _load_learned(self, tensors: dict[str, Tensor]) -> None:
        for name, tensor in tensors.items():
            setattr(self, f"{name}_", tensor)


def labels_or_degrees(graphs: GraphSet) -> Tensor:
    """(V,) which column of one-hot features is 1; the degree where they are something else."""
    x = graphs.x
    one_hot = graphs.num_features > 1 and bool(
        ((x == 0) | (x == 1)).all() and (x.sum(1) == 1).all()
    )
    return x.argmax(1) if one_hot else degrees(graphs)
