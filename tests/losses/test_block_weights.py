"""Weights that are computed when they are needed, against those that are stored."""

import importlib

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from augcl.data.generators import planted
from augcl.hardness import DCL, HCL, AffinityUncertainty, NearestOut, Oracle, ProGCL
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


def test_the_errors_of_an_oracle_stay_in_whatever_batch_two_nodes_meet():
    labels = torch.arange(300) % 3
    z, _ = draw(300, seed=3)
    oracle = Oracle(recall=0.5).fit([])
    whole = BlockWeights(oracle, z, labels).block(torch.arange(300), torch.arange(300))
    for ids in (torch.arange(0, 300, 2), torch.arange(100, 250)):
        known = {"labels": labels[ids], "numbers": ids}
        computed = BlockWeights(oracle, z[ids], **known)
        some = torch.arange(0, len(ids), 3)
        assert torch.equal(computed.block(ALL, some), whole[ids][:, ids[some]])
        for stored in (computed.block(ALL, ALL), PairWeights.of(oracle, z[ids], **known)):
            found = stored if isinstance(stored, torch.Tensor) else stored.block(ALL, ALL)
            others = ~torch.eye(len(ids), dtype=torch.bool)  # a node is no negative of its own
            assert torch.equal(found[others] > 0.5, whole[ids][:, ids][others] > 0.5)


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


def test_stripes_of_any_size_give_the_same_mass_and_gradient(monkeypatch):
    labels = torch.arange(20) % 3
    a, b = draw(count=20, seed=2)
    found = []
    for stripe in (128, 7):
        monkeypatch.setattr(nodes, "STRIPE", stripe)
        weights = BlockWeights(Oracle(), a, labels)
        z = torch.nn.functional.normalize(torch.cat([a, b]), dim=1).requires_grad_()
        mass = nodes.striped_mass(z, 0.5, weights)
        mass.log().sum().backward()
        found.append((mass.detach(), z.grad))
    z = found[0][1].new_tensor(torch.nn.functional.normalize(torch.cat([a, b]), dim=1).tolist())
    every = torch.arange(20)
    for view in (0, 20):
        for i in range(20):
            others = [j for j in every.tolist() if labels[j] != labels[i]]
            columns = torch.tensor(others + [20 + j for j in others])
            slow = ((z[columns] @ z[view + i] - 1) / 0.5).exp().sum()
            assert found[0][0][view + i].item() == pytest.approx(slow.item(), rel=1e-4)
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)


class Largest(TorchDispatchMode):
    """Note the most numbers in a tensor that any operation returns."""

    numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        found = func(*args, **(kwargs or {}))
        for one in found if isinstance(found, tuple | list) else (found,):
            if isinstance(one, torch.Tensor):
                self.numbers = max(self.numbers, one.numel())
        return found


HARDNESSES = {
    "augcl": lambda: AffinityUncertainty(passes=1, warmup=1, restarts=0),
    "progcl": ProGCL,
    "progcl-mix": lambda: ProGCL(mode="mix"),
    "dcl": DCL,
    "hcl": HCL,
    "nearest": NearestOut,
    "oracle": Oracle,
    "partial": lambda: Oracle(among="propagated", precision=0.8, recall=0.5),
}


@pytest.mark.filterwarnings("ignore::augcl.hardness.CollapseWarning")
@pytest.mark.parametrize("name", HARDNESSES)
def test_sampled_negatives_never_need_a_tensor_of_all_pairs(monkeypatch, name):
    monkeypatch.setattr(nodes, "MOST_PAIRS", 0)
    monkeypatch.setattr(nodes, "DESCRIBED", 64)
    monkeypatch.setattr("augcl.methods.contrast.FITTED", 256)
    monkeypatch.setattr("augcl.methods.contrast.FEWER", 128)
    size, drawn = 3000, 40
    model = GCA(
        hardness=HARDNESSES[name](),
        candidates=drawn,
        epochs=2,
        warmup=1,
        width=8,
        projection=8,
        sample=64,
    )
    with Largest() as largest:
        model.fit(planted(size, classes=3, features=8))
    assert largest.numbers < size**2 / 10


@pytest.mark.filterwarnings("ignore::augcl.hardness.CollapseWarning")
@pytest.mark.parametrize("candidates", [50, "all"])
@pytest.mark.parametrize("name", HARDNESSES)
def test_mini_batches_train_with_every_hardness(monkeypatch, name, candidates):
    seen = []
    given = BlockWeights if candidates == 50 else PairWeights.of
    monkeypatch.setattr(
        "augcl.methods.grace.BlockWeights", lambda *a, **k: seen.append(k) or given(*a, **k)
    )
    monkeypatch.setattr(
        "augcl.methods.grace.weights_of", lambda *a, **k: seen.append(k) or weights_of(*a, **k)
    )
    model = GCA(
        hardness=HARDNESSES[name](),
        candidates=candidates,
        batch_nodes=150,
        epochs=4,
        warmup=2,
        width=8,
        sample=64,
    )
    graph = planted(500, classes=3, noise=1.0)
    history = model.fit(graph).history_
    assert all(0 < metrics["loss"] < 20 for metrics in history)
    if name not in ("dcl", "hcl"):  # these have no weights
        assert 0 < history[-1]["weight_std"] < 5
        for epoch in (seen[:4], seen[4:8]):  # the nodes of four batches
            assert torch.equal(
                torch.cat([k["numbers"] for k in epoch]).sort().values, torch.arange(500)
            )
