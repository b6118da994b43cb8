"""Weights that are computed when they are needed, against those that are stored."""

import importlib

import pytest
import torch

from augcl.data.generators import planted
from augcl.hardness import AffinityUncertainty, NearestOut, Oracle, ProGCL
from augcl.losses.node_info_nce import BlockWeights, PairWeights, node_info_nce, weights_of
from augcl.methods import GCA

ALL = slice(None)
nodes = importlib.import_module("augcl.losses.node_info_nce")  # the function has that name too


def draw(count=60, width=6, seed=0):
    generator = torch.Generator().manual_seed(seed)
    z = torch.randn(count, width, generator=generator)
    return z, z + 0.3 * torch.randn(count, width, generator=generator)


def fitted():
    a, b = draw()
    return {
        "augcl": AffinityUncertainty(passes=2, restarts=0).fit([(a, b)]),
        "distance": AffinityUncertainty(estimator="distance").fit([(a, b)]),
        "progcl": ProGCL().fit([(a, b)]),
        "nearest": NearestOut("projection", top=0.2),
        "oracle": Oracle(),
        "partial": Oracle(among="projection", top=0.3),
    }


@pytest.mark.parametrize("name", ["augcl", "distance", "progcl", "nearest", "oracle", "partial"])
def test_all_columns_are_the_stored_weights_and_the_loss_is_the_same(name):
    hardness, labels = fitted()[name], torch.arange(60) % 4
    a, b = draw(seed=1)
    stored, computed = PairWeights.of(hardness, a, labels=labels), BlockWeights(hardness, a, labels)
    found, expected = (w.block(slice(10, 50), ALL) for w in (computed, stored))
    assert torch.allclose(found, expected, rtol=0.05, atol=0.01)
    losses, gradients = [], []
    for weights in (computed, stored):
        u, v = (part.clone().requires_grad_() for part in (a, b))
        loss = node_info_nce(u, v, tau=0.5, hardness=hardness, weights=weights)
        loss.backward()
        losses.append(loss.item())
        gradients.append(u.grad)
    assert losses[0] == pytest.approx(losses[1], rel=0.02)
    assert torch.allclose(*gradients, rtol=0.1, atol=1e-3)
    assert set(computed.describe(labels)) == set(stored.describe(labels))


def test_a_loss_with_computed_weights_is_that_of_a_double_loop():
    a, b = draw(12, 4)
    hardness = fitted()["nearest"]
    weights = BlockWeights(hardness, a)
    u, v = (torch.nn.functional.normalize(part.double(), dim=1) for part in (a, b))
    w = weights.block(ALL, ALL).double()
    total = 0.0
    for one, other in ((u, v), (v, u)):
        for i in range(12):
            near = (one[i] @ other[i] / 0.5).exp()
            mass = sum(
                w[i, j] * ((one[i] @ z[j] / 0.5).exp())
                for j in range(12)
                if j != i
                for z in (one, other)
            )
            total += float(-(near / (near + mass)).log()) / 24
    loss = node_info_nce(a, b, tau=0.5, hardness=hardness, weights=weights)
    assert loss.item() == pytest.approx(total, rel=1e-5)


@pytest.mark.parametrize("name", ["augcl", "progcl"])
def test_drawn_columns_have_weights_of_mean_one_in_the_order_of_the_stored_ones(name):
    hardness = fitted()[name]
    z, _ = draw(400, seed=2)
    columns = torch.randperm(400, generator=torch.Generator().manual_seed(0))[:200]
    found = BlockWeights(hardness, z).block(ALL, columns)
    expected = PairWeights.of(hardness, z).block(ALL, columns)
    assert found.shape == (400, 200)
    assert abs(float(found.mean()) - 1) < 0.05
    both = torch.stack([found.flatten(), expected.flatten()])
    assert float(torch.corrcoef(both)[0, 1]) > 0.95


def test_the_errors_of_an_oracle_stay_whichever_columns_are_drawn():
    labels = torch.arange(300) % 3
    z, _ = draw(300, seed=3)
    oracle = Oracle(precision=0.8, recall=0.5)
    weights = BlockWeights(oracle.fit([]), z, labels)
    columns = torch.arange(0, 300, 2)
    rows = torch.arange(50)
    first = weights.block(rows, columns)
    # what is taken also follows from the shares of the drawn ones, so that a few pairs may differ
    second = weights.block(rows, torch.arange(300))[:, columns]
    assert float((first == second).float().mean()) > 0.97
    taken = first == first.min()
    false = (labels[rows][:, None] == labels[columns]) & (rows[:, None] != columns)
    assert float((taken & false).sum() / false.sum()) == pytest.approx(0.5, abs=0.06)
    assert float((taken & false).sum() / taken.sum()) == pytest.approx(0.8, abs=0.08)


def test_the_number_of_pairs_decides(monkeypatch):
    z, _ = draw(10)
    assert isinstance(weights_of(NearestOut(), z), PairWeights)
    monkeypatch.setattr(nodes, "MOST_PAIRS", 99)
    assert isinstance(weights_of(NearestOut(), z), PairWeights)  # an exact step needs them all
    assert isinstance(weights_of(NearestOut(), z, sampled=True), BlockWeights)
    monkeypatch.setattr(nodes, "MOST_PAIRS_EXACT", 99)
    assert isinstance(weights_of(NearestOut(), z), BlockWeights)


@pytest.mark.parametrize("candidates", [100, "all"])
@pytest.mark.parametrize("hardness", ["augcl", "progcl", "nearest", "dcl", "hcl"])
def test_a_training_without_a_table_learns_and_tells_its_weights(monkeypatch, hardness, candidates):
    monkeypatch.setattr(nodes, "MOST_PAIRS", 0)
    monkeypatch.setattr(nodes, "MOST_PAIRS_EXACT", 0)
    monkeypatch.setattr("augcl.methods.contrast.FITTED", 256)
    graph = planted(300, classes=3, noise=1.0)
    model = GCA(hardness=hardness, candidates=candidates, epochs=4, warmup=2, width=8, sample=128)
    history = model.fit(graph).history_
    assert all(metrics["loss"] < 20 for metrics in history)
    if hardness in ("augcl", "progcl", "nearest"):
        assert isinstance(model.weights_, BlockWeights)
        assert history[-1]["weight_std"] > 0
