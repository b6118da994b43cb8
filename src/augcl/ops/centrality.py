"""How central each node of an undirected graph is."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from augcl.ops.csr import Adjacency


def degree(edges: Adjacency) -> Tensor:
    """(V,) number of edges."""
    return edges.incoming.ptr.diff().float()


def lazy_walk(edges: Adjacency, steps: int = 200) -> Tensor:
    """(V,) x ← 0.15 x + 0.85 Pᵀ x from x = 1: what the released code of GCA calls PageRank.

    Without a restart it forgets its start: within a connected component it tends to the degree
    over the mean degree. An isolated node fades to 0.15^steps.
    """
    share = 1 / degree(edges).clamp_min(1)[:, None]
    x = torch.ones_like(share)
    for _ in range(steps):
        x = 0.15 * x + 0.85 * edges.incoming.times(x * share)
    return x[:, 0]


def pagerank(edges: Adjacency, steps: int = 200) -> Tensor:
    """(V,) PageRank with restart probability 0.15, scaled to mean 1."""
    share = 1 / degree(edges).clamp_min(1)[:, None]
    lonely = (degree(edges) == 0)[:, None]
    x = torch.ones_like(share)
    for _ in range(steps):
        spread = edges.incoming.times(x * share) + (x * lonely).mean()
        x = 0.15 + 0.85 * spread
    return x[:, 0]


def eigenvector(edges: Adjacency, steps: int = 1000, tolerance: float = 1e-7) -> Tensor:
    """(V,) leading eigenvector of the adjacency, not negative, of length 1.

    On a graph in pieces it is 0 outside the densest of them. Iterates A + I, which has the same
    eigenvectors and, unlike A on a bipartite graph, one largest eigenvalue.
    """
    x = torch.ones_like(degree(edges))[:, None].double()
    x /= x.norm()
    for _ in range(steps):
        new = edges.incoming.times(x) + x
        new /= new.norm()
        if float((new - x).abs().sum()) < tolerance * len(x):
            x = new
            break
        x = new
    return x[:, 0].float()


CENTRALITY: dict[str, Callable[[Adjacency], Tensor]] = {
    "degree": degree,
    "pagerank": pagerank,
    "eigenvector": eigenvector,
}
