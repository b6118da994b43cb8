import numpy as np
import pytest
import torch

from augcl.hardness.partition import PARTITIONS, spectral
from augcl.ops.two_means import two_means


def separated_rows(n=6, m=24, dtype=torch.float32):
    """Rows with two clear groups, and which entries are high."""
    rng = np.random.default_rng(0)
    high = rng.random((n, m)) < 0.4
    high[:, 0], high[:, 1] = True, False
    rows = np.where(high, 0.8, -0.3) + 0.05 * rng.normal(size=(n, m))
    return torch.from_numpy(rows).to(dtype), torch.from_numpy(high)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", PARTITIONS)
def test_two_clear_groups_are_found(name, dtype):
    rows, high = separated_rows(dtype=dtype)
    assert PARTITIONS[name](rows).equal(high)


def test_spectral_agrees_with_kmeans_where_the_groups_are_clear():
    rows, _ = separated_rows(n=40)
    assert spectral(rows).equal(two_means(rows))


@pytest.mark.parametrize("name", PARTITIONS)
@pytest.mark.parametrize("value", [0.0, 0.3, -1.0])
def test_a_constant_row_is_one_similar_group(name, value):
    assert PARTITIONS[name](torch.full((3, 6), value)).all()


@pytest.mark.parametrize("name", PARTITIONS)
@pytest.mark.parametrize("m", [1, 2])
def test_one_or_two_candidates_are_no_problem(name, m):
    labels = PARTITIONS[name](torch.arange(float(2 * m)).view(2, m))
    assert labels[:, -1].all()
    assert not labels[:, :-1].any()


def test_spectral_does_not_depend_on_the_blocks():
    rows = torch.randn(10, 12, generator=torch.Generator().manual_seed(0))
    assert spectral(rows, block=3).equal(spectral(rows, block=100))


def test_spectral_names_the_larger_affinities_as_similar():
    rows = torch.randn(20, 15, generator=torch.Generator().manual_seed(0))
    labels = spectral(rows)
    above = torch.where(labels, rows, torch.nan).nanmean(1)
    below = torch.where(labels, torch.nan, rows).nanmean(1)
    assert (above > below).all()
