"""The rooted subgraphs of Weisfeiler and Lehman, named by 64-bit hashes."""

from __future__ import annotations

import torch
from torch import Tensor


def rooted_subgraphs(labels: Tensor, edge_index: Tensor, height: int) -> Tensor:
    """Names of the subgraphs around every node, up to so many steps away.

    Two nodes have the same name at height h if h rounds of Weisfeiler and Lehman cannot tell
    them apart; the names are the same in every data set, and (but for collisions of 64-bit
    hashes) others have others.

    Parameters
    ----------
    labels : (V,) int64
    edge_index : (2, E) int64
        Both directions of every edge.
    height : int
        H; at height 0 only the label counts.

    Returns
    -------
    (H + 1, V) int64

    >>> path = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> ends, middle, other = rooted_subgraphs(torch.zeros(3).long(), path, 1)[1]
    >>> bool(ends == other), bool(ends == middle)
    (True, False)
    """
    names = [_scrambled(labels)]
    source, target = edge_index
    for _ in range(height):
        # sums do not depend on the order of the neighbours, and scrambled terms hardly ever agree
        around = torch.zeros_like(labels).index_add_(0, source, _scrambled(names[-1])[target])
        names.append(_scrambled(names[-1] * 3 + _scrambled(around)))
    return torch.stack(names)


def _scrambled(x: Tensor) -> Tensor:
    """Splitmix64: every bit of the result depends on every bit of `x`; wraps around."""
    x = x + -7046029254386353131  # 0x9E3779B97F4A7C15
    x = (x ^ _right(x, 30)) * -4658895280553007687  # 0xBF58476D1CE4E5B9
    x = (x ^ _right(x, 27)) * -7723592293110705685  # 0x94D049BB133111EB
    return x ^ _right(x, 31)


def _right(x: Tensor, bits: int) -> Tensor:
    """Shift right as if there were no sign."""
    return (x >> bits) & ((1 << (64 - bits)) - 1)
