"""All pairs of nodes within groups, without a loop over groups: those of one size go together."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


class Blocks:
    """Nodes in groups, arranged by the size of their group.

    Parameters
    ----------
    group : (V,) int64
        The group of each node, 0 or more; groups need not be contiguous.

    Attributes
    ----------
    nodes : list of (B, n)
        For each size n above 1 the nodes of its groups, in ascending order.
    pairs : (2, P)
        All pairs i < j of nodes of one group.

    Examples
    --------
    >>> Blocks(torch.tensor([0, 1, 0, 1, 0])).pairs.tolist()
    [[1, 0, 0, 2], [3, 2, 4, 4]]
    """

    def __init__(self, group: Tensor) -> None:
        self.group = group
        self._sizes = torch.bincount(group)
        order = torch.argsort(group, stable=True)
        size = self._sizes[group[order]]
        sizes = [n for n in self._sizes.unique().tolist() if n > 1]
        self.nodes = [order[size == n].view(-1, n) for n in sizes]
        self._corners = [torch.triu_indices(n, n, 1, device=group.device) for n in sizes]
        ends = [
            torch.stack([block[:, i].flatten(), block[:, j].flatten()])
            for block, (i, j) in zip(self.nodes, self._corners, strict=True)
        ]
        self.pairs = torch.cat(ends, 1) if ends else group.new_empty(2, 0)

    def products(
        self, left: Sequence[Tensor], right: Sequence[Tensor], *, summed: bool = False
    ) -> Tensor:
        """(2, P): Σ_k ⟨left_ki, right_kj⟩ and Σ_k ⟨left_kj, right_ki⟩ of every pair.

        If `summed`, (1, P) the sum of both.

        Parameters
        ----------
        left, right : K times (V, D)
        """
        found = [left[0].new_empty(1 if summed else 2, 0)]
        for block, (i, j) in zip(self.nodes, self._corners, strict=True):
            groups, n = block.shape
            square = left[0].new_empty(groups, n, n)
            members = block.flatten()
            for k, pair in enumerate(zip(left, right, strict=True)):
                # index_select is the faster way to gather
                one, other = (m.index_select(0, members).view(groups, n, -1) for m in pair)
                square.baddbmm_(one, other.mT, beta=min(k, 1))
            places = [i * n + j, j * n + i]
            if summed:
                square, places = square + square.mT, places[:1]
            flat = square.view(groups, n * n)
            ways = [flat.index_select(1, at).flatten() for at in places]
            found.append(torch.stack(ways))
        return torch.cat(found, 1)

    def places(self, pairs: Tensor) -> Tensor:
        """(Q,) where pairs i < j of one group each stand among all pairs.

        >>> blocks = Blocks(torch.tensor([0, 1, 0, 1, 0]))
        >>> blocks.places(torch.tensor([[2, 1], [4, 3]])).tolist()
        [3, 0]
        """
        local = torch.zeros_like(self.group)
        start = torch.zeros_like(self._sizes)
        passed = 0
        for block in self.nodes:
            count, n = block.shape
            local[block] = torch.arange(n, device=block.device)
            corners = n * (n - 1) // 2
            begins = passed + corners * torch.arange(count, device=block.device)
            start[self.group[block[:, 0]]] = begins
            passed += count * corners
        group = self.group[pairs[0]]
        size, i, j = self._sizes[group], local[pairs[0]], local[pairs[1]]
        return start[group] + i * size - i * (i + 1) // 2 + j - i - 1


def least_of_each(
    score: Tensor, segment: Tensor, segments: int, *, tolerance: float = 0.0
) -> Tensor:
    """(S,) where the least score of each segment stands, the first of equals.

    −1 where a segment has none, or only infinite ones. Scores that differ from the least by no
    more than `tolerance` times its size count as equal to it.

    >>> least_of_each(torch.tensor([3.0, 1.0, 2.0]), torch.tensor([0, 0, 2]), 3).tolist()
    [1, -1, 2]
    >>> least_of_each(torch.tensor([-2.9999999, -3.0]), torch.zeros(2).long(), 1, tolerance=1e-5)
    tensor([0])
    """
    least = score.new_full((segments,), torch.inf).scatter_reduce(0, segment, score, "amin")
    limit = least + tolerance * least.abs().nan_to_num(posinf=0.0)
    hits = ((score <= limit[segment]) & (score < torch.inf)).nonzero().squeeze(1)
    first = hits.new_full((segments,), len(score))
    first.scatter_reduce_(0, segment[hits], hits, "amin")
    return torch.where(first < len(score), first, -1)
