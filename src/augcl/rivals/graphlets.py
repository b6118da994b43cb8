"""The graphlet kernel: draw and count graphlets (small induced subgraphs) of many graphs at once.

The draws depend only on the seed and on the graph, so that a graph has the same graphlets in every
data set. `shape_names` names graphlets up to isomorphism.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from augcl.checks import number, whole_number
from augcl.data.graph import GraphSet
from augcl.errors import one_of
from augcl.ops.counts import Occurrences
from augcl.ops.hashing import Hashes, combined, draw_below, mixed, multiset_hashes
from augcl.rivals.kernel import GraphKernel
from augcl.training.progress import progress_bar

Ints = NDArray[np.int64]
LARGEST = 9
"""Largest number of nodes of a graphlet."""
ROWS = 1 << 15
"""Sets of nodes whose adjacency matrices are in memory at a time."""
PAIR_BITS = 40
"""Position of the size in a name; the 40 bits below it hold the pairs of nodes (36 at most)."""


@dataclass(frozen=True)
class Draws:
    """N sets of nodes: (N,) graph and size of each, (N, k) nodes; the first `size` of a row count.

    `key` (N,) is the seed of further draws for each set.
    """

    graph: Ints
    size: Ints
    nodes: Ints
    key: Hashes


def draw_graphlets(graphs: GraphSet, *, size: int, samples: int, seed: int) -> Draws:
    """Draw `samples` sets of `size` nodes per graph, uniformly; smaller graphs give all nodes."""
    graph = np.repeat(np.arange(len(graphs)), samples)
    number = np.tile(np.arange(samples), len(graphs))
    key = combined(np.array([seed]), graph_hashes(graphs)[graph], number)
    start, nodes = _starts_and_sizes(graphs)
    sizes = np.minimum(size, nodes[graph])
    chosen = np.full((len(graph), size), nodes.max(), dtype=np.int64)  # sorted, unused entries last
    for place in range(size):
        used = place < sizes
        drawn = draw_below(nodes[graph] - place, combined(key, np.array([place])))
        chosen[used, place] = _skipping(drawn, chosen[:, :place])[used]
        chosen[:, : place + 1].sort(axis=1)
    return Draws(graph, sizes, chosen + start[graph, None], key)


def neighbouring(draws: Draws, graphs: GraphSet, number: int) -> Draws:
    """Return the sets with one node exchanged for another node of the graph, if there is one."""
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
    """Return the `drawn`-th number that is not in `taken`, whose rows are sorted."""
    value = drawn.copy()
    for column in taken.T:
        value += column <= value
    return value


def graph_hashes(graphs: GraphSet) -> Hashes:
    """Return (G,) hashes of the size and the numbered edges of each graph."""
    start, nodes = _starts_and_sizes(graphs)
    shift = np.repeat(start, graphs.edge_ptr.diff().cpu().numpy())
    source, target = graphs.edge_index.cpu().numpy() - shift
    edges = multiset_hashes(combined(source, target), graphs.edge_ptr.cpu().numpy())
    return combined(nodes, edges)


def _starts_and_sizes(graphs: GraphSet) -> tuple[Ints, Ints]:
    ptr = graphs.node_ptr.cpu().numpy()
    return ptr[:-1], np.diff(ptr)


def shape_names(draws: Draws, graphs: GraphSet) -> Hashes:
    """Return (N,) names of the subgraphs induced by the sets; isomorphic ones have equal names.

    Different shapes have different names. A name holds the number of nodes, and one bit per pair of
    nodes in the canonical order.
    """
    codes, inverse = np.unique(_codes(draws, graphs), return_inverse=True)
    width = draws.nodes.shape[1]
    u, v = _pairs(width)
    adjacent = np.zeros((len(codes), width, width), dtype=bool)
    adjacent[:, u, v] = adjacent[:, v, u] = codes[:, None] >> np.arange(len(u)) & 1
    return (codes >> PAIR_BITS << PAIR_BITS | canonical_bits(adjacent)).astype(np.uint64)[inverse]


def canonical_bits(adjacent: NDArray[np.bool_]) -> Ints:
    """Return (N,) the smallest code of each (k, k) adjacency matrix over its canonical node orders.

    The nodes are sorted by colours that do not depend on their numbers. If two nodes of a graph
    share a colour, each node of the first such colour is singled out in turn (as nauty and bliss
    do), and the colours of each of these cases are refined. All graphs are processed at once.
    """
    graph = np.arange(len(adjacent))
    colour = combined(adjacent.sum(axis=2), _earlier_twins(adjacent))
    best = np.full(len(adjacent), np.iinfo(np.int64).max)
    while len(graph):
        colour = _refined(adjacent[graph], colour)
        ordered = np.sort(colour, axis=1)
        again = ordered[:, 1:] == ordered[:, :-1]
        settled = ~again.any(axis=1)
        order = np.argsort(colour[settled], axis=1)
        np.minimum.at(best, graph[settled], _bits(_reordered(adjacent[graph[settled]], order)))
        graph, colour, ordered = graph[~settled], colour[~settled], ordered[~settled]
        first = np.take_along_axis(ordered, again[~settled].argmax(axis=1)[:, None], axis=1)
        row, node = np.nonzero(colour == first)
        graph, colour = graph[row], colour[row]
        colour[np.arange(len(row)), node] ^= np.uint64(1)
    return best


def _earlier_twins(adjacent: NDArray[np.bool_]) -> Ints:
    """Return (N, k) for each node the number of earlier nodes with the same neighbours (twins).

    Exchanging twins does not change the graph, so any order of them is canonical. This leaves few
    cases for complete, empty and other graphs with many symmetries.
    """
    itself = np.eye(adjacent.shape[1], dtype=bool)
    twins = np.zeros(adjacent.shape, dtype=bool)
    for neighbours in (adjacent, adjacent | itself):
        twins |= (neighbours[:, :, None] == neighbours[:, None, :]).all(axis=3)
    count: Ints = np.tril(twins, -1).sum(axis=2)
    return count


def _refined(adjacent: NDArray[np.bool_], colour: Hashes) -> Hashes:
    """Return colours that also depend on the colours of the nodes up to three steps away."""
    for _ in range(3):
        # Mixed twice: `combined` mixes once, and a + b would not depend on which node is which.
        around = np.where(adjacent, mixed(mixed(colour))[:, None, :], np.uint64(0))
        colour = combined(colour, around.sum(axis=2))
    return colour


def _codes(draws: Draws, graphs: GraphSet) -> Ints:
    """Return (N,) codes: the size of each set, and one bit for each pair of its nodes."""
    source, target = graphs.edge_index.cpu().numpy()
    edges = np.append(np.sort(source * graphs.num_nodes + target), graphs.num_nodes**2)
    bits = np.empty(len(draws.size), dtype=np.int64)
    for start in range(0, len(bits), ROWS):  # the matrices of all sets would fill the memory
        some = slice(start, start + ROWS)
        adjacent = _adjacency(draws.nodes[some], draws.size[some], edges, graphs.num_nodes)
        # With nodes sorted by degree, more sets share a code, and fewer codes need a name.
        order = np.argsort(-adjacent.sum(axis=2), axis=1, kind="stable")
        bits[some] = _bits(_reordered(adjacent, order))
    return draws.size << PAIR_BITS | bits


def _adjacency(nodes: Ints, size: Ints, edges: Ints, num_nodes: int) -> NDArray[np.bool_]:
    """Return (N, k, k) bool: which nodes of each set are adjacent."""
    used = np.arange(nodes.shape[1]) < size[:, None]
    wanted = nodes[:, :, None] * num_nodes + nodes[:, None, :]
    wanted[~(used[:, :, None] & used[:, None, :])] = -1
    joined: NDArray[np.bool_] = edges[np.searchsorted(edges, wanted)] == wanted
    return joined


def _reordered(adjacent: NDArray[np.bool_], order: Ints) -> NDArray[np.bool_]:
    """Return the matrices with rows and columns in the given order (N, k)."""
    adjacent = np.take_along_axis(adjacent, order[:, :, None], axis=1)
    return np.take_along_axis(adjacent, order[:, None, :], axis=2)


def _bits(adjacent: NDArray[np.bool_]) -> Ints:
    """Return (N,) numbers whose bits are the pairs of adjacent nodes."""
    u, v = _pairs(adjacent.shape[1])
    bits: Ints = adjacent[:, u, v] @ (1 << np.arange(len(u), dtype=np.int64))
    return bits


def _pairs(size: int) -> tuple[Ints, Ints]:
    return np.triu_indices(size, 1)


SAMPLES = {"default": 100, "paper": 100, "authors": 5}


class GraphletKernel(GraphKernel):
    """Compare graphs by small random subgraphs (graphlets); node features are ignored.

    From each graph, sets of 3 … `size` nodes are drawn and counted up to isomorphism. The kernel is
    the product of the count vectors of two graphs, divided by their lengths. The draws depend only
    on the seed and on the graph, so that a graph has the same counts in every data set.

    Parameters
    ----------
    size : int
        Number of nodes of the largest graphlets, 3 … 9.
    n_samples : int, optional
        Graphlets drawn from each graph; decided by the recipe if None.
    normalize : bool
        Scale the kernel so that its diagonal is 1.
    recipe : {"default", "authors", "paper"}
        "authors": 5 graphlets per graph, as in the published comparison; otherwise 100.
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
    Graphlet Kernels for Large Graph Comparison". AISTATS 2009, PMLR 5:488–495,
    https://proceedings.mlr.press/v5/shervashidze09a.html.

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
        draws = self._draws(data)
        return Occurrences.single(draws.graph, shape_names(draws, data))

    def _draws(self, data: GraphSet) -> Draws:
        """Draw the size of each graphlet, then its nodes, in the same order as grakel does."""
        from sklearn.utils import check_random_state  # slow to import

        samples, largest = int(self._setting("n_samples")), int(self.size)
        start, nodes = _starts_and_sizes(data)
        key = combined(np.array([self.seed_]), graph_hashes(data))
        size = np.empty((len(data), samples), dtype=np.int64)
        chosen = np.zeros((len(data), samples, largest), dtype=np.int64)
        title = f"GraphletKernel on {data.name}"
        with progress_bar(title, len(data), show=self.progress, stay=False) as report:
            for graph, seed in enumerate((key >> np.uint64(32)).tolist()):
                random, count = check_random_state(seed), int(nodes[graph])
                fewest, most = min(3, count), min(largest, count)
                for i in range(samples):
                    drawn = random.randint(fewest, most + 1) if fewest < most else most
                    size[graph, i] = drawn
                    chosen[graph, i, :drawn] = random.choice(count, drawn, replace=False)
                report(graph + 1)
        graph_of = np.repeat(np.arange(len(data)), samples)
        absolute = chosen.reshape(-1, largest) + start[graph_of, None]
        return Draws(graph_of, size.ravel(), absolute, key[graph_of])
