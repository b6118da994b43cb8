"""Pairs within groups, and the best of each segment, against plain loops."""

import itertools

import torch

from augcl.attacks.rules import GroupPairs, least_of_each


def some_groups(seed=0):
    return torch.randint(0, 9, (40,), generator=torch.Generator().manual_seed(seed))


def test_pairs_are_all_pairs_of_one_group_once():
    group = some_groups()
    expected = {
        (i, j) for i, j in itertools.combinations(range(len(group)), 2) if group[i] == group[j]
    }
    pairs = [tuple(p) for p in GroupPairs(group).pairs.t().tolist()]
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == expected


def test_groups_of_one_have_no_pairs():
    blocks = GroupPairs(torch.arange(4))
    assert blocks.pairs.shape == (2, 0)
    assert blocks.products([torch.ones(4, 2)], [torch.ones(4, 2)]).shape == (2, 0)
    assert blocks.index_of(blocks.pairs).shape == (0,)


def test_products_are_the_inner_products_of_both_ends():
    generator = torch.Generator().manual_seed(1)
    left = [torch.randn(40, 3, generator=generator) for _ in range(2)]
    right = [torch.randn(40, 3, generator=generator) for _ in range(2)]
    blocks = GroupPairs(some_groups())
    i, j = blocks.pairs
    for way, (a, b) in zip(blocks.products(left, right), ((i, j), (j, i)), strict=True):
        expected = sum((x[a] * y[b]).sum(1) for x, y in zip(left, right, strict=True))
        torch.testing.assert_close(way, expected)
    summed = blocks.products(left, right, summed=True)
    torch.testing.assert_close(summed, blocks.products(left, right).sum(0, keepdim=True))


def test_a_pair_stands_where_places_says():
    blocks = GroupPairs(some_groups(2))
    everywhere = torch.arange(blocks.pairs.shape[1])
    assert torch.equal(blocks.index_of(blocks.pairs), everywhere)
    back = everywhere.flip(0)
    assert torch.equal(blocks.index_of(blocks.pairs[:, back]), back)


def test_the_least_of_each_segment_is_the_first_of_equals_and_never_infinite():
    score = torch.tensor([2.0, 1.0, 1.0, torch.inf, 5.0])
    segment = torch.tensor([0, 0, 0, 1, 3])
    assert least_of_each(score, segment, 4).tolist() == [1, -1, -1, 4]
    assert least_of_each(score[:0], segment[:0], 2).tolist() == [-1, -1]
