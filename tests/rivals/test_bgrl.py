import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from augcl import BGRL, load_model
from augcl.encoders.gcn import _finished
from augcl.methods.presets import BGRL as PRESETS
from augcl.methods.presets import get_preset
from augcl.rivals.bgrl import BGRLNetwork, bootstrap_loss, follow
from quick_nodes import losses, same


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def quick(**options):
    return BGRL(**{"epochs": 4, "width": 8, "predictor": 8, "progress": False, **options})


@given(st.integers(1, 20), st.integers(1, 6), st.integers(0, 1000))
def test_the_loss_is_its_formula_and_between_0_and_2(nodes, width, seed):
    a, b = torch.randn(2, nodes, width, generator=seeded(seed))
    cosines = [
        sum(p * q for p, q in zip(u, v, strict=True)) / (math.hypot(*u) * math.hypot(*v))
        for u, v in zip(a.tolist(), b.tolist(), strict=True)
    ]
    found = bootstrap_loss(a, b).item()
    assert found == pytest.approx(1 - sum(cosines) / nodes, abs=1e-5)
    assert -1e-6 <= found <= 2 + 1e-6


def batch_of(model, graph):
    (batch,) = model._batches(model.read(graph), seeded())
    return batch


def test_the_loss_compares_each_view_with_the_other(graph):
    model = quick(epochs=1).fit(graph)
    network = model.network_.train()
    first, second = model._two_views(batch_of(model, graph)).draw(seeded())
    h1, h2 = (network.predictor(network.online(view)) for view in (first, second))
    t1, t2 = (network.target(view) for view in (first, second))
    expected = bootstrap_loss(h1, t2) + bootstrap_loss(h2, t1)
    assert 0 <= expected <= 4
    torch.testing.assert_close(model._first_loss(batch_of(model, graph), seeded()), expected)


def test_equal_networks_identical_views_and_no_predictor_give_0(graph):
    model = quick(edge_drop=(0, 0), feature_drop=(0, 0), epochs=1).fit(graph)
    network = model.network_.train()
    network.predictor = nn.Identity()
    follow(network.target, network.online, 0.0)
    assert model._first_loss(batch_of(model, graph), seeded()).item() == pytest.approx(0, abs=1e-5)


def test_the_target_follows_the_online_network_slowly():
    network = BGRLNetwork(5, 4, 8, seeded())
    before = [phi.clone() for phi in network.target.parameters()]
    thetas = list(network.online.parameters())
    assert any(not phi.equal(theta) for phi, theta in zip(before, thetas, strict=True))
    follow(network.target, network.online, 1.0)
    assert all(map(torch.equal, network.target.parameters(), before))
    follow(network.target, network.online, 0.75)
    for phi, old, theta in zip(network.target.parameters(), before, thetas, strict=True):
        torch.testing.assert_close(phi, 0.75 * old + 0.25 * theta)
    follow(network.target, network.online, 0.0)
    assert all(map(torch.equal, network.target.parameters(), thetas))


def test_the_target_has_no_gradient_and_moves_after_every_step(graph):
    start, end, still = (
        quick(**options).fit(graph).network_
        for options in ({"epochs": 0}, {"epochs": 3}, {"epochs": 3, "momentum": 1.0})
    )
    for name, phi in start.target.named_parameters():
        assert not phi.requires_grad
        assert phi.equal(still.target.get_parameter(name))
    slopes = [network.target.after[0][1].weight for network in (start, end)]
    assert not slopes[0].equal(slopes[1])


def test_the_target_uses_the_statistics_of_its_batch(graph):
    model = quick(epochs=2).fit(graph)
    model.network_.train()
    one = model._first_loss(batch_of(model, graph), seeded()).item()
    for norm in model.network_.target.modules():
        if isinstance(norm, nn.BatchNorm1d):
            norm.running_mean.fill_(100.0)
    assert model._first_loss(batch_of(model, graph), seeded()).item() == one


def test_the_schedules_fit_the_epochs():
    model = BGRL(epochs=1000, lr=0.01)
    rates = [model._lr(epoch) for epoch in range(1000)]
    assert rates[0] == pytest.approx(0.0001)
    assert max(rates) == rates[99] == rates[100] == pytest.approx(0.01)
    assert rates[550] == pytest.approx(0.005)
    assert 0 < rates[-1] < 1e-6
    assert BGRL(epochs=1, lr=0.01)._lr(0) == 0.01


def test_batch_norm_follows_the_last_view_and_ignores_slow_nodes(graph):
    model = quick(epochs=1, half_hop=(1.0, 1.0)).fit(graph)
    network = model.network_.train()
    norms = [m for m in network.online.modules() if isinstance(m, nn.BatchNorm1d)]
    assert [norm.momentum for norm in norms] == [0.99, 0.99]
    (view, _) = model._two_views(batch_of(model, graph)).draw(seeded())
    assert view.slow is not None
    inputs = []
    norms[0].register_forward_pre_hook(lambda _, given: inputs.append(given[0]))
    network.online(view)
    (rows,) = inputs
    assert len(rows) == 90
    torch.testing.assert_close(norms[0].running_mean, rows.mean(0), atol=0.05, rtol=0.05)


def test_slow_nodes_are_normalised_by_the_statistics_of_the_others(graph):
    model = quick(epochs=1, half_hop=(0.5, 0.5)).fit(graph)
    gcn = model.network_.online.train()
    view, _ = model._two_views(batch_of(model, graph)).draw(seeded())
    hidden = torch.randn(len(view.edges.incoming.ptr) - 1, 16, generator=seeded())
    found = _finished(hidden, gcn.after[0], view)
    norm, act = gcn.after[0]
    mean, std = hidden[:90].mean(0), (hidden[:90].var(0, correction=0) + norm.eps).sqrt()
    torch.testing.assert_close(found, act((hidden - mean) / std * norm.weight + norm.bias))
    gcn.eval()
    assert torch.equal(_finished(hidden, gcn.after[0], view), gcn.after[0](hidden))


def test_slow_nodes_change_the_views_and_a_model_with_them_comes_back(graph, tmp_path):
    plain, with_0, slow = (quick(half_hop=h).fit(graph) for h in (None, (0, 0), (0.5, 1.0)))
    assert losses(plain) == losses(with_0) != losses(slow)
    slow.save(tmp_path)
    assert same(load_model(tmp_path), slow, graph)


def test_presets_are_as_published():
    photo = get_preset("Amazon-Photo", PRESETS)
    assert photo == {
        "epochs": 10000,
        "width": 128,
        "edge_drop": [0.4, 0.1],
        "feature_drop": [0.1, 0.2],
        "lr": 0.0001,
    }
    assert get_preset("Wiki-CS", PRESETS)["width"] == 256
