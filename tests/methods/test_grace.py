import json

import networkx as nx
import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.utils import estimator_checks
from torch_geometric import nn as pyg
from torch_geometric.data import Data
from torch_geometric.utils import to_networkx

import references
from augcl import GCA, GRACE, AffinityUncertainty, InputError, RawFeatures, load_model
from augcl.data import NodeGraph
from augcl.hardness import Hardness, Uniform
from augcl.hardness.pair_weights import PairWeights
from augcl.training import loop

QUICK = {"epochs": 4, "width": 8, "projection": 8, "lr": 0.01, "tau": 0.5}
CHECKS = [
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_set_params",
    "check_estimator_repr",
    "check_estimator_cloneable",
    "check_mixin_order",
]


@pytest.fixture(scope="module")
def graph():
    return references.communities()


def quick(kind=GRACE, **options):
    return kind(**{**QUICK, **options})


def uncertainty(**options):
    """Fast to fit, and alive where it need not be: nobody is warned."""
    return AffinityUncertainty(**{"warmup": 1, "passes": 1, "hidden": 8, "restarts": 0, **options})


def losses(model):
    return [entry["loss"] for entry in model.history_]


def without_seconds(model):
    return [{k: v for k, v in entry.items() if k != "seconds"} for entry in model.history_]


def same(one, other, graph):
    return np.array_equal(one.transform(graph), other.transform(graph))


# What it gives


@pytest.mark.parametrize("kind", [GRACE, GCA])
@pytest.mark.parametrize("hardness", ["none", "augcl"])
def test_training_lowers_the_loss_and_the_embedding_tells_the_classes(graph, kind, hardness):
    model = quick(kind, hardness=hardness, epochs=20).fit(graph)
    assert losses(model)[9] < losses(model)[0] - 0.1
    z = model.transform(graph)
    assert z.shape == (90, 8)
    assert z.dtype == np.float32
    assert cross_val_score(LogisticRegression(max_iter=2000), z, graph.y).mean() > 0.8


def test_the_weights_live_and_are_watched_from_the_epoch_in_which_they_set_in(graph):
    model = quick(hardness="augcl", epochs=20, warmup=10).fit(graph)
    assert ["weight_std" in entry for entry in model.history_] == [False] * 10 + [True] * 10
    assert ["hardness" in entry for entry in model.history_] == [i == 10 for i in range(20)]
    last = model.history_[-1]
    assert model.history_[10]["hardness"]["alive"]
    assert last["weight_std"] > 0.01
    assert last["weight_true_negatives"] > last["weight_false_negatives"]
    assert last["weight_mean"] == pytest.approx(1, abs=0.1)


def test_no_epochs_give_the_untrained_encoder(graph):
    plain, weighted = (quick(epochs=0, hardness=h).fit(graph) for h in ("none", "augcl"))
    assert plain.history_ == []
    assert same(plain, weighted, graph)
    assert not same(plain, quick().fit(graph), graph)


def test_nodes_never_seen_are_embedded(graph):
    model = quick().fit(graph)
    other = references.communities(40, seed=1)
    assert model.transform(other).shape == (40, 8)
    again = NodeGraph(graph.x[:30], torch.empty(2, 0, dtype=torch.long))
    assert np.isfinite(model.transform(again)).all()


def test_raw_features_are_the_features(graph):
    plain = RawFeatures(normalize_features=False).fit_transform(graph)
    assert np.array_equal(plain, graph.x)
    scaled = RawFeatures().fit_transform(graph)
    assert np.allclose(scaled, graph.x / graph.x.sum(1, keepdim=True).clamp_min(1))


# Seeds


@pytest.mark.parametrize("kind", [GRACE, GCA])
def test_same_seed_same_bits_and_another_seed_others(graph, kind):
    options = {"hardness": uncertainty(temper=0), "kind": kind}
    one, again, other = (quick(random_state=s, **options).fit(graph) for s in (0, 0, 1))
    assert losses(one) == losses(again)
    assert same(one, again, graph)
    assert losses(one)[0] != losses(other)[0]


def test_no_seed_is_a_new_seed_every_time_and_torchs_own_is_left_alone(graph):
    before = torch.random.get_rng_state()
    one, other = (quick(random_state=None).fit(graph) for _ in range(2))
    assert losses(one) != losses(other)
    assert torch.random.get_rng_state().equal(before)


def test_labels_change_no_bit(graph):
    options = {"hardness": uncertainty(temper=0.25)}
    with_labels = quick(**options).fit(graph)
    without = quick(**options).fit(references.communities(labels=False))
    assert losses(with_labels) == losses(without)
    assert "weight_true_negatives" in with_labels.history_[-1]
    assert "weight_true_negatives" not in without.history_[-1]


def test_nodes_of_unknown_class_are_neither_true_nor_false_negatives(graph):
    half = graph.y.clone()
    half[30:] = -1
    model = quick(hardness="augcl", warmup=2).fit(NodeGraph(graph.x, graph.edge_index, y=half))
    w = model.weights_.block(slice(0, 30), slice(0, 30))
    alike = half[:30, None] == half[:30]
    others = ~torch.eye(30, dtype=torch.bool)
    last = model.history_[-1]
    assert last["weight_false_negatives"] == pytest.approx(float(w[alike & others].mean()))
    assert last["weight_true_negatives"] == pytest.approx(float(w[~alike].mean()))


# Hardness


def test_uniform_hardness_is_no_hardness_bit_for_bit(graph):
    plain, named, given = (quick(hardness=h).fit(graph) for h in (None, "none", Uniform()))
    assert losses(plain) == losses(named) == losses(given)
    assert plain.weights_ is None


@pytest.mark.parametrize(("warmup", "plain"), [(None, 2), (0, 0), (1, 1), (4, 4)])
def test_hardness_sets_in_exactly_after_the_warm_up(graph, warmup, plain):
    expected = losses(quick().fit(graph))
    model = quick(hardness="augcl", warmup=warmup).fit(graph)
    assert losses(model)[:plain] == expected[:plain]
    assert ["weight_std" in e for e in model.history_] == [i >= plain for i in range(4)]
    assert plain == 4 or losses(model)[plain] != expected[plain]


def test_long_runs_warm_up_for_400_epochs(graph):
    model = GRACE(epochs=3000)
    model._start()
    assert model._warmup == 400


class Counted(Hardness):
    """Tells how often it was fitted and asked, and of how many nodes at a time."""

    asked = 0
    fits = 0

    def __init__(self, refresh=None):
        self.refresh = refresh

    def fit(self, batches, *, generator=None):
        Counted.fits += 1
        Counted.blocks = [len(anchors) for anchors, _ in batches]
        return self

    def log_weights(self, anchors, candidates, affinity):
        Counted.asked += 1
        return affinity


@pytest.mark.parametrize(
    ("options", "computed"),
    [
        ({"weights": "frozen"}, [3]),
        ({"weights": "frozen", "weights_every": 1}, [3]),
        ({"weights": "live", "weights_every": 2}, [3, 5, 7]),
        ({"weights": "live", "weights_every": 1}, [3, 4, 5, 6, 7, 8]),
        ({"hardness": Counted(refresh=3)}, [3, 6]),
    ],
    ids=str,
)
def test_frozen_weights_are_computed_once_and_live_ones_again(graph, options, computed):
    Counted.asked = Counted.fits = 0
    model = quick(**{"hardness": Counted(), "epochs": 8, "warmup": 2, **options}).fit(graph)
    spread = [entry.get("weight_std") for entry in model.history_]
    changes = [e for e in range(1, 9) if spread[e - 1] != ([None, *spread])[e - 1]]
    assert changes == computed
    assert Counted.asked == len(computed)
    assert Counted.fits == (2 if "hardness" in options else 1)


def test_the_hardness_is_fitted_on_blocks_of_nodes(graph):
    quick(hardness=Counted(), sample=40).fit(graph)
    assert sorted(Counted.blocks) == [10, 40, 40]


def test_the_weights_are_those_of_the_clean_graph(graph):
    model = quick(hardness="augcl", warmup=3).fit(graph)
    again = PairWeights.of(model.hardness_, model._anchors)
    assert again.codes.equal(model.weights_.codes)
    assert again.root.equal(model.weights_.root)


def test_a_sample_of_candidates_trains(graph):
    everything, all_of_them, few = (quick(candidates=m).fit(graph) for m in (None, 90, 20))
    assert losses(all_of_them) == losses(everything)
    assert losses(few) != losses(everything)
    assert losses(few)[0] == pytest.approx(losses(everything)[0], rel=0.05)
    weighted = quick(candidates=20, hardness="augcl", warmup=2).fit(graph)
    assert losses(weighted)[:2] == losses(few)[:2]
    assert losses(weighted)[2] != losses(few)[2]


@pytest.mark.filterwarnings("ignore::augcl.hardness.CollapseWarning")
@pytest.mark.parametrize("recipe", ["authors", "paper"])
@pytest.mark.parametrize("kind", [GRACE, GCA])
def test_every_recipe_trains(graph, kind, recipe):
    model = quick(kind, hardness="augcl", recipe=recipe).fit(graph)
    assert np.isfinite(losses(model)).all()


# Stopped and continued


class StopError(Exception):
    pass


def stop_after(monkeypatch, epochs):
    """Let training fail when so many epochs are done and written."""
    write = loop.Snapshot.write

    def write_and_stop(snapshot, path):
        write(snapshot, path)
        if len(snapshot.facts["history"]) == epochs:
            raise StopError

    monkeypatch.setattr(loop.Snapshot, "write", write_and_stop)
    monkeypatch.setattr(GRACE, "checkpoint_seconds", 0.0)


@pytest.mark.parametrize("epochs", [1, 2, 3, 5])
@pytest.mark.parametrize(
    "options",
    [
        {"hardness": None, "edge_drop": (0.1, 0.2)},
        {"hardness": uncertainty(temper=0.25)},
        {"hardness": uncertainty(temper=0.25), "weights": "live", "weights_every": 2},
        {"hardness": uncertainty(temper=0.25), "candidates": 20},
    ],
    ids=["plain", "frozen", "live", "sampled"],
)
def test_a_resumed_run_ends_in_the_same_bits(graph, tmp_path, monkeypatch, epochs, options):
    options = {"epochs": 6, "warmup": 2, **options}
    calm = quick(GCA, **options).fit(graph)
    with monkeypatch.context() as patch:
        stop_after(patch, epochs)
        with pytest.raises(StopError):
            quick(GCA, **options).fit(graph, folder=tmp_path)
    resumed = quick(GCA, **options).fit(graph, folder=tmp_path, resume=True)
    assert same(resumed, calm, graph)
    assert without_seconds(resumed) == without_seconds(calm)
    for key, tensor in calm.network_.state_dict().items():
        assert resumed.network_.state_dict()[key].equal(tensor)
    assert (calm.weights_ is None) == (options["hardness"] is None)
    if calm.weights_ is not None:
        assert resumed.weights_.codes.equal(calm.weights_.codes)


def test_checkpoints_are_rare_and_the_last_epoch_has_one(graph, tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(
        loop.Snapshot, "write", lambda s, path: written.append(len(s.facts["history"]))
    )
    model = quick(epochs=6).fit(graph, folder=tmp_path)
    assert written == [1, 6]
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert lines == model.history_


def test_resume_with_another_setting_names_it(graph, tmp_path):
    quick(epochs=1).fit(graph, folder=tmp_path)
    with pytest.raises(InputError, match=r"edge_drop = \[0\.2, 0\.4\], now it is \[0\.1, 0\.4\]"):
        quick(epochs=1, edge_drop=(0.1, 0.4)).fit(graph, folder=tmp_path, resume=True)
    quick(epochs=1, edge_drop=(0.2, 0.4)).fit(graph, folder=tmp_path, resume=True)


# Models in files


@pytest.mark.parametrize("kind", [GRACE, GCA])
def test_a_model_comes_back_with_embeddings_settings_history_and_weights(graph, kind, tmp_path):
    options = {"hardness": uncertainty(temper=0.25), "edge_drop": (0.1, 0.2)}
    model = quick(kind, activation="prelu", **options).fit(graph)
    model.save(tmp_path)
    again = load_model(tmp_path)
    assert type(again) is kind
    assert same(again, model, graph)
    assert again.history_ == model.history_
    assert again.settings() == model.settings()
    weights = PairWeights.of(again.hardness_, again._anchors)
    assert weights.codes.equal(model.weights_.codes)
    again.fit(graph)
    assert same(again, model, graph)


def test_raw_features_have_a_file_too(graph, tmp_path):
    model = RawFeatures().fit(graph)
    model.save(tmp_path)
    assert same(load_model(tmp_path), model, graph)


# scikit-learn


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("kind", [GRACE, GCA, RawFeatures])
def test_scikit_learns_own_checks_pass(kind, check):
    getattr(estimator_checks, check)(kind.__name__, kind())


def test_clone_copies_all_parameters_and_nothing_learned(graph):
    model = quick(GCA, hardness=uncertainty(reward=1.7, temper=0), centrality="pagerank").fit(graph)
    copy = clone(model)
    assert copy.get_params().keys() == model.get_params().keys()
    assert (copy.centrality, copy.get_params()["hardness__reward"]) == ("pagerank", 1.7)
    assert not hasattr(copy, "network_")
    assert model.epochs == 4
    assert model.activation is None


# Encoders of others


class Stack(torch.nn.Module):
    def __init__(self, features, width):
        super().__init__()
        self.first, self.second = pyg.GCNConv(features, 16), pyg.GCNConv(16, width)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)


@pytest.mark.parametrize("hardness", [None, "augcl"])
@pytest.mark.parametrize("width", [8, 5])
def test_an_encoder_of_pyg_works_however_wide_it_is(graph, hardness, width, tmp_path):
    encoder = Stack(24, width)
    before = [p.clone() for p in encoder.parameters()]
    model = quick(encoder=encoder, hardness=hardness).fit(graph)
    assert model.transform(graph).shape == (90, width)
    assert all(a.equal(b) for a, b in zip(before, encoder.parameters(), strict=True))
    trained = model.network_.encoder.parameters()
    assert not any(a.equal(b) for a, b in zip(before, trained, strict=True))
    model.save(tmp_path)
    with pytest.raises(InputError, match=r"encoder of its own \(Stack\)"):
        load_model(tmp_path)
    assert same(load_model(tmp_path, encoder=Stack(24, width)), model, graph)


def test_an_encoder_for_other_features_is_named(graph):
    with pytest.raises(InputError, match="encoder Stack cannot read nodes with 24 features"):
        quick(encoder=Stack(3, 8)).fit(graph)


# What graphs may be like


def test_every_way_to_give_the_graph_gives_the_same_embeddings(graph):
    data = graph.to_data()
    net = to_networkx(data, node_attrs=["x", "y"], to_undirected=True)
    one_way = Data(
        x=graph.x, edge_index=graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]]
    )
    loops = Data(
        x=graph.x,
        edge_index=torch.cat([graph.edge_index, torch.arange(90).repeat(2, 1)], dim=1),
    )
    expected = quick().fit(graph).transform(graph)
    for given in (data, net, one_way, loops, [data]):
        assert np.array_equal(quick().fit(given).transform(given), expected)


@pytest.mark.parametrize("kind", [GRACE, GCA])
@pytest.mark.parametrize("hardness", [None, "augcl"])
def test_isolated_nodes_and_no_features_are_no_trouble(kind, hardness):
    net = nx.karate_club_graph()
    net.add_nodes_from(range(34, 40))
    model = quick(kind, hardness=hardness, warmup=2).fit(net)
    assert np.isfinite(model.transform(net)).all()
    assert np.isfinite(losses(model)).all()


@pytest.mark.parametrize("kind", [GRACE, GCA])
def test_a_graph_without_edges_is_trained(graph, kind):
    model = quick(kind).fit(NodeGraph(graph.x, torch.empty(2, 0, dtype=torch.long)))
    assert np.isfinite(losses(model)).all()


@pytest.mark.parametrize("kind", [GRACE, GCA])
def test_sparse_features_train_as_dense_ones(graph, kind):
    wide = torch.zeros(90, 600)
    wide[:, :24] = graph.x
    dense = NodeGraph(wide, graph.edge_index)
    sparse = NodeGraph.from_arrays(pairs=graph.edge_index, num_nodes=90, x=wide)
    assert sparse.x.layout == torch.sparse_csr
    one, other = (quick(kind).fit(g) for g in (dense, sparse))
    assert losses(one) == pytest.approx(losses(other), rel=1e-4)
    assert np.allclose(one.transform(dense), other.transform(sparse), atol=1e-3)


# What cannot be


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"activation": "rellu"}, "did you mean relu"),
        ({"preset": "Corra"}, "did you mean Cora"),
        ({"weights": "froze"}, "did you mean frozen"),
        ({"recipe": "author"}, "did you mean authors"),
        ({"hardness": "augl"}, "did you mean augcl"),
        ({"edge_drop": (0.2, 1.0)}, r"edge_drop is \(0\.2, 1\.0\): give two shares"),
        ({"feature_drop": (-0.1, 0.2)}, "feature_drop is .*: give two shares"),
        ({"feature_drop": (float("nan"), 0.2)}, "give two shares"),
        ({"edge_drop": (0.2,)}, "give two shares"),
        ({"edge_drop": 0.3}, "edge_drop is 0.3: give two shares"),
        ({"tau": 0.01}, "tau is 0.01: the temperature must be 0.02 or more"),
        ({"tau": float("inf")}, "temperature"),
        ({"lr": 0.0}, "lr is 0.0"),
        ({"epochs": -1}, "epochs is -1"),
        ({"epochs": 2.5}, "epochs is 2.5"),
        ({"warmup": 9}, "warmup is 9: it must lie between 0 and 4"),
        ({"warmup": 1.5}, "warmup is 1.5"),
        ({"width": 0}, "width is 0"),
        ({"projection": 0}, "projection is 0"),
        ({"sample": 1}, "sample is 1: it must be a whole number, 2 or more"),
        ({"weights_every": 0}, "weights_every is 0"),
        ({"candidates": 1}, "candidates is 1: it must be a whole number, 2 or more"),
        ({"device": "nonsense"}, "device 'nonsense' cannot be used here"),
    ],
    ids=str,
)
def test_a_wrong_option_is_named_with_what_would_be_right(graph, option, message):
    with pytest.raises(InputError, match=message):
        quick(**option).fit(graph)


def test_features_of_another_length_are_told(graph):
    model = quick().fit(graph)
    other = NodeGraph(torch.ones(90, 3), graph.edge_index)
    with pytest.raises(InputError, match=r"3 node features.* 24"):
        model.transform(other)


def test_features_that_are_no_numbers_are_told(graph):
    x = graph.x.clone()
    x[7, 2] = float("nan")
    with pytest.raises(InputError, match="NaN or infinity, first at node 7"):
        quick().fit(Data(x=x, edge_index=graph.edge_index))


def test_one_node_and_a_set_of_graphs_are_refused(mutag, graph):
    with pytest.raises(InputError, match="has one node"):
        quick().fit(NodeGraph.from_arrays(pairs=torch.empty(2, 0).long(), num_nodes=1))
    for several in (mutag, [graph.to_data()] * 2):
        with pytest.raises(InputError, match=r"set of graphs .* use GraphCL"):
            quick().fit(several)


def test_only_a_run_with_a_seed_is_resumed(graph, tmp_path):
    with pytest.raises(InputError, match="random_state is None"):
        quick(random_state=None).fit(graph, folder=tmp_path, resume=True)


def test_a_learning_rate_too_high_is_named(graph, monkeypatch):
    loss = GRACE._loss
    monkeypatch.setattr(GRACE, "_loss", lambda *given: loss(*given) * float("nan"))
    with pytest.raises(InputError, match=r"diverged in epoch 1 .*lr"):
        quick().fit(graph)
