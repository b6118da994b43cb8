"""WLFeatures against a slow count; unseen graphs, permutations, numbers, files."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch

import augcl
from augcl import InputError, WLFeatures, load_model
from augcl.data import GraphSet, components, digits
from augcl.methods.wl_features import degree_profile


def slow_counts(graphs, height, edges=None):
    """One Counter per graph, of nested tuples as labels."""
    found = []
    for i in range(len(graphs)):
        data = graphs[i]
        around = [[] for _ in range(data.num_nodes)]
        for e, (u, v) in enumerate(data.edge_index.t().tolist()):
            kind = None if edges is None else tuple(data.edge_attr[e].tolist())
            around[u].append((kind, v))
        labels = [tuple(row) for row in data.x.tolist()]
        count = Counter(labels)
        for _ in range(height):
            labels = [
                (labels[u], tuple(sorted((str(kind), str(labels[v])) for kind, v in around[u])))
                for u in range(data.num_nodes)
            ]
            count.update(labels)
        found.append(count)
    return found


@pytest.mark.parametrize("bonds", [True, False])
def test_rows_have_the_inner_products_of_square_roots_of_counts(bonds):
    graphs = augcl.load("MUTAG")[:30]
    slow = slow_counts(graphs, 2, edges=True if bonds else None)
    shared = Counter(label for count in slow for label in count)
    Z = WLFeatures(height=2, width=30, edge_labels=bonds).fit_transform(graphs).astype(np.float64)

    def product(a, b):
        return sum(np.sqrt(a[k] * b[k]) for k in a.keys() & b.keys() if shared[k] > 1)

    expected = [[product(a, b) for b in slow] for a in slow]
    np.testing.assert_allclose(Z @ Z.T, expected, rtol=1e-3, atol=1e-2)


def test_the_order_of_the_nodes_changes_nothing():
    graphs = components(per_class=8, seed=2)
    order = torch.cat(
        [
            start + torch.randperm(int(n), generator=torch.Generator().manual_seed(int(start)))
            for start, n in zip(graphs.node_ptr[:-1], graphs.node_ptr.diff(), strict=True)
        ]
    )
    source, target = order[graphs.edge_index]
    once = source < target
    shuffled = GraphSet.from_arrays(
        pairs=torch.stack([source[once], target[once]]),
        graph_of_node=graphs.graph_of_node,
        num_graphs=len(graphs),
    )
    model = WLFeatures(width=8).fit(graphs)
    np.testing.assert_allclose(model.transform(shuffled), model.transform(graphs), atol=1e-4)


def test_graphs_never_seen_are_embedded_by_what_they_share(tmp_path):
    graphs = augcl.load("MUTAG")
    model = WLFeatures(width=16).fit(graphs[:100])
    Z = model.transform(graphs)
    np.testing.assert_allclose(Z[:100], model.transform(graphs[:100]), atol=1e-4)
    assert np.isfinite(Z).all()
    model.save(tmp_path)
    assert np.array_equal(load_model(tmp_path).transform(graphs), Z)


def test_numbers_are_cut_into_quarters_of_the_nodes():
    graphs = digits()[:60]
    model = WLFeatures(width=20).fit(graphs)
    rows = graphs.x[:, 1]  # of pixels: eight values
    for cut, share in zip(model.cuts_[1], (0.25, 0.5, 0.75), strict=True):
        assert (rows < cut).float().mean() <= share < (rows <= cut).float().mean()
    assert model.transform(graphs).shape == (60, 20)
    assert np.isfinite(model.transform(digits()[60:80])).all()


def test_the_largest_vocabulary_has_the_most_common_labels():
    graphs = augcl.load("MUTAG")
    model = WLFeatures(vocabulary=5, width=4).fit(graphs)
    assert len(model.vocabulary_) == 5
    counts, names = model._counts(model.read(graphs))
    having = np.bincount(counts.indices, minlength=len(names))
    assert having[np.isin(names, model.vocabulary_)].min() == np.sort(having)[-5]


def test_a_degree_profile_is_that_of_a_loop_over_nodes():
    graphs = components(per_class=3, seed=4)
    degree = torch.bincount(graphs.edge_index[0], minlength=graphs.num_nodes).double()
    for v, found in enumerate(degree_profile(graphs).tolist()):
        around = degree[graphs.edge_index[1][graphs.edge_index[0] == v]]
        rest = [0.0] * 4
        if len(around):
            spread = around.std(correction=0)
            rest = [float(value) for value in (around.min(), around.max(), around.mean(), spread)]
        assert found == pytest.approx([float(degree[v]), *rest])


def test_graphs_without_edges_or_alone_are_embedded():
    graphs = components(per_class=2, seed=1)
    bare = replace(graphs, edge_index=graphs.edge_index[:, :0])
    assert np.isfinite(WLFeatures().fit_transform(bare)).all()
    assert WLFeatures().fit_transform(graphs[:1]).shape == (1, 1)


@pytest.mark.parametrize("given", [{"height": -1}, {"width": 0}, {"vocabulary": 0}])
def test_impossible_settings_are_refused(given):
    (name,) = given
    with pytest.raises(InputError, match=name):
        WLFeatures(**given).check()


def test_graphs_that_share_no_label_are_embedded_apart():
    numbers = torch.arange(12).reshape(-1, 1).float() + 1  # ids of nodes as features
    graphs = GraphSet.from_arrays(
        pairs=torch.tensor([[0, 4, 8], [1, 5, 9]]),
        graph_of_node=torch.arange(12) // 4,
        num_graphs=3,
        x=numbers,
    )
    Z = WLFeatures().fit_transform(graphs)
    np.testing.assert_allclose(Z @ Z.T, 20 * np.eye(3), atol=1e-3)  # four nodes, five rounds
