"""DeepWalk and node2vec: skip-gram on random walks, for nodes, with features, and for graphs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from augcl.checks import number, whole_number
from augcl.data.graph import GraphSet
from augcl.data.node_graph import NodeGraph
from augcl.errors import need
from augcl.ops.csr import Rows
from augcl.ops.segments import segment_sum
from augcl.rivals.gensim_models import FittedOnly, frequencies, names, numbers, one_worker, seed_of
from augcl.rivals.walks import WeightedGraphReader, random_walks, weights_of
from augcl.training.method import NodeReader
from augcl.training.progress import Report, progress_bar
from augcl.views.nodes import NodeViews, edge_weights

BLOCK = 1 << 20
"""Number of steps of walks that are in memory at a time."""


@dataclass(frozen=True)
class SkipGram:
    """Settings of walks and of skip-gram; see `augcl.Node2Vec`."""

    dimensions: int
    walks: int
    length: int
    window: int
    negatives: int
    p: float
    q: float
    passes: int

    def fit(
        self,
        edge_index: Tensor,
        num_nodes: int,
        generator: torch.Generator,
        *,
        weight: Tensor | None = None,
        title: str,
        progress: bool,
    ) -> Tensor:
        """Learn and return (V, d) vectors of the nodes; `weight` (E,) are the edges' weights."""
        from gensim.models import Word2Vec

        source, target = edge_index
        neighbours = Rows.from_pairs(source, target, num_nodes, values=weight, ordered=True)
        steps = (1 + self.passes) * self.walks * num_nodes
        with progress_bar(title, steps, show=progress) as report:
            sentences = _WalkSentences(self, neighbours, seed_of(generator), report)
            counts = frequencies(sentences.counts())
            model = Word2Vec(
                vector_size=self.dimensions,
                window=self.window,
                sg=1,
                hs=int(self.negatives == 0),
                negative=self.negatives,
                **one_worker(generator),
            )
            model.build_vocab_from_freq(counts, corpus_count=self.walks * num_nodes)
            model.train(
                sentences,
                total_examples=model.corpus_count,
                total_words=self.length * model.corpus_count,
                epochs=self.passes,
            )
        vectors = torch.empty(num_nodes, self.dimensions)
        vectors[numbers(model)] = torch.from_numpy(model.wv.vectors)
        return vectors


class _WalkSentences:
    """Iterate over the same walks at every pass, in a new order.

    To save memory, walks are drawn again at every pass, a batch at a time. A round is one walk
    from every node, drawn with its own seed; a pass shuffles the rounds and the walks of a batch.
    """

    def __init__(self, settings: SkipGram, neighbours: Rows, seed: int, report: Report) -> None:
        self.settings, self.neighbours, self.report = settings, neighbours, report
        self.generator = torch.Generator().manual_seed(seed)
        self.seeds = [seed_of(self.generator) for _ in range(settings.walks)]
        self.num_nodes = len(neighbours.ptr) - 1
        self.names = names(self.num_nodes)
        self.done = 0

    def batches(self) -> Iterator[Tensor]:
        """Yield (W, length) nodes of walks, a batch at a time."""
        own = self.settings
        for index in torch.randperm(own.walks, generator=self.generator).tolist():
            generator = torch.Generator().manual_seed(self.seeds[index])
            order = torch.randperm(self.num_nodes, generator=generator)
            for starts in order.split(max(1, BLOCK // own.length)):
                walks = random_walks(
                    self.neighbours, starts, own.length, generator, p=own.p, q=own.q
                )
                yield walks[torch.randperm(len(walks), generator=self.generator)]
                self.done += len(starts)
                self.report(self.done)

    def counts(self) -> Tensor:
        """Count how often each node occurs in the walks."""
        total = torch.zeros(self.num_nodes, dtype=torch.long)
        for walks in self.batches():
            total += torch.bincount(walks.flatten(), minlength=self.num_nodes)
        return total

    def __iter__(self) -> Iterator[list[str]]:
        for walks in self.batches():
            yield from self.names[walks.numpy()].tolist()


class WalkMethod(FittedOnly):
    """Base of the methods that learn skip-gram on walks, for nodes or graphs."""

    revision = 2
    dimensions: int
    walks: int
    length: int
    window: int
    negatives: int
    passes: int
    p: float = 1.0
    q: float = 1.0

    def _start(self) -> None:
        need("gensim", type(self).__name__)
        for name in ("dimensions", "walks", "window", "passes"):
            whole_number(name, getattr(self, name), least=1)
        whole_number("length", self.length, least=2)
        whole_number("negatives", self.negatives, least=0)
        for name in ("p", "q"):
            number(name, getattr(self, name), above=0)

    def _learn(self, data: Any, generator: torch.Generator) -> None:
        self._keep(data, self._node_vectors(data, generator))

    def _node_vectors(self, data: Any, generator: torch.Generator) -> Tensor:
        return SkipGram(
            dimensions=int(self.dimensions),
            walks=int(self.walks),
            length=int(self.length),
            window=int(self.window),
            negatives=int(self.negatives),
            p=float(self.p),
            q=float(self.q),
            passes=int(self.passes),
        ).fit(
            data.edge_index.cpu(),
            data.num_nodes,
            generator,
            weight=self._weights(data),
            title=f"{type(self).__name__} on {data.name}",
            progress=self.progress,
        )

    @staticmethod
    def _weights(data: Any) -> Tensor | None:
        """Return the (E,) weights of the edges; None if all weigh 1."""
        weight = edge_weights(data) if isinstance(data, NodeGraph) else weights_of(data)
        return None if weight is None else weight.cpu()


class BiasedWalkMethod(WalkMethod):
    """Base of the methods with node2vec's parameters `p` and `q`."""

    def __init__(
        self,
        *,
        dimensions: int = 128,
        walks: int = 10,
        length: int = 80,
        window: int = 10,
        negatives: int = 5,
        p: float = 1.0,
        q: float = 1.0,
        passes: int = 1,
        random_state: int | None = 0,
        progress: bool = True,
    ) -> None:
        self.dimensions = dimensions
        self.walks = walks
        self.length = length
        self.window = window
        self.negatives = negatives
        self.p = p
        self.q = q
        self.passes = passes
        self.random_state = random_state
        self.progress = progress


class DeepWalk(NodeReader, WalkMethod):
    """Embed nodes so that nodes that random walks visit together lie close together.

    It is `Node2Vec` with p = q = 1, except that, as published, a hierarchical softmax predicts the
    next nodes. With ``negatives=5`` both are the same.

    Parameters
    ----------
    dimensions, walks, length, window, passes, random_state, progress :
        As in `Node2Vec`.
    negatives : int
        Random nodes that each pair is contrasted with; 0: hierarchical softmax instead.

    Attributes
    ----------
    vectors_ : (N, dimensions) float32
        Vectors of the nodes of the fit.

    References
    ----------
    B. Perozzi, R. Al-Rfou and S. Skiena. "DeepWalk: Online Learning of Social Representations".
    KDD 2014. arXiv:1403.6652,
    doi:10.1145/2623330.2623732.

    Examples
    --------
    >>> import augcl
    >>> graph = augcl.load("digits-knn")
    >>> augcl.DeepWalk(dimensions=8, walks=1, length=10).fit_transform(graph).shape
    (1797, 8)
    """

    year = 2014

    def __init__(
        self,
        *,
        dimensions: int = 128,
        walks: int = 10,
        length: int = 80,
        window: int = 10,
        negatives: int = 0,
        passes: int = 1,
        random_state: int | None = 0,
        progress: bool = True,
    ) -> None:
        self.dimensions = dimensions
        self.walks = walks
        self.length = length
        self.window = window
        self.negatives = negatives
        self.passes = passes
        self.random_state = random_state
        self.progress = progress


class DeepWalkFeatures(DeepWalk):
    """Embed a node as its DeepWalk vector followed by its features.

    Each part is scaled by one factor, so that the mean squared length of its rows is 1 and neither
    part outweighs the other.

    Parameters
    ----------
    dimensions, walks, length, window, negatives, passes, random_state, progress :
        As in `DeepWalk`.
    normalize_features : bool
        Before that, divide every row of the features by its sum (where above 1).

    Attributes
    ----------
    vectors_ : (N, dimensions) float32
        DeepWalk vectors before scaling.

    References
    ----------
    B. Perozzi, R. Al-Rfou and S. Skiena. "DeepWalk: Online Learning of Social Representations".
    KDD 2014. arXiv:1403.6652,
    doi:10.1145/2623330.2623732.

    Examples
    --------
    >>> import augcl
    >>> graph = augcl.load("digits-knn")
    >>> augcl.DeepWalkFeatures(dimensions=8, walks=1, length=10).fit_transform(graph).shape
    (1797, 72)
    """

    def __init__(
        self,
        *,
        dimensions: int = 128,
        walks: int = 10,
        length: int = 80,
        window: int = 10,
        negatives: int = 0,
        passes: int = 1,
        normalize_features: bool = True,
        random_state: int | None = 0,
        progress: bool = True,
    ) -> None:
        super().__init__(
            dimensions=dimensions,
            walks=walks,
            length=length,
            window=window,
            negatives=negatives,
            passes=passes,
            random_state=random_state,
            progress=progress,
        )
        self.normalize_features = normalize_features

    def _width(self) -> int:
        return self.vectors_.shape[1] + int(self.n_features_in_)

    def _embedded(self, data: NodeGraph) -> Tensor:
        return torch.cat(
            [_of_unit_length(self.vectors_), _of_unit_length(NodeViews(data).clean.x())], 1
        )


def _of_unit_length(x: Tensor) -> Tensor:
    """Scale all rows by one factor, so that their mean squared length is 1; 0 stays 0."""
    square = x.double().square().sum(1).mean()
    return x / square.sqrt().clamp(min=1e-12).float()


class Node2Vec(NodeReader, BiasedWalkMethod):
    """Embed nodes so that nodes that biased random walks visit together lie close together.

    Walks follow an edge in proportion to its weight, if the edges have weights. The features of the
    nodes are ignored. Only the nodes of the fit have an embedding. A walk that begins at a node
    without neighbours stays there.

    Parameters
    ----------
    dimensions : int
        Width of the embedding.
    walks, length : int
        Walks that begin at each node, and nodes in a walk.
    window : int
        Largest distance in a walk of two nodes that count as visited together (as usual in
        skip-gram, drawn from 1 to this value at every node).
    negatives : int
        Random nodes that each pair is contrasted with; 0: hierarchical softmax instead.
    p, q : float
        A small `p` lets walks turn back, a small `q` lets them go far.
    passes : int
        Passes over the same walks, in a new order each time.
    random_state : int or None
    progress : bool

    Attributes
    ----------
    vectors_ : (N, dimensions) float32
        Vectors of the nodes of the fit.

    References
    ----------
    A. Grover and J. Leskovec. "node2vec: Scalable Feature Learning for Networks". KDD 2016.
    arXiv:1607.00653,
    doi:10.1145/2939672.2939754.

    Examples
    --------
    >>> import augcl
    >>> graph = augcl.load("digits-knn")
    >>> augcl.Node2Vec(dimensions=8, walks=1, length=10).fit_transform(graph).shape
    (1797, 8)
    """

    year = 2016


class Node2VecGraphs(WeightedGraphReader, BiasedWalkMethod):
    """Embed a graph as the mean of the `Node2Vec` embeddings of its nodes.

    All graphs are learned together, but no walk leads from one graph to another and no two graphs
    share a node: their means have little more in common than their sizes. The baseline is defined
    this way. Walks follow an edge in proportion to its feature ``weight``, if there is one. Only
    the graphs of the fit have an embedding.

    Parameters
    ----------
    dimensions, walks, length, window, negatives, p, q, passes, random_state, progress :
        As in `Node2Vec`.

    Attributes
    ----------
    vectors_ : (G, dimensions) float32
        Embeddings of the graphs of the fit.

    References
    ----------
    A. Grover and J. Leskovec. "node2vec: Scalable Feature Learning for Networks". KDD 2016.
    arXiv:1607.00653,
    doi:10.1145/2939672.2939754.

    Examples
    --------
    >>> import augcl
    >>> graphs = augcl.load("MUTAG")
    >>> augcl.Node2VecGraphs(dimensions=8, walks=1, length=10).fit_transform(graphs).shape
    (188, 8)
    """

    year = 2016

    def _learn(self, data: GraphSet, generator: torch.Generator) -> None:
        data = data.to("cpu")
        nodes = self._node_vectors(data, generator)
        sizes = data.node_ptr.diff().unsqueeze(1)
        self._keep(data, segment_sum(nodes, data.node_ptr) / sizes)
