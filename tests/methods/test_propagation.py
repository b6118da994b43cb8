"""Propagation against the dense linear solve and a loop over nodes, and as a method like others."""

from contextlib import contextmanager
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch.utils._python_dispatch import TorchDispatchMode

import references
from augcl import InputError, Propagation, evaluate, load, load_model
from augcl.data import NodeGraph
from augcl.data.generators import planted
from augcl.methods import propagation
from augcl.ops.reduction import leading_directions

PLAIN = {"width": None, "unit_rows": False, "rotate": False}


@pytest.fixture(scope="module")
def weighted(graph):
    weight = 0.5 + (graph.edge_index.sum(0) % 3).float()  # the same in both directions
    return replace(graph, edge_weight=weight)


def mixing(graph):
    """(N, N) D̂^{-1/2} (A + I) D̂^{-1/2}, whole."""
    a = torch.eye(graph.num_nodes, dtype=torch.float64)
    weight = 1.0 if graph.edge_weight is None else graph.edge_weight.double()
    a[graph.edge_index[0], graph.edge_index[1]] = weight
    root = a.sum(1).rsqrt()
    return root[:, None] * a * root


def centred(x):
    return x - x.mean(0)


@pytest.mark.parametrize("alpha", [0.1, 0.5])
@pytest.mark.parametrize("which", ["graph", "weighted"])
def test_many_steps_solve_the_linear_system(request, which, alpha):
    graph = request.getfixturevalue(which)
    identity = torch.eye(graph.num_nodes, dtype=torch.float64)
    x = centred(graph.x.double())
    expected = centred(alpha * torch.linalg.solve(identity - (1 - alpha) * mixing(graph), x))
    found = Propagation(steps=200, alpha=alpha, **PLAIN).fit_transform(graph)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_blocks_are_those_of_a_loop_over_nodes(weighted):
    neighbours = {v: [] for v in range(weighted.num_nodes)}
    for u, v, w in zip(*weighted.edge_index.tolist(), weighted.edge_weight.tolist(), strict=True):
        neighbours[v].append((u, w))
    size = {v: 1 + sum(w for _, w in around) for v, around in neighbours.items()}
    x = centred(weighted.x.double()).numpy()
    z, blocks = x, [x]
    for _ in range(2):
        z = np.stack(
            [
                0.7 * sum(w * z[u] / (size[u] * size[v]) ** 0.5 for u, w in [*around, (v, 1.0)])
                + 0.3 * x[v]
                for v, around in neighbours.items()
            ]
        )
        blocks.append(z)
    rows = [centred(z) / np.linalg.norm(centred(z), axis=1, keepdims=True) for z in blocks]
    model = Propagation(steps=(0, 1, 2), alpha=0.3, width=None, rotate=False)
    np.testing.assert_allclose(model.fit_transform(weighted), np.hstack(rows), atol=1e-5)


@pytest.mark.parametrize("center", [True, False])
def test_alpha_1_gives_the_features(graph, center):
    found = Propagation(steps=7, alpha=1.0, center=center, **PLAIN).fit_transform(graph)
    np.testing.assert_allclose(found, centred(graph.x) if center else graph.x, atol=1e-6)


def test_a_rotation_keeps_all_products(graph):
    plain = Propagation(rotate=False).fit_transform(graph)
    rotated = Propagation().fit_transform(graph)
    assert not np.allclose(plain, rotated, atol=1e-2)
    np.testing.assert_allclose(rotated @ rotated.T, plain @ plain.T, atol=1e-4)
    norms = np.linalg.norm(plain.reshape(len(plain), 4, -1), axis=2)
    np.testing.assert_allclose(norms, 1, atol=1e-5)  # every row of each of the four blocks


def test_reduced_columns_keep_the_products_where_the_rest_is_small():
    graph = references.communities(90)
    generator = torch.Generator().manual_seed(0)
    wide = graph.x @ torch.randn(24, 200, generator=generator)  # of rank 24
    whole = replace(graph, x=wide)
    models = [Propagation(width=width, rotate=False) for width in (None, 4 * 24)]
    full, reduced = (model.fit_transform(whole) for model in models)
    assert (full.shape[1], reduced.shape[1]) == (800, 96)
    np.testing.assert_allclose(reduced @ reduced.T, full @ full.T, atol=1e-3)


def test_order_of_the_nodes_is_no_matter(graph):
    order = torch.randperm(graph.num_nodes, generator=torch.Generator().manual_seed(0))
    place = torch.argsort(order)
    other = NodeGraph.from_arrays(
        pairs=place[graph.edge_index], num_nodes=graph.num_nodes, x=graph.x[order]
    )
    one, two = Propagation().fit_transform(graph), Propagation().fit_transform(other)
    np.testing.assert_allclose(two, one[order], atol=1e-5)


def test_sparse_features_give_what_dense_ones_give(dense_and_sparse):
    for width in (None, 64):
        models = [Propagation(width=width, rotate=False).fit(g) for g in dense_and_sparse]
        dense, sparse = (m.transform(g) for m, g in zip(models, dense_and_sparse, strict=True))
        np.testing.assert_allclose(sparse @ sparse.T, dense @ dense.T, atol=1e-4)


@pytest.mark.parametrize("options", [{}, {"width": 16}, {"steps": 3, "rotate": False}])
def test_a_saved_model_embeds_the_same_and_other_graphs(graph, tmp_path, options):
    model = Propagation(**options).fit(graph)
    model.save(tmp_path)
    again = load_model(tmp_path)
    assert again.settings() == model.settings()
    other = references.communities(40, seed=1)
    for given in (graph, other):
        assert np.array_equal(again.transform(given), model.transform(given))
    assert len(again.get_feature_names_out()) == model.transform(other).shape[1]
    assert np.array_equal(clone(model).fit_transform(graph), model.transform(graph))


def test_a_graph_of_its_own_is_centred_as_the_fit_was(graph):
    """A part of the graph that no edge leaves is embedded as in the whole."""
    other = references.communities(30, seed=3)
    both = NodeGraph.from_arrays(
        pairs=torch.cat([graph.edge_index, other.edge_index + 90], dim=1),
        num_nodes=120,
        x=torch.cat([graph.x, other.x]),
    )
    model = Propagation().fit(both)
    np.testing.assert_allclose(model.transform(other), model.transform(both)[90:], atol=1e-5)


def test_without_features_degrees_tell_the_nodes_apart(tmp_path):
    net = nx.Graph(nx.karate_club_graph().edges)
    net.add_nodes_from(range(34, 40))
    model = Propagation().fit(net)
    z = model.transform(net)
    assert np.isfinite(z).all()
    assert len(np.unique(z[:34].round(4), axis=0)) > 20
    np.testing.assert_allclose(z[34:], z[34:35].repeat(6, 0), atol=1e-6)
    model.save(tmp_path)
    assert np.array_equal(load_model(tmp_path).transform(net), z)
    assert Propagation().fit_transform(nx.path_graph(2)).shape[0] == 2


def test_it_tells_the_digits():
    graph = load("digits-knn")
    z = Propagation().fit_transform(graph)
    raw = Propagation(steps=0).fit_transform(graph)
    for protocol in ("logistic-10-10-80", "linear-10-10-80"):
        best, floor = (evaluate(x, graph, protocol=protocol, repeats=1).mean for x in (z, raw))
        assert best > max(0.94, floor)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"steps": -1}, "steps is -1"),
        ({"steps": ()}, "steps is empty"),
        ({"alpha": 1.5}, "alpha is 1.5: give a finite number, at least 0 and at most 1"),
        ({"width": 3}, "width is 3: it must be a whole number, 4 or more"),
    ],
)
def test_a_wrong_option_is_named(graph, option, message):
    with pytest.raises(InputError, match=message):
        Propagation(**option).fit(graph)


class NewNumbers(TorchDispatchMode):
    """Note the most numbers in a new tensor that an operation returns."""

    def __init__(self, known):
        super().__init__()
        self.most, self.known = 0, known.untyped_storage().data_ptr()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        found = func(*args, **(kwargs or {}))
        new = isinstance(found, torch.Tensor) and found.untyped_storage().data_ptr() != self.known
        self.most = max(self.most, found.numel() if new else 0)
        return found


def test_the_features_of_a_large_graph_are_not_copied_as_a_whole(monkeypatch):
    graph = planted(40_000, features=96, degree=3)
    settings = {"unit_rows": False, "width": None, "progress": False}
    expected = Propagation(**settings).fit_transform(graph)
    monkeypatch.setattr(propagation, "AUTOMATIC", 1000)
    with NewNumbers(graph.x) as new:
        model = Propagation(**settings).fit(graph)
    assert 40_000 * 32 <= new.most < 40_000 * 96 / 2
    np.testing.assert_allclose(model.transform(graph), expected, atol=1e-5)


@pytest.mark.parametrize("width", [None, 16])
def test_every_step_is_reported_on_a_graph_of_any_size(graph, width, monkeypatch):
    bars = []

    @contextmanager
    def recorded(title, total, **how):
        bars.append((title.split()[-1], total, how["show"], []))
        yield lambda done, note="": bars[-1][-1].append(done)

    found = []

    def directions(*args, **how):
        found.append(len(bars))
        return leading_directions(*args, **how)

    monkeypatch.setattr(propagation, "progress_bar", recorded)
    monkeypatch.setattr(propagation, "leading_directions", directions)
    Propagation(width=width).fit_transform(graph)
    assert [bar[0] for bar in bars] == ["fit", "embed"]
    assert set(found) <= {1}  # the bar of the fit is there
    for _, total, show, done in bars:
        assert show
        assert done == list(range(1, total + 1))
