"""HSAN's loss and weights in blocks of rows against the formulas on whole matrices."""

import pytest
import torch

from augcl.ops.cosine import unit_rows
from augcl.rivals.hsan import LEVELS, hard_pair_contrast, reweigh

NODES = 9


def entries(seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    z, e = torch.randn(2, 2 * NODES, 4, generator=generator, dtype=torch.float64).to(dtype)
    a = torch.tensor(0.7, dtype=dtype)
    weights = torch.randint(LEVELS + 1, (2 * NODES, 2 * NODES), generator=generator)
    return unit_rows(z), unit_rows(e), a, weights.to(torch.uint8)


def similarity(z, e, a):
    return a * z @ z.t() + (1 - a) * e @ e.t()


def dense(z, e, a, weights):
    """Row by row as it is written."""
    s = similarity(z, e, a)
    m = torch.ones_like(s) if weights is None else weights / LEVELS
    losses = []
    for i in range(len(s)):
        partner = (i + NODES) % len(s)
        mass = sum(torch.exp(s[i, k] * m[i, k]) for k in range(len(s)) if k != i)
        losses.append(mass.log() - s[i, partner] * m[i, partner])
    return torch.stack(losses).mean()


@pytest.mark.parametrize("block", [1, 5, 100])
@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_have_the_value_and_the_gradients_of_the_whole_matrix(block, weighted):
    *given, weights = entries()
    weights = weights if weighted else None
    one, other = ([part.clone().requires_grad_() for part in given] for _ in range(2))
    found, expected = hard_pair_contrast(*one, weights, block=block), dense(*other, weights)
    torch.testing.assert_close(found, expected)
    for a, b in zip(
        torch.autograd.grad(found, one), torch.autograd.grad(expected, other), strict=True
    ):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("a", [-300.0, 0.0, 40.0])
def test_any_share_gives_finite_numbers(a):
    z, e, _, weights = entries(dtype=torch.float32)
    share = torch.tensor(a, requires_grad=True)
    loss = hard_pair_contrast(z, e, share, weights)
    loss.backward()
    assert loss.isfinite()
    assert share.grad.isfinite()


@pytest.mark.parametrize("block", [4, 100])
@pytest.mark.parametrize("beta", [1.0, 3.0])
def test_weights_change_between_sure_nodes_alone(block, beta):
    z, e, a, weights = entries()
    labels = torch.arange(NODES) % 3
    sure = torch.arange(NODES) < 6
    before = weights.clone()
    reweigh(weights, z, e, a, labels=labels, sure=sure, beta=beta, block=block)
    s = similarity(z, e, a)
    scaled = (s - s.min()) / (s.max() - s.min())
    for i in range(2 * NODES):
        for j in range(2 * NODES):
            if not (sure[i % NODES] and sure[j % NODES]):
                assert weights[i, j] == before[i, j]
                continue
            same = float(labels[i % NODES] == labels[j % NODES])
            expected = abs(same - scaled[i, j]) ** beta
            assert weights[i, j] / LEVELS == pytest.approx(float(expected), abs=0.51 / LEVELS)


def test_equal_entries_are_weighed_without_a_division_by_zero():
    z = torch.ones(4, 1)
    weights = torch.full((4, 4), LEVELS, dtype=torch.uint8)
    sure = torch.tensor([True, True])
    reweigh(weights, z, z, torch.tensor(0.5), labels=torch.tensor([0, 1]), sure=sure, beta=2.0)
    assert weights[:2, :2].tolist() == [[LEVELS, 0], [0, LEVELS]]
