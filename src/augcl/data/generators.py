"""Data sets without a download: random graphs, and graphs from scikit-learn's digits."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy.sparse import coo_array, csr_array, vstack
from scipy.sparse.csgraph import connected_components

from augcl.data.graph import GraphSet
from augcl.data.node_graph import NodeGraph
from augcl.errors import InputError, one_of
from augcl.ops.segments import pointer

Array = np.ndarray[Any, np.dtype[np.int64]]


def components(
    per_class: int = 500,
    *,
    classes: int = 3,
    nodes: tuple[int, int] = (15, 20),
    p: float = 0.15,
    seed: int = 0,
) -> GraphSet:
    """Random graphs whose class is their number of connected components (Dai et al. 2018).

    A graph of class c − 1 has c components. Each has a uniform number of nodes from
    ⌊nodes[0]/c⌋ to ⌊nodes[1]/c⌋ and edges with probability `p`; if that leaves it in pieces, the
    pieces are shuffled and each is joined to the next by one random edge. Features are constant.

    Parameters
    ----------
    per_class : int
        Graphs of each class; the set has ``per_class * classes``, class after class.
    classes : int
        C; the largest number of components.
    nodes : (int, int)
        Range of the number of nodes in a graph.
    p : float
        Probability of an edge within a component.
    seed : int
        Same seed, same graphs.

    Examples
    --------
    >>> graphs = components(per_class=2, seed=1)
    >>> len(graphs), graphs.y.tolist()
    (6, [0, 0, 1, 1, 2, 2])
    """
    low, high = nodes
    if per_class < 1 or classes < 1:
        raise InputError("per_class and classes must be at least 1")
    if not classes <= low <= high:
        raise InputError(f"nodes={nodes}: give a range (low, high) with {classes} <= low <= high")
    if not 0 <= p <= 1:
        raise InputError(f"p={p}: give a probability from 0 to 1")
    rng = np.random.default_rng(seed)
    parts = np.repeat(np.arange(1, classes + 1), per_class)  # components of each graph
    graph = np.repeat(np.arange(len(parts)), parts)  # graph of each component
    size = rng.integers(low // parts[graph], high // parts[graph], endpoint=True)
    drawn = _random_pairs(size, p, rng)
    chains = _chain_pieces(drawn, np.repeat(np.arange(len(size)), size), rng)
    return GraphSet.from_arrays(
        pairs=torch.from_numpy(np.concatenate([drawn, chains], axis=1)),
        graph_of_node=torch.from_numpy(np.repeat(graph, size)),
        num_graphs=len(parts),
        y=torch.from_numpy(parts - 1),
        name="components",
    )


def _random_pairs(size: Array, p: float, rng: np.random.Generator) -> Array:
    """Draw (2, P) pairs i < j within each block of `size` nodes, each with probability `p`."""
    first = np.cumsum(size) - size
    pairs = []
    for n in np.unique(size):  # blocks of one size are drawn together
        i, j = np.triu_indices(n, k=1)
        block, pair = np.nonzero(rng.random((np.count_nonzero(size == n), len(i))) < p)
        start = first[size == n][block]
        pairs.append(np.stack([start + i[pair], start + j[pair]]))
    return np.concatenate(pairs, axis=1)


def _chain_pieces(pairs: Array, block: Array, rng: np.random.Generator) -> Array:
    """Draw (2, Q) edges that connect the pieces of each block, in random order, to a chain."""
    union = coo_array((np.ones(pairs.shape[1]), (pairs[0], pairs[1])), shape=(len(block),) * 2)
    count, piece_of_node = connected_components(union, directed=False)
    piece = rng.permutation(count)[piece_of_node]  # shuffled, so that sorting is a random order
    by_piece = np.lexsort((piece, block))
    starts = np.flatnonzero(np.diff(piece[by_piece], prepend=-1))
    length = np.diff(starts, append=len(block))

    def one_of_each() -> Array:
        picked: Array = by_piece[starts + rng.integers(length)]
        return picked

    same_block = np.diff(block[by_piece[starts]]) == 0
    return np.stack([one_of_each()[:-1][same_block], one_of_each()[1:][same_block]])


def digits(threshold: int = 8) -> GraphSet:
    """Return scikit-learn's 1,797 handwritten digits, each image a graph of its bright pixels.

    Nodes are the pixels with an intensity of at least `threshold` (of 0 … 16, default half);
    edges join pixels that touch, corners included. The three features are intensity / 16,
    row / 7 and column / 7; the class is the digit.

    >>> digits()
    GraphSet('digits': 1797 graphs, 37151 nodes, 151348 edge entries, 3 features, 10 classes)
    """
    from sklearn.datasets import load_digits

    images, y = load_digits(return_X_y=True)
    images = images.reshape(-1, 8, 8)
    bright = images >= threshold
    if not bright.any(axis=(1, 2)).all():
        raise InputError(f"threshold {threshold} leaves a digit without pixels: choose 8 or less")
    number = np.cumsum(bright).reshape(bright.shape) - 1
    graph, row, column = np.nonzero(bright)
    pairs = []
    for here, there in _TOUCHING:
        both = bright[:, *here] & bright[:, *there]
        pairs.append(np.stack([number[:, *here][both], number[:, *there][both]]))
    return GraphSet.from_arrays(
        pairs=torch.from_numpy(np.concatenate(pairs, axis=1)),
        graph_of_node=torch.from_numpy(graph),
        num_graphs=len(images),
        x=torch.from_numpy(np.stack([images[bright] / 16, row / 7, column / 7], axis=1)),
        y=torch.from_numpy(y.astype(np.int64)),
        name="digits",
    )


def digits_knn(k: int = 10) -> NodeGraph:
    """Return scikit-learn's 1,797 handwritten digits as one graph of `k` nearest neighbours.

    Distance is Euclidean over the 64 pixels, ties go to the first; an edge exists if one end is
    among the nearest of the other. Features are the pixels, 0 … 1; the class is the digit.

    >>> digits_knn()
    NodeGraph('digits-knn': 1797 nodes, 24678 edge entries, 64 features, 10 classes)
    """
    from sklearn.datasets import load_digits

    pixels, y = load_digits(return_X_y=True)
    if not 1 <= k < len(pixels):
        raise InputError(f"k={k}: give a number of neighbours from 1 to {len(pixels) - 1}")
    whole = pixels.astype(np.int64)  # exact, so that the graph is the same on every machine
    square = (whole * whole).sum(axis=1)
    distance = square[:, None] + square - 2 * whole @ whole.T
    np.fill_diagonal(distance, distance.max() + 1)
    nearest = np.argsort(distance, axis=1, kind="stable")[:, :k]
    return NodeGraph.from_arrays(
        pairs=torch.from_numpy(np.stack([np.repeat(np.arange(len(y)), k), nearest.ravel()])),
        num_nodes=len(y),
        x=torch.from_numpy(pixels / 16),
        y=torch.from_numpy(y.astype(np.int64)),
        name="digits-knn",
    )


# The four directions in which two pixels touch: right, down and both diagonals.
_ALL, _HEAD, _TAIL = slice(None), slice(None, -1), slice(1, None)
_TOUCHING = (
    ((_ALL, _HEAD), (_ALL, _TAIL)),
    ((_HEAD, _ALL), (_TAIL, _ALL)),
    ((_HEAD, _HEAD), (_TAIL, _TAIL)),
    ((_HEAD, _TAIL), (_TAIL, _HEAD)),
)


SIZES: dict[str, tuple[tuple[int, int], float]] = {
    "15-20": ((15, 20), 0.15),
    "40-50": ((40, 50), 0.05),
    "90-100": ((90, 100), 0.02),
}
"""Range of the number of nodes and probability of an edge (Dai et al. 2018)."""


def component_sets(
    size: str = "15-20", *, per_class: int = 5000, seed: int = 0
) -> tuple[GraphSet, GraphSet]:
    """Return training and test graphs whose class is their number of components, 1, 2 or 3.

    Parameters
    ----------
    size : {"15-20", "40-50", "90-100"}
        Nodes of a graph.
    per_class : int
        Graphs of each class; the first 90 % are for training, the last 10 % for testing.
    seed : int
        Same seed, same graphs.

    Examples
    --------
    >>> train, test = component_sets(per_class=50)
    >>> len(train), len(test), test.y.bincount().tolist()
    (135, 15, [5, 5, 5])
    """
    nodes, p = SIZES[one_of(size, SIZES, "size of components")]
    return first_and_last(components(per_class, nodes=nodes, p=p, seed=seed))


def first_and_last(graphs: GraphSet) -> tuple[GraphSet, GraphSet]:
    """Split into the first 90 % of every class and the rest; graphs keep their order."""
    if graphs.y is None:
        raise InputError(f"{graphs.name} has no labels: a split by class needs them")
    by_class = torch.argsort(graphs.y, stable=True)
    counts = torch.bincount(graphs.y)
    rank = torch.arange(len(graphs)) - pointer(counts)[:-1][graphs.y[by_class]]
    first = rank < (counts.double() * 0.9).round().long()[graphs.y[by_class]]
    train, test = (graphs.select(by_class[part].sort().values) for part in (first, ~first))
    return train, test


def planted(
    nodes: int = 10_000,
    *,
    classes: int = 10,
    degree: float = 20.0,
    homophily: float = 0.7,
    features: int = 64,
    noise: float = 3.0,
    words: bool = False,
    seed: int = 0,
) -> NodeGraph:
    """Return one random graph with planted classes: a test bed of any size.

    Nodes have uniform classes and power-law popularity (exponent 2.5, at most √nodes). Each of
    ``nodes * degree / 2`` edges starts at a node drawn by popularity and ends at a node of the same
    class with probability `homophily`, else of another class, drawn by popularity too; loops and
    repeated edges are left out.

    Parameters
    ----------
    nodes, classes : int
    degree : float
        Mean degree, before loops and repeated edges are left out.
    homophily : float
        Share of edges inside a class.
    features : int
        Columns.
    noise : float
        Standard deviation around the mean of the class, whose columns have standard deviation 1.
        With `words`: how many times as often as a word of its class a node has any other word.
    words : bool
        Columns of 0 and 1 instead of numbers: every class has its own `features` / `classes` words.
    seed : int
        Same seed, same graph.

    Examples
    --------
    >>> planted(200, classes=4, degree=6, features=8)
    NodeGraph('planted-200': 200 nodes, 1078 edge entries, 8 features, 4 classes)
    """
    if not 1 <= classes <= nodes:
        raise InputError(f"classes={classes}: give a number from 1 to {nodes}, the number of nodes")
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=nodes)
    popularity = np.minimum((1 - rng.random(nodes)) ** (-1 / 1.5), nodes**0.5)
    by_class = np.argsort(y, kind="stable")
    ends = np.cumsum(popularity[by_class])
    last = np.cumsum(np.bincount(y, minlength=classes))  # where each class ends in that order
    mass = np.concatenate([[0.0], ends])[np.concatenate([[0], last])]

    edges = int(nodes * degree / 2)
    source = by_class[np.searchsorted(ends, rng.random(edges) * ends[-1], side="right")]
    low, high = mass[y[source]], mass[y[source] + 1]
    inside = (rng.random(edges) < homophily) | (high - low >= ends[-1])
    draw = rng.random(edges)
    other = draw * (ends[-1] - (high - low))  # a place outside the own class
    place = np.where(
        inside, low + draw * (high - low), np.where(other < low, other, other + high - low)
    )
    target = by_class[np.minimum(np.searchsorted(ends, place, side="right"), nodes - 1)]

    if words:
        own = np.arange(features) * classes // features  # the class of each word
        rate = 8 / (features / classes) / (1 + noise)  # eight words a node, of its class and others
        every = np.arange(classes)[:, None]
        chance = np.where(own == every, rate, rate * noise / max(classes - 1, 1))
        pieces = np.array_split(np.arange(nodes), max(1, nodes * features // 10_000_000))
        x: Any = vstack(
            [
                csr_array(rng.random((len(p), features)) < chance[y[p]], dtype=np.float32)
                for p in pieces
            ],
            format="csr",
        )
    else:
        means = rng.standard_normal((classes, features), dtype=np.float32)
        x = means[y] + np.float32(noise) * rng.standard_normal((nodes, features), dtype=np.float32)
    return NodeGraph.from_arrays(
        pairs=torch.from_numpy(np.stack([source, target])),
        num_nodes=nodes,
        x=torch.from_numpy(x) if isinstance(x, np.ndarray) else x,
        y=torch.from_numpy(y),
        name=f"planted-{nodes}",
    )
