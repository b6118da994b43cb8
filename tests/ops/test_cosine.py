import pytest
import torch

import references
from augcl.ops.cosine import cosine, unit_rows


def rows(n=5, *, dtype=torch.float64, seed=0):
    return torch.randn(n, 4, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def test_cosine_is_the_normalised_dot_product():
    a, b = rows(4), rows(6, seed=1)
    slow = torch.tensor(references.cosines(a, b), dtype=torch.float64)
    assert cosine(a, b).allclose(slow, atol=1e-14)


@pytest.mark.parametrize("scale", [1e-30, 1e-15, 1.0, 1e19, 1e30, 1e38])
def test_the_scale_of_a_row_does_not_matter(scale):
    a = rows(dtype=torch.float32)
    a = a / a.abs().amax(1, keepdim=True)
    assert unit_rows(a * scale).allclose(unit_rows(a), atol=1e-6)


def test_a_zero_row_has_cosine_zero_and_no_gradient():
    a = rows().float()
    a[2] = 0
    a.requires_grad_()
    b = rows(seed=1).float().requires_grad_()
    similarity = cosine(a, b)
    similarity.sum().backward()
    assert similarity[2].tolist() == [0.0] * 5
    assert a.grad[2].tolist() == [0.0] * 4
    assert a.grad.isfinite().all()
    assert b.grad.isfinite().all()


def test_a_row_below_the_smallest_normal_number_counts_as_zero():
    a = torch.full((1, 3), 1e-42, requires_grad=True)
    unit_rows(a).sum().backward()
    assert unit_rows(a).tolist() == [[0.0] * 3]
    assert a.grad.tolist() == [[0.0] * 3]


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_gradients_of_huge_and_tiny_rows_are_finite(scale):
    a = (rows().float() * scale).requires_grad_()
    cosine(a, rows(seed=1).float()).square().sum().backward()
    assert a.grad.isfinite().all()
    assert a.grad.abs().max() > 0


def test_gradient_of_the_cosine():
    a, b = rows(3).requires_grad_(), rows(4, seed=1).requires_grad_()
    assert torch.autograd.gradcheck(cosine, (a, b))
