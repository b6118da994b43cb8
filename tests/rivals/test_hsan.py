"""HSAN: its weights of pairs, its sum of gradients, its clusters, its presets.

What it has in common with other node methods: test_every_node_rival.
"""

import numpy as np
import pytest
import torch

from augcl import HSAN, load_model
from augcl.methods import presets
from augcl.ops.cosine import unit_rows
from augcl.rivals.hsan import LEVELS, SummingAdam, clustered, hard_pair_contrast, reweigh
from augcl.training.batches import NodeBatch
from quick_nodes import losses


def quick(**options):
    small = {"epochs": 4, "width": 8, "clusters": 3, "components": 10, "progress": False}
    return HSAN(**{**small, **options})


def test_hsans_weights_set_in_after_the_first_step(graph):
    plain = losses(quick(confident=0.0).fit(graph))
    model = quick(confident=0.9).fit(graph)
    assert losses(model)[0] == plain[0]
    assert losses(model)[1] != plain[1]
    changed = model.weights_ != 255
    assert changed[:90].any(1).sum() == 81
    assert model.weights_.equal(model.weights_.t())


def test_gradients_add_up_under_the_recipe_of_the_authors_alone(graph):
    one, summed = (quick(recipe=r).fit(graph) for r in ("default", "authors"))
    assert losses(one)[:2] == losses(summed)[:2]
    assert losses(one)[2:] != losses(summed)[2:]


def test_gradients_that_add_up_are_those_never_set_to_zero():
    one, other = (torch.nn.Parameter(torch.ones(3)) for _ in range(2))
    ours, theirs = SummingAdam([one], lr=0.1), torch.optim.Adam([other], lr=0.1)
    for step in range(5):
        ours.zero_grad()
        ((one - step) ** 2).sum().backward()
        ((other - step) ** 2).sum().backward()
        ours.step()
        theirs.step()
    assert one.equal(other)


def test_a_saved_model_leaves_the_weights_of_the_pairs_behind(graph, tmp_path):
    model = quick().fit(graph)
    model.save(tmp_path)
    assert load_model(tmp_path).weights_ is None


def test_doubt_is_least_where_one_centre_is_far_nearer():
    z = torch.tensor([[0.0], [0.1], [5.0], [5.1], [2.5]])
    labels, doubt = clustered(z, 2, torch.Generator().manual_seed(0))
    assert labels[0] == labels[1] != labels[2] == labels[3]
    assert doubt.argmax() == 4


def test_presets_of_hsan_are_what_was_published():
    keys = ["filter_steps", "lr", "components", "width", "activation", "confident", "beta"]
    published = {
        "Cora": [2, 1e-3, 500, 1500, "identity", 0.9, 1],
        "CiteSeer": [2, 1e-3, 500, 1500, "sigmoid", 0.3, 2],
        "Amazon-Photo": [3, 1e-5, 0, 500, "identity", 0.9, 3],
        "BAT": [6, 1e-3, 0, 1500, "identity", 0.3, 5],
        "EAT": [6, 1e-4, 0, 1500, "identity", 0.7, 5],
        "UAT": [6, 1e-4, 0, 500, "sigmoid", 0.7, 5],
        "default": [2, 1e-3, 500, 1500, "identity", 0.9, 1],
        "Amazon-Computers": [2, 1e-3, 500, 1500, "identity", 0.9, 1],
        "Wiki-CS": [2, 1e-3, 0, 1500, "identity", 0.9, 1],
    }
    for name, values in published.items():
        assert [presets.get_preset(name, presets.HSAN)[key] for key in keys] == values


def test_every_data_set_with_settings_for_others_has_some_for_hsan():
    for name in presets.presets():
        if "/" not in name and name != presets.PUBLISHED:
            assert presets.get_preset(name, presets.HSAN)["clusters"] >= 2


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


def test_the_first_weights_are_those_of_a_slow_twin(graph, monkeypatch):
    """They follow from the clusters of the mean of both views, written out with NumPy."""
    seen = {}

    def clusters(z, count, generator):
        seen["z"], (seen["labels"], seen["doubt"]) = z.clone(), clustered(z, count, generator)
        return seen["labels"], seen["doubt"]

    monkeypatch.setattr("augcl.rivals.hsan.clustered", clusters)
    model = quick(epochs=2, confident=0.6, beta=2.0)
    epochs = model.fit_epochs(graph)
    next(epochs)  # no weights yet; they follow the first step
    batch = NodeBatch(model.read(graph))
    z, e = (part.detach().numpy() for part in model.network_(model._x, batch.views.clean.edges))
    a = model.network_.share.item()
    next(epochs)
    epochs.close()
    n = graph.num_nodes
    np.testing.assert_allclose(seen["z"].numpy(), (z[:n] + z[n:]) / 2, atol=1e-5)
    S = a * z @ z.T + (1 - a) * e @ e.T
    S = (S - S.min()) / (S.max() - S.min())
    labels = np.tile(seen["labels"].numpy(), 2)
    sure = np.zeros(n, bool)
    sure[np.argsort(seen["doubt"].numpy(), kind="stable")[: round(0.6 * n)]] = True
    both = np.tile(sure, 2)[:, None] & np.tile(sure, 2)
    expected = np.where(both, np.abs((labels[:, None] == labels) - S) ** 2.0, 1.0)
    np.testing.assert_allclose(model.weights_.numpy() / LEVELS, expected, atol=1.5 / LEVELS)
