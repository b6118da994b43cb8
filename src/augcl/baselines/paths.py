"""Shortest paths of graphs: each is named by the labels of its ends and its length."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from augcl.baselines.kernel import Occurrences
from augcl.baselines.node_labels import node_labels
from augcl.data import GraphSet
from augcl.ops.hashing import Hashes, combined

Ints = NDArray[np.int64]
NO_NODE = -9999  # SciPy's word for it
SOURCES = 256  # whose distances to all nodes are in memory at once
Report = Callable[[int], None]


def shortest_paths(graphs: GraphSet, report: Report = lambda done: None) -> Occurrences:
    """The shortest paths between all ordered pairs of nodes that are connected."""
    parts = []
    for number, (adjacency, labels) in enumerate(_each(graphs)):
        kinds, kind = np.unique(labels, return_inverse=True)
        for start in range(0, len(labels), SOURCES):
            sources = np.arange(start, min(start + SOURCES, len(labels)))
            length = dijkstra(adjacency, unweighted=True, indices=sources)
            codes, count = _counted(length, kind[sources], kind, len(kinds))
            rest, last = np.divmod(codes, len(kinds))
            steps, first = np.divmod(rest, len(kinds))
            key = combined(kinds[first], kinds[last], steps)
            parts.append(Occurrences(np.full(len(key), number), key, count.astype(np.float64)))
        report(number + 1)
    return Occurrences.joined(parts)


def _counted(length: Any, first: Ints, last: Ints, kinds: int) -> tuple[Ints, Ints]:
    """The codes (length · kinds + first) · kinds + last that occur in a matrix, and how often."""
    length[np.isinf(length)] = 0  # as from a node to itself: no path
    steps = length.astype(np.int64)
    code = ((steps * kinds + first[:, None]) * kinds + last).ravel()
    if code.max() > 4 * code.size:  # too many to have a counter each
        codes, count = np.unique(code, return_counts=True)
    else:
        counters = np.bincount(code)
        codes = np.flatnonzero(counters)
        count = counters[codes]
    paths = codes >= kinds**2
    return codes[paths], count[paths]


def path_sentences(graphs: GraphSet, samples: int, random: np.random.Generator) -> list[Hashes]:
    """Random shortest paths of each graph, each with its beginnings, from the shortest on.

    Paths that begin at the same node and lie in one another are what occurs together.
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
    """The adjacency and the node labels of every graph."""
    labels = node_labels(graphs)
    source, target = graphs.edge_index.cpu().numpy()
    everything = csr_array(
        (np.ones(len(source)), (source, target)), shape=(graphs.num_nodes, graphs.num_nodes)
    )
    bounds = pairwise(graphs.node_ptr.tolist())
    return [(everything[a:b, a:b], labels[a:b]) for a, b in bounds]
