import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from augcl.rivals.joao import project_to_simplex

VECTORS = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8)


def by_bisection(b):
    """max(b − μ, 0), where μ is halved in until the sum is 1."""
    low, high = min(b) - 1, max(b)
    for _ in range(200):
        mu = (low + high) / 2
        if sum(max(v - mu, 0) for v in b) > 1:
            low = mu
        else:
            high = mu
    return [max(v - high, 0) for v in b]


@given(VECTORS)
def test_the_result_is_a_distribution(b):
    p = project_to_simplex(torch.tensor(b, dtype=torch.float64))
    assert (p >= 0).all()
    assert p.sum().item() == pytest.approx(1, abs=1e-12)


@given(st.lists(st.floats(-20, 20), min_size=1, max_size=8))
def test_it_is_the_point_that_bisection_finds(b):
    p = project_to_simplex(torch.tensor(b, dtype=torch.float64))
    assert p.tolist() == pytest.approx(by_bisection(b), abs=1e-9)


def test_nothing_on_the_simplex_is_nearer():
    generator = torch.Generator().manual_seed(0)
    b = torch.randn(5, dtype=torch.float64, generator=generator)
    others = torch.rand(2000, 5, dtype=torch.float64, generator=generator)
    others /= others.sum(1, keepdim=True)
    assert (project_to_simplex(b) - b).norm() <= (others - b).norm(dim=1).min()


def test_a_distribution_stays_as_it_is_and_equal_numbers_give_equal_parts():
    p = torch.tensor([0.1, 0.0, 0.6, 0.3], dtype=torch.float64)
    assert project_to_simplex(p).allclose(p)
    assert project_to_simplex(torch.full((5,), 7.0)).tolist() == pytest.approx([0.2] * 5)
