import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans

import references
from augcl.errors import InputError
from augcl.hardness.partition import two_means

NUMBERS = st.floats(-1, 1, width=32)
FEW_NUMBERS = st.sampled_from([-0.5, 0.0, 0.25, 0.3, 1.0])
ROWS = st.lists(NUMBERS | FEW_NUMBERS, min_size=1, max_size=12)


def split(row, dtype=torch.float64):
    return two_means(torch.tensor([row], dtype=dtype))[0].tolist()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@settings(max_examples=60)
@given(row=ROWS)
def test_no_threshold_gives_less_inertia(dtype, row):
    row = torch.tensor(row, dtype=dtype).tolist()
    found = references.inertia(row, split(row, dtype))
    assert found <= references.best_threshold_inertia(row) + 1e-12


@settings(max_examples=40)
@given(st.lists(NUMBERS | FEW_NUMBERS, min_size=1, max_size=8))
def test_no_other_partition_at_all_gives_less_inertia(row):
    found = references.inertia(row, split(row))
    assert found <= references.best_subset_inertia(row) + 1e-12


def test_never_worse_than_kmeans_with_ten_restarts():
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(size=(4, 60)), np.tanh(rng.normal(size=(4, 60)) * 3)])
    ours = two_means(torch.from_numpy(rows)).tolist()
    for row, upper in zip(rows, ours, strict=True):
        means = KMeans(2, n_init=10, random_state=0).fit(row[:, None])
        assert references.inertia(row.tolist(), upper) <= means.inertia_ + 1e-9


@given(ROWS)
def test_true_is_the_group_of_the_larger_affinities(row):
    upper = split(row)
    above = [v for v, up in zip(row, upper, strict=True) if up]
    below = [v for v, up in zip(row, upper, strict=True) if not up]
    assert above
    assert not below or max(below) < min(above)


@given(st.lists(FEW_NUMBERS, min_size=1, max_size=12))
def test_equal_numbers_are_never_parted(row):
    sides = dict(zip(row, split(row), strict=True))
    assert split(row) == [sides[v] for v in row]


@pytest.mark.parametrize("value", [0.0, 0.1, -1.0, 1e30])
@pytest.mark.parametrize("m", [1, 2, 7])
def test_a_constant_row_is_one_group(value, m):
    assert split([value] * m) == [True] * m


def test_of_equally_good_splits_the_larger_upper_group_counts():
    assert split([0.0, 1.0, 2.0]) == [False, True, True]


def test_two_numbers_are_two_groups():
    assert split([0.25, 0.5]) == [False, True]


@pytest.mark.parametrize("offset", [0.0, 1.0, 1000.0])
def test_almost_constant_rows_are_still_split_at_their_gap(offset):
    rng = np.random.default_rng(0)
    small = rng.random(20) * 1e-9
    row = np.where(np.arange(20) % 3 == 0, 1e-8, 0.0) + small + offset
    assert split(row.tolist()) == (np.arange(20) % 3 == 0).tolist()


def test_rows_do_not_influence_each_other():
    rows = torch.randn(6, 9, generator=torch.Generator().manual_seed(0))
    assert two_means(rows).tolist() == [split(row.tolist(), torch.float32) for row in rows]


def test_the_input_stays_as_it_is_and_may_carry_a_gradient():
    rows = torch.randn(3, 5, requires_grad=True)
    before = rows.detach().clone()
    labels = two_means(rows)
    assert rows.detach().equal(before)
    assert labels.dtype == torch.bool
    assert not labels.requires_grad


@pytest.mark.parametrize("shape", [(0, 4), (3, 0), (0, 0)])
def test_no_rows_or_no_columns_give_an_empty_answer(shape):
    assert two_means(torch.empty(shape)).shape == shape


@pytest.mark.parametrize("wrong", [torch.ones(4), torch.ones(2, 3).long()], ids=["flat", "whole"])
def test_what_is_no_table_of_floats_is_told(wrong):
    with pytest.raises(InputError, match=r"two_means needs an \(N, M\) table of floats"):
        two_means(wrong)
