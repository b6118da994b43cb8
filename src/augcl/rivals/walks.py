"""Random walks of many walkers at once, first order (DeepWalk) and second order (node2vec)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from augcl.data.convert import as_graphset
from augcl.data.features import align_columns
from augcl.data.graph import GraphSet
from augcl.errors import InputError
from augcl.ops.csr import Rows
from augcl.ops.segments import pointer, ranges, segment_ids, segment_sum, uniform
from augcl.training.method import GraphReader, warn_unused_edges

ROUNDS = 16
"""Proposals per step; a walker that an extreme p or q still rejects then draws exactly."""

WEIGHT = "weight"
"""The edge feature of graphs that is a weight."""

LISTED = 1 << 20
"""Most neighbours in memory at once for exact draws (at least those of one walker)."""


def random_walks(
    neighbours: Rows,
    starts: Tensor,
    length: int,
    generator: torch.Generator,
    *,
    p: float = 1.0,
    q: float = 1.0,
) -> Tensor:
    """Walk `length` − 1 steps from every start; a walker at a node without neighbours stays.

    A walker that came from t to v moves to the neighbour x of v with a probability proportional to
    1/p if x = t, to 1 if x is a neighbour of t, and to 1/q otherwise, times the weight of the edge
    from v to x. The first step follows the weights alone; with p = q = 1 every step does.

    Parameters
    ----------
    neighbours : Rows
        Neighbours of each node of an undirected graph, increasing within a row, with the weights
        of the edges as values. An edge of weight 0 is no edge.
    starts : (W,) int64
        First node of each walker; a node may occur several times.
    length : int
        Nodes per walk, including the start.
    generator : torch.Generator
    p, q : float
        Return parameter and in-out parameter of node2vec, above 0.

    Returns
    -------
    (W, length) int64

    >>> path = Rows(torch.tensor([1, 0, 2, 1]), torch.tensor([0, 1, 3, 4, 4]))
    >>> random_walks(path, torch.tensor([0, 2, 3]), 4, torch.Generator())[:, :2].tolist()
    [[0, 1], [2, 1], [3, 3]]
    """
    walker = (_Walker if neighbours.values is None else _WeightedWalker)(neighbours, p, q)
    walks = starts.new_empty(length, len(starts))  # one row per step: writes are contiguous
    walks[0] = starts
    for step in range(1, length):
        if step == 1 or p == q == 1:
            walker.first_step(walks[step - 1], generator, out=walks[step])
        else:
            walker.step(walks[step - 2], walks[step - 1], generator, out=walks[step])
    return walks.t()


class WeightedGraphReader(GraphReader):
    """Reads graphs for walks: of the edge features only ``weight``, which walks follow."""

    edge_cure = "random walks use only the weight of an edge"

    def read(self, X: Any) -> GraphSet:
        """The graphs, whatever form they come in."""
        graphs = align_columns(as_graphset(X), self.columns_)
        names = list(graphs.edge_columns or [])
        if graphs.edge_attr is None or WEIGHT not in names:
            return self._edges_as_fitted(graphs)
        place = names.index(WEIGHT)
        rest = [i for i in range(len(names)) if i != place]
        others = replace(
            graphs, edge_attr=graphs.edge_attr[:, rest], edge_columns=[names[i] for i in rest]
        )
        if self.n_edge_features_ is None:
            warn_unused_edges(others, self.edge_cure)
        weight = graphs.edge_attr[:, [place]]
        if not bool((weight >= 0).all()):
            edge = int((~(weight >= 0)).squeeze(1).nonzero()[0])
            raise InputError(
                f"{graphs.name}: edge entry {edge}, counted from 0, has the weight "
                f"{float(weight[edge]):g}: random walks need weights from 0 on"
            )
        return replace(graphs, edge_attr=weight, edge_columns=[WEIGHT])


def weights_of(graphs: GraphSet) -> Tensor | None:
    """Return (E,) the weights of edges that a `WeightedGraphReader` has read, None without any."""
    return None if graphs.edge_attr is None else graphs.edge_attr[:, 0].cpu()


class _Walker:
    """Take one step with all walkers at once.

    Steps of node2vec are drawn by rejection: a constant covers the weight of every neighbour, and
    an extra piece covers the rest of 1/p at the previous node. A walker draws a point under this
    cover and keeps it if the point lies under the weights.
    """

    def __init__(self, neighbours: Rows, p: float, q: float) -> None:
        degree = neighbours.ptr.diff()
        source = torch.repeat_interleave(degree)
        alone = (degree == 0).nonzero().squeeze(1)  # from here on its own neighbour
        ends = torch.cat([source * len(degree) + neighbours.indices, alone * len(degree) + alone])
        self.edges = ends.sort().values if len(alone) else ends  # sorted, for bisection
        self.targets = self.edges % len(degree)
        self.degree = degree.clamp(min=1)
        self.first = pointer(self.degree)[:-1]
        self.back, self.away = 1 / p, 1 / q
        self.cover = max(1.0, self.away)
        self.lacking = max(0.0, self.back - self.cover)

    def first_step(
        self, here: Tensor, generator: torch.Generator, out: Tensor | None = None
    ) -> Tensor:
        """Go to a neighbour, wherever the walker came from."""
        draw = uniform(len(here), generator, here.device, torch.float64)
        # a double below 1 times a degree rounds up to the degree only above 2^52 neighbours
        place = draw.mul_(self.degree.index_select(0, here)).long()
        place += self.first.index_select(0, here)
        return torch.index_select(self.targets, 0, place, out=out)

    def step(self, before: Tensor, here: Tensor, generator: torch.Generator, out: Tensor) -> None:
        waiting = torch.arange(len(here), device=here.device)
        for _ in range(ROUNDS):
            if not len(waiting):
                return
            old, now = before[waiting], here[waiting]
            draw = uniform(len(now), generator, here.device, torch.float64)
            height = draw * (self.cover + self._lacking(old, now))
            proposed = self.first_step(now, generator)
            above = height >= self.cover
            out[waiting] = torch.where(above, old, proposed)
            waiting = waiting[~(above | self._taken(height, old, proposed))]
        for some in waiting.split(self._at_once(here[waiting])):
            out[some] = self._exact_step(before[some], here[some], generator)

    def _lacking(self, before: Tensor, here: Tensor) -> Tensor:
        """Return what the way back has above the cover, over the weight of all neighbours."""
        return self.lacking / self.degree[here]

    def _taken(self, height: Tensor, before: Tensor, proposed: Tensor) -> Tensor:
        """Return whether each height is below its weight; look up edges only where they decide."""
        taken = height < min(1.0, self.away)
        back = proposed == before
        taken[back] = height[back] < self.back
        unsure = (~(taken | back) & (height < self.cover)).nonzero().squeeze(1)
        taken[unsure] = height[unsure] < self._weights(before[unsure], proposed[unsure])
        return taken

    def _weights(self, before: Tensor, proposed: Tensor) -> Tensor:
        """Return the weight 1/p, 1 or 1/q of a step to `proposed` after `before`."""
        edge = before * len(self.degree) + proposed
        place = torch.searchsorted(self.edges, edge).clamp_(max=len(self.edges) - 1)
        weight = torch.full_like(edge, self.away, dtype=torch.float64)
        weight.masked_fill_(self.edges[place] == edge, 1.0)
        return weight.masked_fill_(proposed == before, self.back)

    def _of_entries(self, entries: Tensor, before: Tensor, listed: Tensor) -> Tensor:
        """Return the weight of a step to each listed neighbour; `entries` are their places."""
        return self._weights(before, listed)

    def _at_once(self, here: Tensor) -> int:
        return max(1, LISTED // int(self.degree[here].max())) if len(here) else 1

    def _exact_step(self, before: Tensor, here: Tensor, generator: torch.Generator) -> Tensor:
        """Draw from the weights of all neighbours, listed walker by walker."""
        degree = self.degree[here]
        entries = ranges(self.first[here], degree)
        listed = self.targets[entries]
        weight = self._of_entries(entries, torch.repeat_interleave(before, degree), listed)
        ptr = pointer(degree)
        # weights of one walker sum to 1, so that rounding in the running total loses none of them
        total = (weight / torch.repeat_interleave(segment_sum(weight, ptr), degree)).cumsum(0)
        last = ptr[1:] - 1
        below = torch.cat([total.new_zeros(1), total[last[:-1]]])
        draw = uniform(len(here), generator, here.device, torch.float64)
        place = torch.searchsorted(total, below + draw * (total[last] - below), right=True)
        return listed[place.clamp(max=last).clamp(min=last + 1 - degree)]


class _WeightedWalker(_Walker):
    """Take steps in proportion to the weights of the edges.

    `share` (E,) is the weight of an edge over those of all edges of its node, `total` its running
    sum: node v has the interval from v to v + 1.
    """

    def __init__(self, neighbours: Rows, p: float, q: float) -> None:
        assert neighbours.values is not None
        row, some = segment_ids(neighbours.ptr), neighbours.values > 0
        weight = neighbours.values[some].double()
        nodes = len(neighbours.ptr) - 1
        kept = Rows.from_pairs(row[some], neighbours.indices[some], nodes, ordered=True)
        super().__init__(kept, p, q)
        source = segment_ids(kept.ptr)
        sums = weight.new_zeros(nodes).index_add_(0, source, weight)
        self.share = weight.new_ones(len(self.edges))  # also of a node that is its own neighbour
        self.share[sums[self.edges // nodes] > 0] = weight / sums[source]
        self.total = self.share.cumsum(0)

    def first_step(
        self, here: Tensor, generator: torch.Generator, out: Tensor | None = None
    ) -> Tensor:
        draw = uniform(len(here), generator, here.device, torch.float64)
        first, degree = self.first.index_select(0, here), self.degree.index_select(0, here)
        last = first + degree - 1
        below = self.total.index_select(0, first) - self.share.index_select(0, first)
        draw = below + draw * (self.total.index_select(0, last) - below)
        place = torch.searchsorted(self.total, draw, right=True)
        return torch.index_select(self.targets, 0, place.clamp(min=first, max=last), out=out)

    def _lacking(self, before: Tensor, here: Tensor) -> Tensor:
        place = torch.searchsorted(self.edges, here * len(self.degree) + before)
        return self.lacking * self.share[place]

    def _of_entries(self, entries: Tensor, before: Tensor, listed: Tensor) -> Tensor:
        return self.share[entries] * self._weights(before, listed)
