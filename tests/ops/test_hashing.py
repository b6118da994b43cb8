"""Hashes tell different things apart, and draws are uniform."""

import numpy as np

from augcl.ops.hashing import combined, draw_below, mixed, multiset_hashes


def test_different_tuples_have_different_hashes():
    first, second, third = np.meshgrid(*[np.arange(40)] * 3)
    hashes = combined(first.ravel(), second.ravel(), third.ravel())
    assert len(np.unique(hashes)) == 40**3


def test_multisets_are_the_same_in_any_order_and_differ_by_multiplicity():
    bags = [[1, 2, 2], [2, 1, 2], [1, 1, 2], [1, 2], [], [1, 2, 2, 2]]
    ptr = np.cumsum([0, *map(len, bags)])
    elements = mixed(np.array([e for bag in bags for e in bag], dtype=np.int64))
    a, b, *others = multiset_hashes(elements, ptr).tolist()
    assert a == b
    assert len({a, *others}) == 5


def test_draws_are_uniform_and_below_their_limit():
    drawn = draw_below(np.full(70_000, 7), mixed(np.arange(70_000)))
    counts = np.bincount(drawn, minlength=7)
    assert len(counts) == 7
    assert np.abs(counts - 10_000).max() < 400  # four standard deviations
