"""Connected components and bridges of all graphs of a batch at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra
from torch import Tensor

from augcl.ops.hashing import mixed

Array = np.ndarray[Any, Any]


def component_of_node(edge_index: Tensor, num_nodes: int) -> Tensor:
    """Return (V,) the connected component of each node, numbered 0 … C − 1.

    >>> component_of_node(torch.tensor([[0, 2], [2, 0]]), 3).tolist()
    [0, 1, 0]
    """
    source, target = edge_index.cpu().numpy()
    if len(source) and (source[1:] >= source[:-1]).all():  # in order: nothing has to be sorted
        starts = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=num_nodes))])
        entries = (np.ones(len(target), dtype=np.int8), target, starts)
        matrix = csr_array(entries, shape=(num_nodes, num_nodes))
    else:
        matrix = _matrix(source, target, num_nodes)
    _, component = connected_components(matrix, directed=False)
    return torch.from_numpy(component.astype(np.int64)).to(edge_index.device)


def bridges(edges: Tensor, num_nodes: int) -> Tensor:
    """Return (P,) whether each edge is a bridge: without it, its component falls apart.

    `edges` (2, P) holds every edge once. A spanning forest leaves some edges out; an edge of the
    forest is a bridge if and only if no left-out edge joins its two sides. Each left-out edge adds
    +r at one end and −r at the other, where r is its own 64-bit hash: in the sum over one side,
    edges with both ends on that side cancel.

    >>> bridges(torch.tensor([[0, 1, 2, 2], [1, 2, 0, 3]]), 4).tolist()
    [False, False, False, True]
    """
    u, v = edges.cpu().numpy()
    parent, depth = _spanning_forest(u, v, num_nodes)
    of_forest = (parent[u] == v) | (parent[v] == u)
    number = mixed(np.arange(len(u)))
    crossing = np.zeros(num_nodes, dtype=np.uint64)
    np.add.at(crossing, u[~of_forest], number[~of_forest])
    np.subtract.at(crossing, v[~of_forest], number[~of_forest])
    order = np.argsort(-depth, kind="stable")
    for level in np.split(order, np.flatnonzero(np.diff(depth[order])) + 1):
        below = level[parent[level] >= 0]
        np.add.at(crossing, parent[below], crossing[below])
    child = np.where(parent[u] == v, u, v)
    return torch.from_numpy(of_forest & (crossing[child] == 0)).to(edges.device)


def _spanning_forest(u: Array, v: Array, num_nodes: int) -> tuple[Array, Array]:
    """Return the parent (−1: none) and the depth of each node in a forest of shortest paths."""
    _, component = connected_components(_matrix(u, v, num_nodes), directed=False)
    _, roots = np.unique(component, return_index=True)
    # One more node joined to every root: a single search serves all graphs.
    above = np.full(len(roots), num_nodes)
    joined = _matrix(np.concatenate([u, v, above]), np.concatenate([v, u, roots]), num_nodes + 1)
    depth, parent = dijkstra(
        joined, indices=np.array(num_nodes), unweighted=True, return_predecessors=True
    )
    parent = np.where(parent[:num_nodes] == num_nodes, -1, parent[:num_nodes])
    return parent.astype(np.int64), depth[:num_nodes].astype(np.int64)


def _matrix(row: Array, column: Array, size: int) -> csr_array:
    return csr_array((np.ones(len(row), dtype=np.float64), (row, column)), shape=(size, size))
