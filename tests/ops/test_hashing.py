"""Hashes tell different things apart, and draws are uniform."""

from itertools import chain

import numpy as np

import references
from augcl.ops.hashing import combined, draw_below, mixed, multiset_hashes, refined_labels


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


def test_labels_tell_apart_exactly_what_weisfeiler_and_lehman_tell_apart():
    graphs = references.random_graphs([1, 6, 9, 12, 12], density=0.3, seed=3)
    labels = np.arange(graphs.num_nodes) % 2
    names = np.concatenate(refined_labels(labels, graphs.edge_index.numpy(), 3))
    slow = references.weisfeiler_lehman(labels.tolist(), graphs.edge_index.t().tolist(), 3)
    pairs = set(zip(names.tolist(), chain(*slow), strict=True))
    assert len(pairs) == len({name for name, _ in pairs}) == len({text for _, text in pairs})


def test_labels_do_not_depend_on_the_order_of_nodes_or_on_other_graphs():
    graphs = references.random_graphs([7, 9], density=0.4, seed=1)
    labels = np.arange(16) % 3
    whole = np.stack(refined_labels(labels, graphs.edge_index.numpy(), 2))
    edges = graphs.select([1]).edge_index.numpy()
    assert np.array_equal(refined_labels(labels[7:], edges, 2), whole[:, 7:])
    order = np.random.default_rng(0).permutation(9)
    renamed = np.argsort(order)[edges]
    renamed = renamed[:, np.lexsort(renamed[::-1])]
    assert np.array_equal(refined_labels(labels[7:][order], renamed, 2), whole[:, 7:][:, order])


def test_without_edges_only_labels_count():
    names = np.stack(refined_labels(np.array([0, 1, 0]), np.empty((2, 0), dtype=np.int64), 2))
    assert names.shape == (3, 3)
    assert np.array_equal(names[:, 0], names[:, 2])
    assert (names[:, 0] != names[:, 1]).all()
