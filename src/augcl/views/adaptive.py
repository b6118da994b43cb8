"""GCA's probabilities: edges and feature columns that matter are dropped more rarely."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from augcl.ops.centrality import degree, eigenvector, lazy_walk, pagerank
from augcl.ops.csr import Adjacency, SparseMatrix
from augcl.views.nodes import NodeViews

MOST = 0.7
"""No edge and no column is dropped with a higher probability."""

CENTRALITIES = ("degree", "pagerank", "eigenvector")


class Importance(NamedTuple):
    """Log importance of each edge (E,) and feature column (F,); −∞ for an empty column."""

    edges: Tensor
    columns: Tensor


def importance(views: NodeViews, centrality: str, *, recipe: str = "default") -> Importance:
    """Edges count by the node they point to, columns by the nodes that have them.

    Parameters
    ----------
    views : NodeViews
    centrality : {"degree", "pagerank", "eigenvector"}
    recipe : {"default", "authors", "paper"}
        "paper": an edge counts by the mean of both its ends, and PageRank restarts; else by its
        target, and "pagerank" is the released code's walk without restart.
    """
    edges = views.clean.edges
    for_edges, for_columns = _centrality(edges, centrality, recipe)
    source, target = views.edge_index
    of_edges = for_edges[target]
    if recipe == "paper":
        of_edges = (for_edges[source] + of_edges) / 2
    return Importance(of_edges.log(), _column_mass(views.features, for_columns).log())


def _centrality(edges: Adjacency, name: str, recipe: str) -> tuple[Tensor, Tensor]:
    """The centrality as it counts for edges and for columns."""
    if name == "degree":
        return degree(edges), degree(edges)
    if name == "eigenvector":
        values = eigenvector(edges)
        return values.clamp_min(0) + 1e-8, values
    if recipe == "paper":
        return pagerank(edges), pagerank(edges)
    return lazy_walk(edges, 200), lazy_walk(edges, 10)


def _column_mass(features: Tensor | SparseMatrix, centrality: Tensor) -> Tensor:
    """(F,) Σ_v [x_vd ≠ 0] φ(v); with signed features, which are never 0, Σ_v |x_vd| φ(v)."""
    if isinstance(features, SparseMatrix):
        entries = features.columns
        values = entries.values
        assert values is not None
        size = (values != 0).float() if bool((values >= 0).all()) else values.abs()
        return entries._replace(values=size).times(centrality[:, None])[:, 0]
    sizes = (features != 0).float() if bool((features >= 0).all()) else features.abs()
    return centrality @ sizes


def drop_probability(log_importance: Tensor, rate: float, *, recipe: str = "default") -> Tensor:
    """(K,) min( (s_max − s) / (s_max − s̄) · rate, 0.7 ): about `rate` on average.

    An empty column (importance 0, s = −∞) is left out of mean and maximum and gets the highest
    probability, which changes nothing. In the released code (`recipe` "authors") one such column
    makes all of them NaN, and these become 0.7.

    >>> drop_probability(torch.tensor([0.0, 1.0, 2.0]), 0.3)
    tensor([0.6000, 0.3000, 0.0000])
    """
    finite = torch.isfinite(log_importance)
    if recipe == "authors" and not bool(finite.all()):
        return torch.full_like(log_importance, MOST)
    if rate == 0:  # also of empty columns: ∞ · 0 is no probability
        return torch.zeros_like(log_importance)
    known = log_importance[finite]
    if not len(known):
        return torch.full_like(log_importance, min(rate, MOST))
    spread = known.max() - known.mean()
    if float(spread) < 1e-6 * (1 + float(known.max().abs())):  # all are equally important
        even = torch.full_like(log_importance, min(rate, MOST))
        return even.masked_fill(~finite, MOST)
    probability = (known.max() - log_importance) / spread * rate
    return probability.clamp(0, MOST)
