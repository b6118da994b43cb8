"""Deep graph kernels: a kernel in which substructures that occur together count as similar."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from torch import Tensor

from augcl.checks import number, whole_number
from augcl.data.graph import GraphSet
from augcl.data.wl import node_labels, wl_labels
from augcl.errors import need, one_of
from augcl.ops.counts import Occurrences
from augcl.ops.hashing import Hashes, combined
from augcl.ops.segments import pointer
from augcl.rivals.gensim_models import Texts, frequencies, numbers, one_worker
from augcl.rivals.graphlets import LARGEST, draw_graphlets, neighbouring, shape_names
from augcl.rivals.kernel import LARGEST_SEED, GraphKernel
from augcl.rivals.wl import subtrees
from augcl.training.progress import progress_bar

Ints = NDArray[np.int64]
NO_NODE = -9999  # SciPy's value for "no predecessor"
SOURCES = 256  # nodes whose distances to all nodes are in memory at once
Report = Callable[[int], None]


def shortest_paths(graphs: GraphSet, report: Report = lambda done: None) -> Occurrences:
    """Count the shortest paths between all ordered pairs of connected nodes."""
    parts = []
    for graph, (adjacency, labels) in enumerate(_each(graphs)):
        kinds, kind = np.unique(labels, return_inverse=True)
        for start in range(0, len(labels), SOURCES):
            sources = np.arange(start, min(start + SOURCES, len(labels)))
            length = dijkstra(adjacency, unweighted=True, indices=sources)
            codes, count = _counted(length, kind[sources], kind, len(kinds))
            rest, last = np.divmod(codes, len(kinds))
            steps, first = np.divmod(rest, len(kinds))
            key = combined(kinds[first], kinds[last], steps)
            parts.append(Occurrences(np.full(len(key), graph), key, count.astype(np.float64)))
        report(graph + 1)
    return Occurrences.joined(parts)


def _counted(length: Any, first: Ints, last: Ints, kinds: int) -> tuple[Ints, Ints]:
    """Return the codes (length · kinds + first) · kinds + last in a matrix, and their counts."""
    length[np.isinf(length)] = 0  # as from a node to itself: no path
    steps = length.astype(np.int64)
    code = ((steps * kinds + first[:, None]) * kinds + last).ravel()
    if code.max() > 4 * code.size:  # too many possible codes for one counter each
        codes, count = np.unique(code, return_counts=True)
    else:
        counters = np.bincount(code)
        codes = np.flatnonzero(counters)
        count = counters[codes]
    paths = codes >= kinds**2
    return codes[paths], count[paths]


def path_sentences(graphs: GraphSet, samples: int, random: np.random.Generator) -> list[Hashes]:
    """Draw random shortest paths of each graph; a sentence holds a path and its prefixes.

    Prefixes of one path are the substructures that occur together; the shortest comes first.
    """
    sentences = []
    for adjacency, labels in _each(graphs):
        starts, start = np.unique(random.integers(len(labels), size=samples), return_inverse=True)
        _, before = dijkstra(adjacency, unweighted=True, indices=starts, return_predecessors=True)
        for row, end in zip(start, random.integers(len(labels), size=samples), strict=True):
            nodes = []
            node = int(end)
            while before[row, node] != NO_NODE:
                nodes.append(node)
                node = int(before[row, node])
            if nodes:
                ends = labels[nodes[::-1]]
                steps = np.arange(1, len(nodes) + 1)
                sentences.append(combined(labels[starts[row], None], ends, steps))
    return sentences


def _each(graphs: GraphSet) -> list[tuple[csr_array, Hashes]]:
    """Return the adjacency and the node labels of every graph."""
    labels = node_labels(graphs)
    source, target = graphs.edge_index.cpu().numpy()
    everything = csr_array(
        (np.ones(len(source)), (source, target)), shape=(graphs.num_nodes, graphs.num_nodes)
    )
    bounds = pairwise(graphs.node_ptr.tolist())
    return [(everything[a:b, a:b], labels[a:b]) for a, b in bounds]


SUBSTRUCTURES = ("wl", "shortest-path", "graphlet")
SIMILARITIES = ("vectors", "lengths", "none")
RECIPES: dict[str, dict[str, Any]] = {
    "default": {"substructures": "wl", "similarity": "vectors", "normalize": True},
    "paper": {"substructures": "wl", "similarity": "vectors", "normalize": True},
    "authors": {"substructures": "shortest-path", "similarity": "none", "normalize": False},
}


class DeepGraphKernel(GraphKernel):
    """Compare graphs by substructures; substructures that occur together count as similar (DGK).

    The kernel is K = P M Pᵀ: P counts the substructures of each graph, M is the similarity of two
    substructures: the product of their vectors, learned by skip-gram with hierarchical softmax
    (gensim's Word2Vec) from sentences of substructures that occur together. A sentence holds the
    labels of a graph's nodes after a round of refinement, a shortest path and its prefixes, or a
    graphlet and graphlets with one node exchanged. Labels and features of edges are not used; a
    warning says so.

    Parameters
    ----------
    substructures : {"wl", "shortest-path", "graphlet"}, optional
        What is counted: Weisfeiler–Lehman labels; shortest paths, by their length and the labels
        of their ends; or random graphlets. The recipe decides if None.
    similarity : {"vectors", "lengths", "none"}, optional
        M: products of the learned vectors; only their squared lengths, on the diagonal; or the
        identity, which learns nothing. The recipe decides if None.
    height : int
        Rounds of WL refinement.
    size : int
        Nodes of a graphlet, at most 9.
    n_samples : int
        Graphlets drawn from each graph, and shortest paths drawn as sentences.
    dimension, window, passes : int
        Settings of Word2Vec: length of a vector, largest distance of two substructures in a
        sentence, and passes over the sentences (in a new random order each time).
    normalize : bool, optional
        Scale the kernel so that its diagonal is 1; the recipe decides if None.
    recipe : {"default", "authors", "paper"}
        "authors": as the published comparison calls it, shortest paths without any similarity,
        not normalised. Otherwise WL labels with learned vectors, normalised.
    random_state : int, optional
        Seed of the draws and of Word2Vec.
    progress : bool
        Show a progress bar.

    Attributes
    ----------
    vocabulary_ : (S,) uint64
        The substructures of the training graphs.
    counts_ : (n_train, S) sparse
        P of the training graphs.
    vectors_ : (S, dimension) float32
        M is the product of these; (S, 0) if nothing is learned.

    References
    ----------
    P. Yanardag and S. V. N. Vishwanathan. "Deep Graph Kernels". KDD 2015.
    doi:10.1145/2783258.2783417.

    Examples
    --------
    >>> import augcl
    >>> graphs = augcl.load("MUTAG").select(range(20))
    >>> model = augcl.DeepGraphKernel(dimension=16, passes=1).fit(graphs)
    >>> model.transform(graphs).shape, model.vectors_.shape[1]
    ((20, 20), 16)
    """

    year = 2015
    revision = 2
    cost = "minutes"

    def __init__(
        self,
        *,
        substructures: str | None = None,
        similarity: str | None = None,
        height: int = 2,
        size: int = 7,
        n_samples: int = 100,
        dimension: int = 512,
        window: int = 5,
        passes: int = 5,
        normalize: bool | None = None,
        recipe: str = "default",
        random_state: int | None = 0,
        progress: bool = True,
    ) -> None:
        self.substructures = substructures
        self.similarity = similarity
        self.height = height
        self.size = size
        self.n_samples = n_samples
        self.dimension = dimension
        self.window = window
        self.passes = passes
        self.normalize = normalize
        self.recipe = recipe
        self.random_state = random_state
        self.progress = progress

    def _left_open(self) -> dict[str, Any]:
        return RECIPES[one_of(self.recipe, RECIPES, "recipe")]

    def _start(self) -> None:
        one_of(self.recipe, RECIPES, "recipe")
        one_of(self._setting("substructures"), SUBSTRUCTURES, "substructures")
        if one_of(self._setting("similarity"), SIMILARITIES, "similarity") != "none":
            need("gensim", f"DeepGraphKernel with similarity={self._setting('similarity')!r}")
        whole_number("height", self.height, least=0, most=1000)
        for name in ("n_samples", "dimension", "window", "passes"):
            whole_number(name, getattr(self, name), least=1)
        whole_number("size", self.size, least=2)
        number("size", self.size, most=LARGEST)

    def _occurrences(self, data: GraphSet) -> Occurrences:
        kind = self._setting("substructures")
        if kind == "wl":
            return subtrees(data, int(self.height))
        if kind == "shortest-path":
            title = f"shortest paths of {data.name}"
            with progress_bar(title, len(data), show=self.progress, stay=False) as report:
                return shortest_paths(data, report)
        draws = self._graphlets(data)
        return Occurrences.single(draws.graph, shape_names(draws, data))

    def _graphlets(self, data: GraphSet) -> Any:
        size, samples = int(self.size), int(self.n_samples)
        return draw_graphlets(data, size=size, samples=samples, seed=self.seed_)

    def _learn(self, data: GraphSet, generator: torch.Generator) -> None:
        super()._learn(data, generator)
        width = int(self.dimension) if self._setting("similarity") != "none" else 0
        self.vectors_ = np.zeros((len(self.vocabulary_), width), dtype=np.float32)
        if width:
            seed = int(torch.randint(LARGEST_SEED, (), generator=generator))
            self._learn_vectors(self._sentences(data, seed), generator)

    def _sentences(self, data: GraphSet, seed: int) -> Sequence[Hashes]:
        """Return lists of substructures that occur together."""
        kind = self._setting("substructures")
        if kind == "wl":
            cuts = data.node_ptr[1:-1].cpu().numpy()
            rounds = wl_labels(data, int(self.height))
            return [part for labels in rounds for part in np.split(labels, cuts)]
        if kind == "shortest-path":
            return path_sentences(data, int(self.n_samples), np.random.default_rng(seed))
        first = self._graphlets(data)
        draws = [first, *(neighbouring(first, data, i) for i in range(int(self.window)))]
        return list(np.stack([shape_names(d, data) for d in draws], axis=1))

    def _learn_vectors(self, sentences: Sequence[Hashes], generator: torch.Generator) -> None:
        """Learn vectors by skip-gram; a substructure without a sentence keeps the vector 0."""
        from gensim.models import Word2Vec  # seconds to import

        if not sentences:
            return
        known, words, counts = np.unique(
            np.concatenate(sentences), return_inverse=True, return_counts=True
        )
        lengths = torch.tensor([len(sentence) for sentence in sentences])
        texts = Texts(torch.from_numpy(words), pointer(lengths))
        model = Word2Vec(
            vector_size=int(self.dimension),
            window=int(self.window),
            sg=1,
            hs=1,
            negative=0,
            **one_worker(generator),
        )
        model.build_vocab_from_freq(frequencies(torch.from_numpy(counts)))
        model.train(
            _ShuffledTexts(texts, generator),
            total_examples=len(texts),
            epochs=int(self.passes),
        )
        _, ours, theirs = np.intersect1d(
            self.vocabulary_, known[numbers(model)], assume_unique=True, return_indices=True
        )
        self.vectors_[ours] = model.wv.vectors[theirs]

    def _weighted(self, counts: csr_array) -> Any:
        similarity = self._setting("similarity")
        if similarity == "none":
            return counts
        vectors = self.vectors_.astype(np.float64)
        if similarity == "vectors":
            return counts @ vectors
        return csr_array(counts * np.linalg.norm(vectors, axis=1))

    def _self_similarity(self, every: csr_array, weighted: Any) -> NDArray[np.float64]:
        similarity = self._setting("similarity")
        if similarity == "none":
            return super()._self_similarity(every, weighted)
        squares = weighted**2 if similarity == "vectors" else weighted.power(2)
        return np.asarray(squares.sum(axis=1), dtype=np.float64)

    def _learned(self) -> dict[str, Tensor]:
        return {**super()._learned(), "vectors": torch.from_numpy(self.vectors_)}

    def _load_learned(self, tensors: dict[str, Tensor]) -> None:
        super()._load_learned(tensors)
        self.vectors_ = tensors["vectors"].numpy()
        if len(self.vectors_) != len(self.vocabulary_):
            raise ValueError("there is not one vector per substructure")


class _ShuffledTexts:
    """Iterate over the texts in a new random order at every pass."""

    def __init__(self, texts: Texts, generator: torch.Generator) -> None:
        self.texts, self.generator = texts, generator

    def __iter__(self) -> Iterator[list[str]]:
        for text in self.texts.shuffled(self.generator):
            yield from self.texts.of(text)
