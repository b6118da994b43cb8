"""Random graphlets (small induced subgraphs) and their neighbours, for many graphs at once.

What is drawn depends on a seed and on the graph alone, so that a graph has the same graphlets
whenever and with whatever other graphs it is looked at.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from augcl.checks import number, whole_number
from augcl.data import GraphSet
from augcl.errors import one_of
from augcl.ops.hashing import Hashes, combined, draw_below, multiset_hashes
from augcl.rivals.kernel import GraphKernel, Occurrences
from augcl.training.progress import progress_bar

Ints = NDArray[np.int64]
LARGEST = 9
"""Nodes of a graphlet."""
ROWS = 1 << 15
PAIR_BITS = 40
"""The pairs of nodes of the largest graphlet have fewer; its size is written above them."""


@dataclass(frozen=True)
class Draws:
    """N sets of nodes of graphs: (N,) graph and size, (N, k) nodes, of which `size` count.

    `key` (N,) decides what else is drawn about each.
    """

    graph: Ints
    size: Ints
    nodes: Ints
    key: Hashes


def draw_graphlets(graphs: GraphSet, *, size: int, samples: int, seed: int) -> Draws:
    """`samples` sets of `size` nodes of each graph, each equally likely; of fewer nodes all."""
    graph = np.repeat(np.arange(len(graphs)), samples)
    number = np.tile(np.arange(samples), len(graphs))
    key = combined(np.array([seed]), graph_hashes(graphs)[graph], number)
    start, nodes = _starts_and_sizes(graphs)
    sizes = np.minimum(size, nodes[graph])
    chosen = np.full((len(graph), size), nodes.max(), dtype=np.int64)  # sorted, unused last
    for place in range(size):
        used = place < sizes
        drawn = draw_below(nodes[graph] - place, combined(key, np.array([place])))
        chosen[used, place] = _skipping(drawn, chosen[:, :place])[used]
        chosen[:, : place + 1].sort(axis=1)
    return Draws(graph, sizes, chosen + start[graph, None], key)


def neighbouring(draws: Draws, graphs: GraphSet, number: int) -> Draws:
    """The sets with one node exchanged for another of the graph, where there is another."""
    start, nodes = _starts_and_sizes(graphs)
    key = combined(draws.key, np.array([1000 + number]))
    local = draws.nodes - start[draws.graph, None]
    left = nodes[draws.graph] - draws.size
    unused = np.arange(local.shape[1]) >= draws.size[:, None]
    taken = np.where(unused, nodes.max(), local)
    new = _skipping(draw_below(left, combined(key, np.array([0]))), taken)
    place = draw_below(draws.size, combined(key, np.array([1])))
    rows = np.flatnonzero(left > 0)
    local[rows, place[rows]] = new[rows]
    return Draws(draws.graph, draws.size, local + start[draws.graph, None], key)


def _skipping(drawn: Ints, taken: Ints) -> Ints:
    """The `drawn`-th number that is not `taken`, of which each row is sorted."""
    value = drawn.copy()
    for column in taken.T:
        value += column <= value
    return value


def graph_hashes(graphs: GraphSet) -> Hashes:
    """(G,) a hash of the edges and the size of each graph, as they are numbered."""
    start, nodes = _starts_and_sizes(graphs)
    shift = np.repeat(start, graphs.edge_ptr.diff().cpu().numpy())
    source, target = graphs.edge_index.cpu().numpy() - shift
    edges = multiset_hashes(combined(source, target), graphs.edge_ptr.cpu().numpy())
    return combined(nodes, edges)


def _starts_and_sizes(graphs: GraphSet) -> tuple[Ints, Ints]:
    ptr = graphs.node_ptr.cpu().numpy()
    return ptr[:-1], np.diff(ptr)


class Isomorphism:
    """Names graphlets so that two have the same name if and only if they are isomorphic."""

    def __init__(self) -> None:
        self._names: dict[str, int] = {}

    def name(self, graphlet: Any) -> int:
        """The name of a graph of grakel's bliss; a hash of its canonical form."""
        written = str(graphlet)
        if written not in self._names:
            canonical = str(graphlet.relabel(graphlet.canonical_labeling()))
            digest = hashlib.blake2b(canonical.encode(), digest_size=8).digest()
            self._names[written] = int.from_bytes(digest, "little")
        return self._names[written]

    def names(self, draws: Draws, graphs: GraphSet) -> Hashes:
        """(N,) of each set of nodes with the edges between them."""
        from grakel.kernels.graphlet_sampling import bGraph  # seconds to import

        codes, inverse = np.unique(_codes(draws, graphs), return_inverse=True)
        u, v = np.triu_indices(draws.nodes.shape[1], 1)
        names = []
        for code in codes.tolist():
            edges = [(int(u[i]), int(v[i])) for i in range(len(u)) if code >> i & 1]
            both_ways = edges + [(b, a) for a, b in edges]
            names.append(self.name(bGraph(code >> PAIR_BITS, both_ways)))
        return np.array(names, dtype=np.uint64)[inverse]


def _codes(draws: Draws, graphs: GraphSet) -> Ints:
    """(N,) the size of each set, and one bit for each pair of its nodes."""
    source, target = graphs.edge_index.cpu().numpy()
    edges = np.append(np.sort(source * graphs.num_nodes + target), graphs.num_nodes**2)
    u, v = np.triu_indices(draws.nodes.shape[1], 1)
    bits = np.empty(len(draws.size), dtype=np.int64)
    for start in range(0, len(bits), ROWS):  # matrices of all at once would fill the memory
        some = slice(start, start + ROWS)
        adjacent = _adjacency(draws.nodes[some], draws.size[some], edges, graphs.num_nodes)
        bits[some] = adjacent[:, u, v] @ (1 << np.arange(len(u), dtype=np.int64))
    return draws.size << PAIR_BITS | bits


def _adjacency(nodes: Ints, size: Ints, edges: Ints, num_nodes: int) -> Ints:
    """(N, k, k) of 0 and 1, the nodes with most edges first."""
    used = np.arange(nodes.shape[1]) < size[:, None]
    wanted = nodes[:, :, None] * num_nodes + nodes[:, None, :]
    wanted[~(used[:, :, None] & used[:, None, :])] = -1
    adjacent = (edges[np.searchsorted(edges, wanted)] == wanted).astype(np.int64)
    # So ordered, a graphlet is more often the same matrix, of which fewer need a name.
    order = np.argsort(-adjacent.sum(axis=2), axis=1, kind="stable")
    adjacent = np.take_along_axis(adjacent, order[:, :, None], axis=1)
    return np.take_along_axis(adjacent, order[:, None, :], axis=2)


SAMPLES = {"default": 100, "paper": 100, "authors": 5}


class GraphletKernel(GraphKernel):
    """Compares graphs by small subgraphs drawn at random (graphlets); sees no node features.

    Of each graph, sets of 3 … `size` nodes are drawn and counted up to isomorphism, by grakel; the
    kernel is the product of two graphs' counts, divided by their lengths. What is drawn of a
    graph depends on the seed and on that graph alone, so that a graph always has the same row.

    Parameters
    ----------
    size : int
        Nodes of the largest graphlets, 3 … 9.
    n_samples : int, optional
        Graphlets drawn of each graph; by the recipe if not given.
    normalize : bool
        Every graph is 1 similar to itself.
    recipe : {"default", "authors", "paper"}
        "authors": 5 graphlets of each graph, as in the published comparison; 100 otherwise.
    random_state : int, optional
        Seed of the draws.
    progress : bool
        Show a progress bar.

    Attributes
    ----------
    vocabulary_, counts_ :
        See `GraphKernel`.

    References
    ----------
    N. Shervashidze, S. V. N. Vishwanathan, T. Petri, K. Mehlhorn and K. Borgwardt. "Efficient
    Graphlet Kernels for Large Graph Comparison". AISTATS 2009, PMLR 5:488–495.

    Examples
    --------
    >>> import augcl
    >>> graphs = augcl.load("MUTAG").select(range(20))
    >>> augcl.GraphletKernel(size=4, n_samples=20).fit_transform(graphs).shape
    (20, 20)
    """

    year = 2009
    cost = "minutes"

    def __init__(
        self,
        *,
        size: int = 5,
        n_samples: int | None = None,
        normalize: bool = True,
        recipe: str = "default",
        random_state: int | None = 0,
        progress: bool = True,
    ) -> None:
        self.size = size
        self.n_samples = n_samples
        self.normalize = normalize
        self.recipe = recipe
        self.random_state = random_state
        self.progress = progress

    def _start(self) -> None:
        one_of(self.recipe, SAMPLES, "recipe")
        whole_number("size", self.size, least=3)
        number("size", self.size, most=LARGEST)
        whole_number("n_samples", self._setting("n_samples"), least=1)

    def _left_open(self) -> dict[str, Any]:
        return {"n_samples": SAMPLES[one_of(self.recipe, SAMPLES, "recipe")]}

    def _occurrences(self, data: GraphSet) -> Occurrences:
        from grakel.kernels.graphlet_sampling import sample_graphlets_probabilistic as draw

        samples, isomorphism = int(self._setting("n_samples")), Isomorphism()
        seeds = combined(np.array([self.seed_]), graph_hashes(data)) >> np.uint64(32)
        names = np.empty((len(data), samples), dtype=np.uint64)
        title = f"GraphletKernel on {data.name}"
        with progress_bar(title, len(data), show=self.progress, stay=False) as report:
            for graph, seed in enumerate(seeds.tolist()):
                state = check_random_state(seed)
                graphlets = draw(_matrix_of(data, graph), int(self.size), samples, state)
                names[graph] = [isomorphism.name(graphlet) for graphlet in graphlets]
                report(graph + 1)
        return Occurrences.single(np.repeat(np.arange(len(data)), samples), names.ravel())


def _matrix_of(graphs: GraphSet, number: int) -> np.ndarray[Any, Any]:
    """(n, n) of 0 and 1 of one graph."""
    first, last = graphs.node_ptr[number : number + 2].tolist()
    edges = slice(*graphs.edge_ptr[number : number + 2].tolist())
    out = np.zeros((last - first, last - first), dtype=np.uint8)
    source, target = graphs.edge_index[:, edges].cpu().numpy() - first
    out[source, target] = 1
    return out
