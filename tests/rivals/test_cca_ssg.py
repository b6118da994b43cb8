from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from augcl import CCASSG, InputError
from augcl.methods.presets import CCA_SSG, get_preset
from augcl.rivals.cca_ssg import correlation_loss, standard_columns
from quick_nodes import losses


def embeddings(nodes=30, width=4, seed=0):
    return torch.randn(2, nodes, width, generator=torch.Generator().manual_seed(seed))


def slow_loss(h1, h2, decorrelation):
    """The formula with loops, in double precision."""
    views = []
    for h in (h1, h2):
        h = h.double().numpy()
        views.append((h - h.mean(0)) / h.std(0, ddof=1))
    nodes, width = views[0].shape
    agree = sum(float(z1 @ z2) for z1, z2 in zip(*views, strict=True)) / nodes
    redundant = 0.0
    for z in views:
        for i in range(width):
            for j in range(width):
                redundant += (float(i == j) - float(z[:, i] @ z[:, j]) / nodes) ** 2
    return -agree + decorrelation * redundant


@given(st.integers(3, 40), st.integers(1, 6), st.floats(0, 10), st.integers(0, 1000))
def test_the_loss_is_its_formula(nodes, width, decorrelation, seed):
    h1, h2 = embeddings(nodes, width, seed)
    found = correlation_loss(h1, h2, decorrelation).item()
    assert found == pytest.approx(slow_loss(h1, h2, decorrelation), rel=1e-4, abs=1e-4)


def test_the_gradient_is_that_of_the_formula():
    h1, h2 = embeddings(6, 3).double().requires_grad_()
    assert torch.autograd.gradcheck(lambda a, b: correlation_loss(a, b, 0.3), (h1, h2))


def test_scales_and_shifts_of_columns_change_nothing():
    h1, h2 = embeddings()
    moved = h1 * torch.tensor([1e-4, 3.0, 100.0, 1e4]) + torch.tensor([0.0, 5.0, -7.0, 1e4])
    expected = correlation_loss(h1, h2, 0.1).item()
    assert correlation_loss(moved, h2, 0.1).item() == pytest.approx(expected, rel=1e-3)


def test_white_views_that_agree_have_about_the_least_loss():
    nodes, width, decorrelation = 40, 5, 0.2
    h, _ = embeddings(nodes, width)
    white = torch.linalg.qr((h - h.mean(0)).double()).Q
    expected = -width * (nodes - 1) / nodes + 2 * decorrelation * width / nodes**2
    assert correlation_loss(white, white, decorrelation).item() == pytest.approx(expected)


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1e6])
def test_a_constant_column_is_0_with_a_finite_gradient(value):
    h = embeddings()[0]
    h[:, 1] = value
    h.requires_grad_()
    assert not standard_columns(h)[:, 1].any()
    correlation_loss(h, h, 0.1).backward()
    assert h.grad.isfinite().all()
    assert h.grad.abs().max() < 10


def test_the_published_network_of_coauthor_cs_ignores_the_edges(graph):
    model = CCASSG(uses_edges=False, epochs=2, width=8).fit(graph)
    bare = replace(graph, edge_index=torch.empty(2, 0, dtype=torch.long))
    assert np.array_equal(model.transform(graph), model.transform(bare))
    with pytest.raises(InputError, match="leave one out"):
        CCASSG(uses_edges=False, half_hop=(0.5, 0.5)).fit(graph)


def test_the_preset_decides_whether_features_are_normalised(graph):
    raw, rows_of_1, given = (
        CCASSG(epochs=0, width=8, **options).fit(graph).read(graph).x
        for options in (
            {},
            {"preset": "Cora"},
            {"preset": "Amazon-Photo", "normalize_features": True},
        )
    )
    assert rows_of_1.sum(1).max() <= 1 + 1e-5 < graph.x.sum(1).max()
    assert torch.equal(raw, graph.x)
    assert torch.equal(given, rows_of_1)


def test_presets_are_as_published():
    photo = get_preset("Amazon-Photo", CCA_SSG)
    assert (photo["epochs"], photo["edge_drop"], photo["feature_drop"]) == (
        50,
        [0.3] * 2,
        [0.2] * 2,
    )
    assert (photo["decorrelation"], photo["layers"]) == (0.001, 2)
    assert get_preset("CiteSeer", CCA_SSG)["layers"] == 1
    assert not get_preset("Coauthor-CS", CCA_SSG)["uses_edges"]


def test_slow_nodes_change_the_views(graph):
    plain, with_0, slow = (
        CCASSG(epochs=3, width=8, half_hop=h).fit(graph) for h in (None, (0, 0), (0.5, 1.0))
    )
    assert losses(plain) == losses(with_0) != losses(slow)
    assert slow.transform(graph).shape == (90, 8)
