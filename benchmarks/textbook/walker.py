"""Random walks in their usual form: one node after the other."""

from __future__ import annotations

import random
from collections.abc import Sequence

from torch import Tensor


class Walker:
    """Draw one walk at a time from lists of neighbours."""

    def __init__(self, edge_index: Tensor, num_nodes: int, *, p: float, q: float) -> None:
        self.neighbours: list[list[int]] = [[] for _ in range(num_nodes)]
        for u, v in edge_index.t().tolist():
            self.neighbours[u].append(v)
        self.linked = [set(row) for row in self.neighbours]
        self.p, self.q = p, q
        self.random = random.Random(0)

    def walks(self, starts: Sequence[int], length: int) -> list[list[int]]:
        """Return one walk from each start; it ends at a node without neighbours."""
        return [self._walk(start, length) for start in starts]

    def _walk(self, start: int, length: int) -> list[int]:
        walk = [start]
        while len(walk) < length and self.neighbours[walk[-1]]:
            choices = self.neighbours[walk[-1]]
            if len(walk) == 1 or self.p == self.q == 1:
                walk.append(self.random.choice(choices))
            else:
                weights = [self._weight(walk[-2], x) for x in choices]
                walk += self.random.choices(choices, weights)
        return walk

    def _weight(self, before: int, there: int) -> float:
        if there == before:
            return 1 / self.p
        return 1.0 if there in self.linked[before] else 1 / self.q
