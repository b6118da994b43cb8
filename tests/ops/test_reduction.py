"""Principal directions by products alone, against the whole decomposition."""

import torch

from augcl.ops.reduction import leading_directions


def draw(seed=0):
    return torch.Generator().manual_seed(seed)


def found(matrix, width, seed=0):
    return leading_directions(
        matrix.matmul, matrix.t().matmul, matrix.shape[1], width, draw(seed), device=matrix.device
    )


def spread(rows, columns, rate):
    """A random matrix with singular values 1, rate, rate², …"""
    left = torch.linalg.qr(torch.randn(rows, columns, generator=draw(1)))[0]
    right = torch.linalg.qr(torch.randn(columns, columns, generator=draw(2)))[0]
    return left * rate ** torch.arange(columns) @ right.t()


def test_directions_are_those_of_the_whole_decomposition_whatever_the_start():
    matrix = spread(80, 40, 0.8)
    right = torch.linalg.svd(matrix)[2][:6].t()
    for seed in (0, 1):
        directions = found(matrix, 6, seed)
        cosines = (directions * right).sum(0).abs()
        torch.testing.assert_close(cosines, torch.ones(6), atol=1e-3, rtol=0)
        assert (directions.gather(0, directions.abs().argmax(0, keepdim=True)) > 0).all()
        torch.testing.assert_close(directions.t() @ directions, torch.eye(6), atol=1e-5, rtol=0)


def test_a_matrix_of_lower_rank_has_fewer_directions():
    left, right = torch.randn(30, 3, generator=draw()), torch.randn(3, 20, generator=draw(1))
    assert found(left @ right, 8).shape == (20, 3)
    assert found(torch.zeros(5, 4), 2).shape == (4, 1)
    assert found(torch.zeros(5, 4), 2).isfinite().all()
