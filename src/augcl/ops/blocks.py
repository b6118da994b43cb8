"""All pairs of nodes within groups, without a loop over groups: those of one size go together."""

from __future__ import annotations

import torch
from torch import Tensor


class Blocks:
    """Nodes in groups, arranged by the size of their group.

    Parameters
    ----------
    group : (V,) int64
        The group of each node, 0 or more; groups need not be contiguous.

    Examples
    --------
    >>> Blocks(torch.tensor([0, 1, 0, 1, 0])).pairs.tolist()
    [[1, 0, 0, 2], [3, 2, 4, 4]]
    """

    def __init__(self, group: Tensor) -> None:
        counts = torch.bincount(group)
        order = torch.argsort(group, stable=True)
        size = counts[group[order]]
        self.nodes = [order[size == n].view(-1, n) for n in counts.unique().tolist() if n > 1]
        """For each size n the (B, n) nodes of its groups, in ascending order."""
        self._corners = [
            torch.triu_indices(n, n, offset=1, device=group.device)
            for n in (block.shape[1] for block in self.nodes)
        ]
        ends = [
            torch.stack([block[:, i].flatten(), block[:, j].flatten()])
            for block, (i, j) in zip(self.nodes, self._corners, strict=True)
        ]
        self.pairs = torch.cat(ends, 1) if ends else group.new_empty(2, 0)
        """(2, P) all pairs i < j of nodes of one group."""

    def products(self, left: Tensor, right: Tensor) -> Tensor:
        """(2, P): ⟨left_i, right_j⟩ and ⟨left_j, right_i⟩ of every pair, from (V, D) matrices."""
        found = []
        for block, (i, j) in zip(self.nodes, self._corners, strict=True):
            square = left[block] @ right[block].mT
            found.append(torch.stack([square[:, i, j].flatten(), square[:, j, i].flatten()]))
        return torch.cat(found, 1) if found else left.new_empty(2, 0)


def least_of_each(score: Tensor, segment: Tensor, segments: int) -> Tensor:
    """(S,) where the least score of each segment stands, the first of equals; −1 if it has none.

    >>> least_of_each(torch.tensor([3.0, 1.0, 2.0]), torch.tensor([0, 0, 2]), 3).tolist()
    [1, -1, 2]
    """
    least = score.new_full((segments,), torch.inf).scatter_reduce(0, segment, score, "amin")
    place = torch.arange(len(score), device=score.device)
    place = torch.where(score == least[segment], place, len(score))
    first = place.new_full((segments,), len(score)).scatter_reduce(0, segment, place, "amin")
    return torch.where(first < len(score), first, -1)
