"""Views of one graph: some edges dropped, some feature columns masked for all nodes.

`TwoViews` draws the two views of GRACE, which drops all edges and columns alike, and of GCA, which
drops those more rarely that belong to central nodes (`importance`, `drop_probability`). `half_hop`
puts slow nodes on edges, which delay messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import torch
from torch import Tensor

from augcl.data.node_graph import NodeGraph
from augcl.ops.csr import Adjacency, Rows, SparseMatrix
from augcl.ops.segments import pointer

MOST = 0.7
"""No edge and no column is dropped with a higher probability."""

CENTRALITIES = ("degree", "pagerank", "eigenvector")
EDGE_ENDS = ("target", "both")
EMPTY_COLUMNS = ("ignore", "mask-all")


@dataclass(frozen=True)
class NodeView:
    """What an encoder sees of the graph.

    Parameters
    ----------
    features : (N, F) Tensor or SparseMatrix
        Unmasked.
    columns : (F,) float, optional
        0 for masked columns, 1 for the others.
    edges : Adjacency
        With the weights of the edges as values, if they have any.
    edge_index : (2, E') int64
        The same edges as pairs.
    edge_weight : (E',) float, optional
        The weights of the same edges.
    slow : SparseMatrix (S, N), optional
        How the features of S slow nodes follow from those of the nodes, see `half_hop`. Slow nodes
        are numbered N … N + S − 1 in `edges` and `edge_index`.
    """

    features: Tensor | SparseMatrix
    columns: Tensor | None
    edges: Adjacency
    edge_index: Tensor
    edge_weight: Tensor | None = None
    slow: SparseMatrix | None = None

    def times(self, weight: Tensor) -> Tensor:
        """Multiply the masked features with weight (F, D); a masked column is a row of 0 there."""
        if self.columns is not None:
            weight = weight * self.columns[:, None]
        if isinstance(self.features, SparseMatrix):
            return self._with_slow(self.features.times(weight))
        return self._with_slow(self.features @ weight)

    def x(self) -> Tensor:
        """Return the (N, F) masked features, dense, for encoders of other libraries."""
        if isinstance(self.features, SparseMatrix):
            return self.times(torch.eye(self.width, device=self.edge_index.device))
        return self._with_slow(
            self.features if self.columns is None else self.features * self.columns
        )

    @property
    def width(self) -> int:
        """F, the number of columns of the features."""
        if isinstance(self.features, SparseMatrix):
            return len(self.features.columns.ptr) - 1
        return self.features.shape[1]

    @property
    def nodes(self) -> int:
        """N, the number of nodes that are not slow."""
        every = len(self.edges.incoming.ptr) - 1
        return every if self.slow is None else every - (len(self.slow.rows.ptr) - 1)

    def without_slow(self, rows: Tensor) -> Tensor:
        """Return the first N of N + S rows, or all rows if no node is slow."""
        return rows if self.slow is None else rows[: self.nodes]

    def _with_slow(self, rows: Tensor) -> Tensor:
        return rows if self.slow is None else torch.cat([rows, self.slow.times(rows)])


class NodeViews:
    """One graph, sorted once, that gives many views.

    >>> path = NodeGraph(torch.eye(3), torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]))
    >>> one_way = NodeViews(path).view(edges=torch.tensor([True, False, True, True]))
    >>> one_way.edge_index.tolist()
    [[0, 1, 2], [1, 2, 1]]
    """

    def __init__(self, graph: NodeGraph) -> None:
        self.features: Tensor | SparseMatrix = (
            SparseMatrix.from_csr(graph.x) if graph.x.layout == torch.sparse_csr else graph.x
        )
        self.nodes = graph.num_nodes
        self.num_features = graph.num_features
        self.edge_index = graph.edge_index
        self.edge_weight = edge_weights(graph)
        self.clean = self.view()

    @cached_property
    def _by_target(self) -> Tensor:
        # Both directions of every edge are there: entry k of this order is the reverse of entry k.
        source, target = self.edge_index
        return torch.argsort(target * self.nodes + source)

    def view(self, *, edges: Tensor | None = None, columns: Tensor | None = None) -> NodeView:
        """Return the view with the edges (E,) and feature columns (F,) that are True."""
        masked = None if columns is None else columns.to(torch.float32)
        if edges is None:
            both = self._rows(slice(None))
            adjacency = Adjacency(both, both)
            return NodeView(self.features, masked, adjacency, self.edge_index, self.edge_weight)
        adjacency = Adjacency(self._rows(edges[self._by_target]), self._rows(edges))
        weight = adjacency.outgoing.values
        return NodeView(self.features, masked, adjacency, self.edge_index[:, edges], weight)

    def _rows(self, kept: Tensor | slice) -> Rows:
        source, target = self.edge_index
        counts = torch.bincount(source[kept], minlength=self.nodes)
        # Both directions of an edge weigh the same: entry k and its reverse, too.
        values = None if self.edge_weight is None else self.edge_weight[kept]
        return Rows(target[kept], pointer(counts), values)


def edge_weights(graph: NodeGraph) -> Tensor | None:
    """Return the (E,) weights of the edges; None if all weigh 1, which is faster and the same."""
    weight = graph.edge_weight
    return None if weight is None or bool((weight == 1).all()) else weight


SOURCE_SHARE = 0.5
"""Share of the source in the features of a slow node; the target has the rest."""


def half_hop(view: NodeView, targets: Tensor, *, source_share: float = SOURCE_SHARE) -> NodeView:
    """Return the view with a slow node s on every edge u → v into the given targets v.

    The edges u → s, s → v and v → s replace u → v, each with its weight, and x_s is a mean of x_u
    and x_v: a message needs two layers to cross such an edge. The in-degree of v stays the same.
    Self-loops stay as they are.

    Parameters
    ----------
    view : NodeView
        Without slow nodes.
    targets : (N,) bool
    source_share : float
        α in x_s = α x_u + (1 − α) x_v.

    References
    ----------
    M. Azabou, V. Ganesh, S. Thakoor, C.-H. Lin, L. Sathidevi, R. Liu, M. Valko, P. Veličković and
    E. L. Dyer. "Half-Hop: A Graph Upsampling Approach for Slowing Down Message Passing". ICML 2023.

    Examples
    --------
    >>> edge = NodeViews(NodeGraph(torch.tensor([[0.0], [4.0]]), torch.tensor([[0, 1], [1, 0]])))
    >>> slow = half_hop(edge.clean, torch.tensor([False, True]))
    >>> slow.x().flatten().tolist(), slow.edge_index.tolist()
    ([0.0, 4.0, 2.0], [[1, 0, 2, 1], [0, 2, 1, 2]])
    """
    source, target = view.edge_index
    slowed = targets[target] & (source != target)
    u, v = view.edge_index[:, slowed]
    if not len(u):
        return view
    slow = torch.arange(len(u), device=u.device)
    s = slow + len(targets)
    new = [torch.stack(pair) for pair in ((u, s), (s, v), (v, s))]
    edge_index = torch.cat([view.edge_index[:, ~slowed], *new], dim=1)
    weight = view.edge_weight
    if weight is not None:
        weight = torch.cat([weight[~slowed], weight[slowed].repeat(3)])
    source, target = edge_index
    rows = partial(Rows.from_pairs, num_rows=len(targets) + len(u), values=weight, ordered=False)
    shares = torch.tensor([source_share, 1 - source_share], device=u.device)
    features = SparseMatrix(
        Rows(
            torch.stack([u, v], dim=1).flatten(),
            2 * torch.arange(len(u) + 1, device=u.device),
            shares.repeat(len(u)),
        ),
        Rows.from_pairs(
            torch.cat([u, v]),
            slow.repeat(2),
            len(targets),
            values=shares.repeat_interleave(len(u)),
            ordered=False,
        ),
    )
    edges = Adjacency(rows(target, source), rows(source, target))
    return replace(view, edges=edges, edge_index=edge_index, edge_weight=weight, slow=features)


class TwoViews:
    """Two random views of one graph at a time.

    Parameters
    ----------
    views : NodeViews
    edge_drop, feature_drop : (float, float)
        Share of the edges dropped and of the feature columns masked, in the two views.
    slowed : (float, float), optional
        Share of the nodes whose incoming edges get slow nodes, in the two views; see `half_hop`.
    centrality : str, optional
        Important edges and columns are dropped more rarely; all are equally important if None.
    edge_ends, pagerank_restart, empty_columns :
        See `importance` and `drop_probability`.

    Attributes
    ----------
    drop : list of ((E,), (F,))
        For each view, the probabilities of the edges and of the feature columns.
    """

    def __init__(
        self,
        views: NodeViews,
        *,
        edge_drop: Sequence[float],
        feature_drop: Sequence[float],
        slowed: Sequence[float] | None = None,
        centrality: str | None = None,
        edge_ends: str = "target",
        pagerank_restart: bool = False,
        empty_columns: str = "ignore",
    ) -> None:
        self.views = views
        self.slowed = slowed or (0.0, 0.0)
        rates = list(zip(edge_drop, feature_drop, strict=True))
        self.drop: list[tuple[Tensor, Tensor]]
        if centrality is None:
            edges = torch.ones(views.edge_index.shape[1], device=views.edge_index.device)
            columns = torch.ones(views.num_features, device=views.edge_index.device)
            self.drop = [(edges * of_edges, columns * of_columns) for of_edges, of_columns in rates]
            return
        matter = importance(
            views, centrality, edge_ends=edge_ends, pagerank_restart=pagerank_restart
        )
        probability = partial(drop_probability, empty_columns=empty_columns)
        self.drop = [
            (probability(matter.edges, of_edges), probability(matter.columns, of_columns))
            for of_edges, of_columns in rates
        ]

    def draw(self, generator: torch.Generator) -> Iterator[NodeView]:
        """Yield the first view and then the second."""
        for (of_edges, of_columns), slowed in zip(self.drop, self.slowed, strict=True):
            view = self.views.view(
                edges=draw(of_edges, generator), columns=draw(of_columns, generator)
            )
            if slowed:
                chance = torch.full((self.views.nodes,), slowed, device=of_edges.device)
                view = half_hop(view, ~draw(chance, generator))
            yield view


def draw(drop: Tensor, generator: torch.Generator) -> Tensor:
    """Draw (K,) bool: entry k is False, so dropped, with probability drop[k]."""
    chance = torch.rand(len(drop), generator=generator, device=generator.device)
    return chance.to(drop.device) >= drop


class Importance(NamedTuple):
    """Log importance of each edge (E,) and feature column (F,); −∞ for an empty column."""

    edges: Tensor
    columns: Tensor


def importance(
    views: NodeViews,
    centrality: str,
    *,
    edge_ends: str = "target",
    pagerank_restart: bool = False,
) -> Importance:
    """Find how much edges and feature columns matter: by the nodes that they belong to.

    Parameters
    ----------
    views : NodeViews
    centrality : {"degree", "pagerank", "eigenvector"}
        Each counts the weights of the edges, if they have any.
    edge_ends : {"target", "both"}
        An edge counts by the centrality of its target, or by the mean of both its ends.
    pagerank_restart : bool
        False takes `lazy_walk` for PageRank, as the released code of GCA.
    """
    edges = views.clean.edges
    if centrality == "degree":
        for_edges = for_columns = degree(edges)
    elif centrality == "eigenvector":
        for_columns = eigenvector(edges)
        for_edges = for_columns.clamp_min(0) + 1e-8
    elif pagerank_restart:
        for_edges = for_columns = pagerank(edges)
    else:
        for_edges, for_columns = lazy_walk(edges, 200), lazy_walk(edges, 10)
    source, target = views.edge_index
    of_edges = for_edges[target]
    if edge_ends == "both":
        of_edges = (for_edges[source] + of_edges) / 2
    return Importance(of_edges.log(), _column_mass(views.features, for_columns).log())


def _column_mass(features: Tensor | SparseMatrix, centrality: Tensor) -> Tensor:
    """(F,) Σ_v [x_vd ≠ 0] φ(v); with signed features, which are never 0, Σ_v |x_vd| φ(v)."""
    if isinstance(features, SparseMatrix):
        entries = features.columns
        values = entries.values
        assert values is not None
        size = (values != 0).float() if bool((values >= 0).all()) else values.abs()
        return entries._replace(values=size).times(centrality[:, None])[:, 0]
    sizes = (features != 0).float() if bool((features >= 0).all()) else features.abs()
    return centrality @ sizes.to(centrality.dtype)


def drop_probability(
    log_importance: Tensor, rate: float, *, empty_columns: str = "ignore"
) -> Tensor:
    """Return the (K,) min( (s_max − s) / (s_max − s̄) · rate, 0.7 ): about `rate` on average.

    An empty column (importance 0, s = −∞) is left out of mean and maximum and gets the highest
    probability, which changes nothing. With `empty_columns` "mask-all", one such column gives all
    of them the highest: in the released code of GCA they become NaN, and these become 0.7.

    >>> drop_probability(torch.tensor([0.0, 1.0, 2.0]), 0.3)
    tensor([0.6000, 0.3000, 0.0000])
    """
    finite = torch.isfinite(log_importance)
    if empty_columns == "mask-all" and not bool(finite.all()):
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


def degree(edges: Adjacency) -> Tensor:
    """Return (V,) the number of edges, or the sum of their weights."""
    return edges.incoming.totals().float()


def _share(edges: Adjacency) -> Tensor:
    """(V, 1) one over the degree; 1 where that is 0."""
    of_node = degree(edges)
    return 1 / torch.where(of_node > 0, of_node, 1.0)[:, None]


def lazy_walk(edges: Adjacency, steps: int = 200) -> Tensor:
    """(V,) x ← 0.15 x + 0.85 Pᵀ x from x = 1: what the released code of GCA calls PageRank.

    Without a restart it forgets its start: within a connected component it tends to the degree
    over the mean degree. An isolated node fades to 0.15^steps.
    """
    share = _share(edges)
    x = torch.ones_like(share)
    for _ in range(steps):
        x = 0.15 * x + 0.85 * edges.incoming.times(x * share)
    return x[:, 0]


def pagerank(edges: Adjacency, steps: int = 200) -> Tensor:
    """(V,) PageRank with restart probability 0.15, scaled to mean 1.

    Like `lazy_walk` and `eigenvector`, it follows edges in proportion to their weights.
    """
    share = _share(edges)
    lonely = (degree(edges) == 0)[:, None]
    x = torch.ones_like(share)
    for _ in range(steps):
        spread = edges.incoming.times(x * share) + (x * lonely).mean()
        x = 0.15 + 0.85 * spread
    return x[:, 0]


def eigenvector(edges: Adjacency, steps: int = 1000, tolerance: float = 1e-7) -> Tensor:
    """Return the (V,) leading eigenvector of the adjacency, not negative, of length 1.

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
