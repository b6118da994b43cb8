"""What every other system for nodes promises, and what each adds."""

import networkx as nx
import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

import references
from augcl import BGRL, CCASSG, DGI, GAE, GMI, HSAN, MVGRL, VGAE, GraphMAE, InputError, load_model
from augcl.data import NodeGraph
from augcl.rivals.convolution import mean_summary
from augcl.rivals.gae import divergence
from augcl.runs.run import Spec
from quick_nodes import losses, same
from stopping import stopped_and_resumed, without_seconds

KINDS = [DGI, GMI, MVGRL, HSAN, GAE, VGAE, CCASSG, BGRL, GraphMAE]
QUICK = {
    DGI: {"width": 8, "lr": 0.01},
    GMI: {"width": 8, "lr": 0.01},
    MVGRL: {"width": 8, "lr": 0.01, "strongest": 10, "window": 50},
    HSAN: {"width": 8, "clusters": 3, "components": 10},
    GAE: {"width": 8, "hidden": 8},
    VGAE: {"width": 8, "hidden": 8},
    CCASSG: {"width": 8},
    BGRL: {"width": 8, "predictor": 8, "lr": 0.01},
    GraphMAE: {"width": 8, "heads": 2, "lr": 0.01},
}


def quick(kind, **options):
    return kind(**{"epochs": 4, "progress": False, **QUICK[kind], **options})


def accuracy(z, graph):
    return cross_val_score(LogisticRegression(max_iter=2000), z * 10, graph.y).mean()


# What every one of them promises


@pytest.mark.parametrize("kind", KINDS)
def test_training_lowers_the_loss_and_the_embedding_tells_the_classes(graph, kind):
    model = quick(kind, epochs=40).fit(graph)
    since = 31 if kind is HSAN else 0  # its weights, which change the loss, are then the last ones
    assert losses(model)[-1] < losses(model)[since]
    z = model.transform(graph)
    assert z.shape == (90, 8)
    assert z.dtype == np.float32
    assert accuracy(z, graph) > 0.7


@pytest.mark.parametrize("kind", KINDS)
def test_same_seed_same_bits_and_another_seed_others(graph, kind):
    before = torch.random.get_rng_state()
    one, again, other = (quick(kind, random_state=s).fit(graph) for s in (0, 0, 1))
    assert losses(one) == losses(again)
    assert same(one, again, graph)
    assert losses(one) != losses(other)
    assert torch.random.get_rng_state().equal(before)


@pytest.mark.parametrize("kind", KINDS)
def test_labels_change_no_bit(graph, kind):
    with_labels = quick(kind).fit(graph)
    without = quick(kind).fit(references.communities(labels=False))
    assert losses(with_labels) == losses(without)


RESUMED = [(kind, {}) for kind in KINDS] + [(HSAN, {"recipe": "authors"})]


@pytest.mark.parametrize("epochs", [1, 2, 3])
@pytest.mark.parametrize(("kind", "options"), RESUMED)
def test_a_resumed_run_ends_in_the_same_bits(graph, tmp_path, kind, options, epochs):
    calm = quick(kind, **options).fit(graph)
    resumed = stopped_and_resumed(lambda: quick(kind, **options), graph, tmp_path, epochs)
    assert same(resumed, calm, graph)
    assert without_seconds(resumed.history_) == without_seconds(calm.history_)


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_comes_back_from_its_file_and_can_be_fitted_again(graph, kind, tmp_path):
    model = quick(kind).fit(graph)
    model.save(tmp_path)
    again = load_model(tmp_path)
    assert type(again) is kind
    assert same(again, model, graph)
    assert again.history_ == model.history_
    assert again.settings() == model.settings()
    again.fit(graph)
    assert same(again, model, graph)


@pytest.mark.parametrize("kind", KINDS)
def test_no_epochs_give_the_untrained_encoder_and_other_graphs_are_embedded(graph, kind):
    model = quick(kind, epochs=0).fit(graph)
    assert model.history_ == []
    assert not same(model, quick(kind).fit(graph), graph)
    other = references.communities(40, seed=1)
    assert model.transform(other).shape == (40, 8)
    assert model.transform(graph).shape == (90, 8)


@pytest.mark.parametrize("kind", KINDS)
def test_graphs_without_edges_or_features_and_lonely_nodes_are_no_trouble(graph, kind):
    bare = NodeGraph(graph.x, torch.empty(2, 0, dtype=torch.long))
    net = nx.Graph(nx.karate_club_graph().edges)
    net.add_nodes_from(range(34, 40))
    two = NodeGraph.from_arrays(pairs=torch.tensor([[0], [1]]), num_nodes=2)
    for given in (bare, net, two):
        model = quick(kind).fit(given)
        assert np.isfinite(losses(model)).all()
        assert np.isfinite(model.transform(given)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_features_train_as_dense_ones(dense_and_sparse, kind):
    one, other = (quick(kind).fit(graph) for graph in dense_and_sparse)
    assert losses(one) == pytest.approx(losses(other), rel=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_one_node_and_a_set_of_graphs_are_refused(molecules, kind):
    with pytest.raises(InputError, match="has one node"):
        quick(kind).fit(NodeGraph.from_arrays(pairs=torch.empty(2, 0).long(), num_nodes=1))
    with pytest.raises(InputError, match="got a set of 40"):
        quick(kind).fit(molecules)


@pytest.mark.parametrize(
    ("kind", "option", "message"),
    [
        (DGI, {"width": 0}, "width is 0"),
        (DGI, {"lr": 0.0}, "lr is 0.0"),
        (GMI, {"layers": 3}, "layers is 3: GMI takes 1 or 2"),
        (GMI, {"negatives": 0}, "negatives is 0"),
        (GMI, {"edges": -1.0}, "edges is -1.0"),
        (MVGRL, {"alpha": 0.0}, "alpha is 0.0: give a finite number, at least 0.01 and at most 1"),
        (MVGRL, {"window": 1}, "window is 1"),
        (MVGRL, {"recipe": "author"}, "did you mean authors"),
        (HSAN, {"activation": "sigmoit"}, "did you mean sigmoid"),
        (HSAN, {"preset": "Corra"}, "did you mean Cora"),
        (HSAN, {"confident": 1.1}, "confident is 1.1: give a finite number, .* at most 1"),
        (HSAN, {"beta": 0.0}, "beta is 0.0"),
        (HSAN, {"clusters": 1}, "clusters is 1"),
        (GAE, {"hidden": 0}, "hidden is 0"),
        (VGAE, {"epochs": -1}, "epochs is -1"),
        (CCASSG, {"preset": "Corra"}, "did you mean Cora"),
        (CCASSG, {"layers": 0}, "layers is 0"),
        (CCASSG, {"decorrelation": -1}, "decorrelation is -1"),
        (CCASSG, {"edge_drop": 0.2}, "edge_drop is 0.2: give two shares"),
        (BGRL, {"momentum": 1.1}, "momentum is 1.1: give a finite number, .* at most 1"),
        (BGRL, {"predictor": 0}, "predictor is 0"),
        (GraphMAE, {"heads": 3}, "width is 8 and heads is 3: give a width that is a multiple"),
        (GraphMAE, {"hidden": 0.0}, "hidden is 0.0: give a finite number, above 0"),
        (GraphMAE, {"replaced": 1.5}, "replaced is 1.5"),
        (GraphMAE, {"gamma": 0.5}, "gamma is 0.5: give a finite number, at least 1"),
        (BGRL, {"half_hop": (0.5, 2)}, r"half_hop\[1\] is 2"),
    ],
    ids=str,
)
def test_a_wrong_option_is_named_with_what_would_be_right(graph, kind, option, message):
    with pytest.raises(InputError, match=message):
        quick(kind, **option).fit(graph)


@pytest.mark.parametrize("kind", [DGI, HSAN, GAE, VGAE])
def test_where_features_tell_nothing_a_trained_network_beats_an_untrained_one(kind):
    graph = references.communities(150)
    generator = torch.Generator().manual_seed(3)
    words = (torch.rand(150, 100, generator=generator) < 0.1).float()
    random = NodeGraph(words, graph.edge_index, y=graph.y)
    floor, top = (
        accuracy(quick(kind, epochs=epochs).fit(random).transform(random), random)
        for epochs in (0, 100)
    )
    assert top > floor


@pytest.mark.parametrize(
    ("kind", "epochs"),
    [
        (DGI, 500),
        (GMI, 550),
        (MVGRL, 500),
        (HSAN, 400),
        (GAE, 200),
        (CCASSG, 50),
        (BGRL, 500),
        (GraphMAE, 100),
    ],
)
def test_an_experiment_without_epochs_takes_those_of_the_method(graph, kind, epochs):
    spec = Spec(graph.name, method=kind.__name__, hardness="none", epochs=None)
    assert spec.all_epochs == epochs
    assert spec.estimator(graph, 0)._setting("epochs") == epochs
    with pytest.raises(InputError, match="no negatives to weigh"):
        Spec("Cora", method=kind.__name__, hardness="augcl").estimator(graph, 0)


# DGI


def test_the_summary_is_the_squashed_mean():
    assert mean_summary(torch.zeros(3, 2)).tolist() == [0.5, 0.5]


# GMI


def test_gmis_parts_add_up(graph):
    first = {"epochs": 1, "patience": None}
    parts = [
        losses(quick(GMI, own=a, neighbours=b, edges=c, **first).fit(graph))[0]
        for a, b, c in [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.8, 1, 1)]
    ]
    assert parts[3] == pytest.approx(0.8 * parts[0] + parts[1] + parts[2], rel=1e-5)
    # scores of the two discriminators are squashed, sp(−σ) + sp(σ), and start near σ = ½
    assert parts[0] == pytest.approx(np.log1p(np.exp(-0.5)) + np.log1p(np.exp(0.5)), abs=0.05)


def test_gmi_may_have_one_layer(graph):
    one, two = (quick(GMI, layers=n).fit(graph) for n in (1, 2))
    assert one.network_.second is None
    assert not same(one, two, graph)


# MVGRL


def test_the_embedding_is_the_sum_of_both_views_with_the_whole_diffusion(graph):
    model = quick(MVGRL).fit(graph)
    identity = torch.eye(90, dtype=torch.float64)
    a = identity.clone()
    a[graph.edge_index[0], graph.edge_index[1]] = 1
    root = a.sum(1).rsqrt()
    near = root[:, None] * a * root
    far = 0.2 * torch.linalg.inv(identity - 0.8 * near)
    expected = sum(
        layer.finish(mixing.float() @ graph.x @ layer.weight)
        for layer, mixing in ((model.network_.near, near), (model.network_.far, far))
    )
    assert np.allclose(model.transform(graph), expected.detach(), atol=1e-4)


def test_the_authors_give_every_node_two_loops(graph):
    one, two = (quick(MVGRL, recipe=r).fit(graph) for r in ("default", "authors"))
    assert one._near.values.sum() != two._near.values.sum()
    assert not same(one, two, graph)


def test_a_graph_smaller_than_a_window_is_one_window(graph):
    one, four = (quick(MVGRL, window=90, windows=n).fit(graph) for n in (1, 4))
    assert losses(one) == losses(four)


# VGAE


def test_the_divergence_is_that_of_normal_distributions():
    mean, log_std = torch.randn(2, 6, 3, generator=torch.Generator().manual_seed(0))
    normal = torch.distributions.Normal
    standard = normal(torch.zeros(6, 3), torch.ones(6, 3))
    expected = torch.distributions.kl_divergence(normal(mean, log_std.exp()), standard)
    torch.testing.assert_close(divergence(mean, log_std), expected.sum(1).mean())


def test_vgaes_embedding_is_the_mean_without_noise(graph):
    model = quick(VGAE).fit(graph)
    assert same(model, model, graph)
