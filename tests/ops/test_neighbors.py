"""The nearest rows are those of a slow search over all pairs."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from augcl import InputError
from augcl.ops import neighbors
from augcl.ops.neighbors import nearest


def slow(z, k, among=None):
    """Sort all others of each row by their cosine, then by their number."""
    rows = z.double().tolist()
    others = rows if among is None else among.double().tolist()

    def cosine(a, b):
        lengths = sum(v * v for v in a) ** 0.5 * sum(v * v for v in b) ** 0.5
        return sum(u * v for u, v in zip(a, b, strict=True)) / lengths if lengths else 0.0

    found = []
    for i, row in enumerate(rows):
        near = [
            (-round(cosine(row, other), 9), j)
            for j, other in enumerate(others)
            if among is not None or j != i
        ]
        found.append(sorted(near)[:k])
    index = [[j for _, j in near] for near in found]
    return index, [[-value for value, _ in near] for near in found]


@pytest.mark.parametrize("block", [1, 37, 10**6], ids=["row by row", "uneven", "at once"])
@pytest.mark.parametrize("k", [1, 4, 29, 50])
def test_it_finds_what_a_slow_search_finds(k, block, monkeypatch):
    monkeypatch.setattr(neighbors, "BLOCK", block)
    z = torch.randn(30, 5, generator=torch.Generator().manual_seed(0))
    index, similarity = slow(z, k)
    found = nearest(z, k)
    assert found.indices.tolist() == index
    assert np.allclose(found.similarity, similarity, atol=1e-6)
    assert found.indices.shape == (30, min(k, 29))


@given(st.lists(st.lists(st.integers(-2, 2), min_size=2, max_size=2), min_size=2, max_size=12))
def test_ties_go_to_the_smaller_number(rows):
    z = torch.tensor(rows, dtype=torch.float32)
    assert nearest(z, 3).indices.tolist() == slow(z, 3)[0]


def test_it_searches_in_other_rows_and_for_some_rows_only():
    z, among = torch.randn(2, 12, 4, generator=torch.Generator().manual_seed(1))
    assert nearest(z, 3, among=among).indices.tolist() == slow(z, 3, among)[0]
    assert nearest(z, 3, among=z).indices[:, 0].tolist() == list(range(12))
    queries = torch.tensor([7, 2])
    assert nearest(z, 3, queries=queries).indices.tolist() == [slow(z, 3)[0][q] for q in (7, 2)]


def test_the_length_of_a_row_does_not_matter_and_a_zero_row_is_near_to_nothing():
    z = torch.tensor([[1.0, 0.0], [0.0, 0.0], [3e30, 0.0], [-1.0, 0.0]])
    found = nearest(z, 3)
    assert found.indices.tolist() == [[2, 1, 3], [0, 2, 3], [0, 1, 3], [1, 0, 2]]
    assert found.similarity[0].tolist() == [1.0, 0.0, -1.0]


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(InputError, match="embedding 1, counted from 0, holds NaN"):
        nearest(torch.tensor([[1.0], [torch.nan]]), 1)
    with pytest.raises(InputError, match="2 and 3 wide"):
        nearest(torch.ones(2, 2), 1, among=torch.ones(2, 3))
