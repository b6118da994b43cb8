import math

import pytest
import torch
from torch import nn

import references
from augcl.hardness.uncertainty import Entropy, Gamblers, PairNetwork, SoftmaxResponse
from benchmarks import textbook

REWARDS = [1.1, 1.5, 1.9, 2.5]


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def logits_and_groups(classes, scale=3.0, n=40):
    logits = scale * torch.randn(n, classes, dtype=torch.float64, generator=generator())
    return logits, torch.randint(2, (n,), generator=generator())


@pytest.mark.parametrize("reward", REWARDS)
def test_gamblers_loss_in_log_space_is_the_plain_formula(reward):
    logits, group = logits_and_groups(3)
    loss = Gamblers(reward).loss(logits, group).item()
    assert loss == pytest.approx(references.gamblers_loss(logits, group, reward), abs=1e-12)
    assert loss == pytest.approx(textbook.gamblers_loss(logits, group, reward).item(), abs=1e-12)


@pytest.mark.parametrize("reward", REWARDS)
def test_gamblers_loss_of_paper_and_code_have_one_gradient(reward):
    logits, group = logits_and_groups(3)
    logits.requires_grad_()
    p = torch.softmax(logits, 1)
    right = p.gather(1, group[:, None])[:, 0]
    paper = -torch.log(reward * right + p[:, 2]).mean()
    ours = Gamblers(reward).loss(logits, group)
    of_paper, of_ours = (
        torch.autograd.grad(loss, logits, retain_graph=True)[0] for loss in (paper, ours)
    )
    assert of_ours.allclose(of_paper, atol=1e-14)
    assert (ours - paper).item() == pytest.approx(math.log(reward), abs=1e-12)


def test_gamblers_loss_of_always_abstaining_is_the_log_of_the_reward():
    logits = torch.tensor([[-60.0, -60.0, 60.0]] * 4)
    estimator = Gamblers(1.7)
    assert estimator.loss(logits, torch.tensor([0, 1, 0, 1])).item() == pytest.approx(math.log(1.7))
    assert estimator.ignorance == math.log(1.7)


def test_gamblers_uncertainty_is_the_third_probability():
    logits, _ = logits_and_groups(3)
    u = Gamblers().log_uncertainty(logits).exp()
    assert u.allclose(torch.softmax(logits, 1)[:, 2], atol=1e-14)


def test_softmax_response_is_one_minus_the_largest_probability():
    logits, _ = logits_and_groups(2)
    u = SoftmaxResponse().log_uncertainty(logits).exp()
    assert u.allclose(1 - torch.softmax(logits, 1).amax(1), atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_entropy_is_the_plain_sum_at_every_scale(dtype):
    gaps = torch.cat([torch.linspace(-40, 40, 161), torch.tensor([1e-3, 14.99, 15.0, 15.01])])
    logits = torch.stack([gaps, torch.zeros_like(gaps)], 1).to(dtype)
    ours = Entropy().log_uncertainty(logits)
    plain = torch.tensor([math.log(references.entropy(row)) for row in logits.double().tolist()])
    assert ours.double().allclose(plain.double(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("estimator", [Gamblers(), SoftmaxResponse(), Entropy()])
def test_estimators_are_finite_for_huge_logits(estimator):
    entries = torch.tensor([0.0, 1e-30, 1.0, 50.0, 200.0, 1e4, 1e30])
    entries = torch.cat([entries, -entries])
    rows = torch.cartesian_prod(*[entries] * estimator.classes)
    assert estimator.log_uncertainty(rows).isfinite().all()
    rows.requires_grad_()
    loss = estimator.loss(rows, torch.zeros(len(rows), dtype=torch.long))
    loss.backward()
    assert loss.isfinite()
    assert rows.grad.isfinite().all()


def plain_mlp(network):
    """The pair network as a stack of layers on concatenated pairs."""
    return nn.Sequential(network.first, nn.ReLU(), network.middle, nn.ReLU(), network.last)


def inputs(n=7, m=9, d=5):
    anchors = torch.randn(n, d, generator=generator(1))
    candidates = torch.randn(m, d, generator=generator(2))
    return anchors, candidates, torch.randn(n, m, generator=generator(3))


def pair_network(classes=3, hidden=16):
    network = PairNetwork(5, classes, hidden=hidden, generator=generator())
    for layer in (network.first, network.middle, network.last):
        layer.bias.data.uniform_(-1, 1, generator=generator())
    return network


@pytest.mark.parametrize("classes", [2, 3])
def test_factorised_network_is_the_mlp_on_concatenated_pairs(classes):
    network = pair_network(classes)
    anchors, candidates, affinity = inputs()
    pairs = textbook.pair_inputs(anchors, candidates, affinity)
    expected = plain_mlp(network)(pairs).view(7, 9, classes)
    assert network(anchors, candidates, affinity).allclose(expected, atol=1e-5)


def test_factorised_network_has_the_gradients_of_the_plain_one():
    network = pair_network().double()
    given = [t.double() for t in inputs()]
    network(*given).square().sum().backward()
    ours = [p.grad.clone() for p in network.parameters()]
    network.zero_grad()
    plain_mlp(network)(textbook.pair_inputs(*given)).square().sum().backward()
    for fast, slow in zip(ours, network.parameters(), strict=True):
        assert fast.allclose(slow.grad)


@pytest.mark.parametrize("pairs", [1, 9, 20, 10_000])
def test_blocks_of_rows_give_the_same_logits(pairs):
    network, given = pair_network(), inputs()
    assert network.blocked(*given, pairs=pairs).allclose(network(*given), atol=1e-6)
