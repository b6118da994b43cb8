"""Random walks of many walkers at once, first order (DeepWalk) and second order (node2vec)."""

from __future__ import annotations

import torch
from torch import Tensor

from augcl.ops.csr import Rows
from augcl.ops.segments import pointer, ranges, segment_sum, uniform

ROUNDS = 16
"""Proposals before the rest, held up by an extreme p or q, draws from all its neighbours."""

LISTED = 1 << 20
"""Neighbours that are listed at once for that, at most (or one walker's)."""


def random_walks(
    neighbours: Rows,
    starts: Tensor,
    length: int,
    generator: torch.Generator,
    *,
    p: float = 1.0,
    q: float = 1.0,
) -> Tensor:
    """Walk `length` − 1 steps from every start; a node without neighbours is never left.

    A walker that came from t to v goes on to the neighbour x of v with a probability that is
    proportional to 1/p for x = t, to 1 where x is a neighbour of t, and to 1/q elsewhere; the
    first step is uniform, and so are all for p = q = 1.

    Parameters
    ----------
    neighbours : Rows
        Those of each node of an undirected graph, increasing within a row; values are not looked
        at.
    starts : (W,) int64
        Where each walker begins; a node may stand there often.
    length : int
        Nodes per walk, the start among them.
    generator : torch.Generator
    p, q : float
        Return and in-out parameter of node2vec, above 0.

    Returns
    -------
    (W, length) int64

    >>> path = Rows(torch.tensor([1, 0, 2, 1]), torch.tensor([0, 1, 3, 4, 4]))
    >>> random_walks(path, torch.tensor([0, 2, 3]), 4, torch.Generator())[:, :2].tolist()
    [[0, 1], [2, 1], [3, 3]]
    """
    walker = _Walker(neighbours, p, q)
    walks = starts.new_empty(length, len(starts))  # a step is a row, so that it is written in order
    walks[0] = starts
    for step in range(1, length):
        if step == 1 or p == q == 1:
            walker.uniform_step(walks[step - 1], generator, out=walks[step])
        else:
            walker.step(walks[step - 2], walks[step - 1], generator, out=walks[step])
    return walks.t()


class _Walker:
    """The steps of all walkers at once.

    node2vec by rejection: the weights are covered by a constant for every neighbour and, where
    1/p is above that, by what it lacks at the node before; a walker takes a point under that cover
    and keeps it if it lies under the weights.
    """

    def __init__(self, neighbours: Rows, p: float, q: float) -> None:
        degree = neighbours.ptr.diff()
        source = torch.repeat_interleave(degree)
        alone = (degree == 0).nonzero().squeeze(1)  # has itself for a neighbour from here on
        ends = torch.cat([source * len(degree) + neighbours.indices, alone * len(degree) + alone])
        self.edges = ends.sort().values if len(alone) else ends  # to be found by bisection
        self.targets = self.edges % len(degree)
        self.degree = degree.clamp(min=1)
        self.first = pointer(self.degree)[:-1]
        self.back, self.away = 1 / p, 1 / q
        self.cover = max(1.0, self.away)
        self.lacking = max(0.0, self.back - self.cover)

    def uniform_step(
        self, here: Tensor, generator: torch.Generator, out: Tensor | None = None
    ) -> Tensor:
        draw = uniform(len(here), generator, here.device, torch.float64)
        # a double below 1 times a degree is rounded up to it only from 2^52 neighbours on
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
            height = draw * (self.cover + self.lacking / self.degree[now])
            proposed = self.uniform_step(now, generator)
            above = height >= self.cover
            out[waiting] = torch.where(above, old, proposed)
            waiting = waiting[~(above | self._taken(height, old, proposed))]
        for some in waiting.split(self._at_once(here[waiting])):
            out[some] = self._exact_step(before[some], here[some], generator)

    def _taken(self, height: Tensor, before: Tensor, proposed: Tensor) -> Tensor:
        """Whether the height is below the weight; looks for an edge only where that decides."""
        taken = height < min(1.0, self.away)
        back = proposed == before
        taken[back] = height[back] < self.back
        unsure = (~(taken | back) & (height < self.cover)).nonzero().squeeze(1)
        taken[unsure] = height[unsure] < self._weights(before[unsure], proposed[unsure])
        return taken

    def _weights(self, before: Tensor, proposed: Tensor) -> Tensor:
        """1/p, 1 or 1/q of going to `proposed` after `before`."""
        edge = before * len(self.degree) + proposed
        place = torch.searchsorted(self.edges, edge).clamp_(max=len(self.edges) - 1)
        weight = torch.full_like(edge, self.away, dtype=torch.float64)
        weight.masked_fill_(self.edges[place] == edge, 1.0)
        return weight.masked_fill_(proposed == before, self.back)

    def _at_once(self, here: Tensor) -> int:
        return max(1, LISTED // int(self.degree[here].max())) if len(here) else 1

    def _exact_step(self, before: Tensor, here: Tensor, generator: torch.Generator) -> Tensor:
        """Draw from the weights of all neighbours, listed one walker after the other."""
        degree = self.degree[here]
        listed = self.targets[ranges(self.first[here], degree)]
        weight = self._weights(torch.repeat_interleave(before, degree), listed)
        ptr = pointer(degree)
        # each walker's sum to 1, so that no small ones drown in the running total of the others
        total = (weight / torch.repeat_interleave(segment_sum(weight, ptr), degree)).cumsum(0)
        last = ptr[1:] - 1
        below = torch.cat([total.new_zeros(1), total[last[:-1]]])
        draw = uniform(len(here), generator, here.device, torch.float64)
        place = torch.searchsorted(total, below + draw * (total[last] - below), right=True)
        return listed[place.clamp(max=last).clamp(min=last + 1 - degree)]
