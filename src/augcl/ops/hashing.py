"""64-bit hashes of whole arrays: names of substructures, and random draws that a hash decides."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]


def mixed(x: NDArray[Any]) -> Hashes:
    """Hash each whole number to 64 bits (SplitMix64, one to one).

    >>> len(set(mixed(np.arange(1000)).tolist()))
    1000
    """
    h = np.asarray(x).astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


def combined(first: NDArray[Any], *others: NDArray[Any]) -> Hashes:
    """Hash the ordered tuple (first, *others), elementwise.

    >>> one, two = np.array([1]), np.array([2])
    >>> bool(combined(one, two) == combined(two, one))
    False
    """
    h = mixed(first)
    for other in others:
        h = mixed(h + np.asarray(other).astype(np.uint64))
    return h


def multiset_hashes(elements: Hashes, ptr: NDArray[np.int64]) -> Hashes:
    """Hash the elements of each segment, whatever their order.

    >>> elements = mixed(np.array([1, 2, 2, 2, 1]))
    >>> first, empty, second = multiset_hashes(elements, np.array([0, 2, 2, 4]))
    >>> first == second, int(empty)
    (np.False_, 0)
    """
    sums = np.zeros(len(elements) + 1, dtype=np.uint64)
    np.cumsum(elements, out=sums[1:])  # overflow wraps around, and so does the difference
    return sums[ptr[1:]] - sums[ptr[:-1]]


def refined_labels(
    labels: NDArray[Any],
    edge_index: NDArray[np.int64],
    height: int,
    *,
    edge_labels: NDArray[Any] | None = None,
) -> list[Hashes]:
    """Refine node labels by those of the neighbours, `height` times (Weisfeiler–Lehman).

    Two nodes have the same label after h rounds if and only if the trees of height h around them
    are the same, except for a chance of about V² / 2⁶⁴ that two hashes collide. Labels depend on
    no other graph, and no label occurs in two rounds.

    Parameters
    ----------
    labels : (V,) whole numbers
    edge_index : (2, E) int64
        Both directions of every edge, ordered by the first row.
    height : int
        Rounds of refinement.
    edge_labels : (E,) whole numbers, optional
        A neighbour counts together with the label of the edge that leads to it.

    Returns
    -------
    list of (V,) uint64
        The labels after 0 … `height` rounds.

    Examples
    --------
    >>> path = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> first, middle, last = refined_labels(np.array([7, 7, 7]), path, height=1)[1].tolist()
    >>> first == last, first == middle
    (True, False)
    """
    source, target = edge_index
    ptr = np.searchsorted(source, np.arange(len(labels) + 1))
    rounds = [mixed(labels)]
    # Without the salt, label a with node label b would be hashed as b with a: both are mixed alike.
    salt = np.array([0])
    for number in range(1, height + 1):
        own = rounds[-1]
        seen = own[target]
        pairs = mixed(seen) if edge_labels is None else combined(salt, edge_labels, seen)
        around = multiset_hashes(pairs, ptr)
        rounds.append(combined(np.array([number]), own, around))
    return rounds


def draw_below(limit: NDArray[np.int64], hashes: Hashes) -> NDArray[np.int64]:
    """Turn each hash into a whole number from 0 to limit − 1 (0 where the limit is 0).

    >>> draw_below(np.array([1, 0]), mixed(np.array([3, 4]))).tolist()
    [0, 0]
    """
    share = (hashes >> np.uint64(11)) * 2.0**-53
    return np.maximum(np.minimum((share * limit).astype(np.int64), limit - 1), 0)
