"""Views of one graph through its dense adjacency matrix, as the released code makes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor


class Graph(NamedTuple):
    """One graph: (n, F) features and (2, m) directed edge entries."""

    x: Tensor
    edge_index: Tensor


def drop_nodes(graph: Graph, rng: np.random.Generator, ratio: float = 0.1) -> Graph:
    """Remove floor(ratio · n) nodes."""
    n = len(graph.x)
    kept = np.sort(rng.permutation(n)[int(ratio * n) :])
    return Graph(graph.x[kept], _edges(_dense(graph)[kept][:, kept]))


def perturb_edges(graph: Graph, rng: np.random.Generator, ratio: float = 0.1) -> Graph:
    """Remove floor(ratio · m) directed entries, append as many random ordered pairs."""
    n, m = len(graph.x), graph.edge_index.shape[1]
    count = int(ratio * m)
    kept = rng.choice(m, m - count, replace=False) if m else np.empty(0, dtype=np.int64)
    added = torch.from_numpy(rng.integers(n, size=(2, count)))
    return Graph(graph.x, torch.cat([graph.edge_index[:, kept], added], dim=1))


def star(graph: Graph, rng: np.random.Generator, ratio: float = 0.2) -> Graph:
    """Keep a seed and some of its direct neighbours, seed first, with a self-loop on every node.

    Draw with replacement, at most n times, until there are floor(ratio · n) + 1 nodes.
    """
    n = len(graph.x)
    source, target = graph.edge_index.numpy()
    kept = [int(rng.integers(n))]
    neighbours = sorted(set(target[source == kept[0]].tolist()))
    draws = 0
    while len(kept) <= int(ratio * n) and draws < n and neighbours:
        draws += 1
        node = int(rng.choice(neighbours))
        if node not in kept:
            kept.append(node)
    adjacency = _dense(graph)[kept][:, kept]
    adjacency[range(len(kept)), range(len(kept))] = 1
    return Graph(graph.x[kept], _edges(adjacency))


def mask_nodes(graph: Graph, rng: np.random.Generator, ratio: float = 0.1) -> Graph:
    """Set the features of floor(ratio · n) nodes to zero."""
    n = len(graph.x)
    x = graph.x.clone()
    x[rng.choice(n, int(ratio * n), replace=False)] = 0
    return Graph(x, graph.edge_index)


VIEWS: dict[str, list[Callable[[Graph, np.random.Generator], Graph]]] = {
    "random2": [drop_nodes, star],
    "random3": [drop_nodes, perturb_edges, star],
    "random4": [drop_nodes, perturb_edges, star, mask_nodes],
}


def random_view(graph: Graph, rng: np.random.Generator, mode: str = "random2") -> Graph:
    """Return one of the views of `mode`, chosen uniformly at random."""
    views = VIEWS[mode]
    return views[rng.integers(len(views))](graph, rng)


def _dense(graph: Graph) -> Tensor:
    adjacency = torch.zeros(len(graph.x), len(graph.x))
    adjacency[graph.edge_index[0], graph.edge_index[1]] = 1
    return adjacency


def _edges(adjacency: Tensor) -> Tensor:
    return adjacency.nonzero().T
