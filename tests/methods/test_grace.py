import dataclasses

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

import references
from augcl import GCA, GRACE, InputError, Oracle, RawFeatures
from augcl.data import NodeGraph
from augcl.hardness import Hardness, Uniform
from augcl.losses.node_info_nce import PairWeights, node_info_nce
from augcl.methods import grace
from augcl.methods.grace import few_columns
from augcl.ops.cosine import cosine
from augcl.ops.diffusion import smoothed
from augcl.runs.run import Spec
from augcl.training.batches import NodeBatch
from augcl.views.nodes import NodeViews
from quick_nodes import losses, quick, same, uncertainty

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
    assert model.history_[10]["hardness"]["state"] == "alive"
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
    model = GRACE(hardness="augcl", epochs=3000)
    model._start()
    assert model._schedule.first_epoch == 400


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


def test_a_narrow_projection_is_compared_in_fewer_numbers_with_the_same_loss(graph):
    model = quick(width=16, projection=5, epochs=1).fit(graph)
    generator = torch.Generator().manual_seed(0)
    (batch,) = model._batches(model.read(graph), generator)
    views = list(model._two_views(batch).draw(generator))
    with torch.no_grad():
        few, many = model._compared(views), [model.network_(view) for view in views]
        assert [z.shape[1] for z in (*few, *many)] == [6, 6, 16, 16]
        torch.testing.assert_close(*(node_info_nce(*pair, tau=0.3) for pair in (few, many)))


@pytest.mark.filterwarnings("ignore::augcl.hardness.CollapseWarning")
@pytest.mark.parametrize("recipe", ["authors", "paper"])
@pytest.mark.parametrize("kind", [GRACE, GCA])
def test_every_recipe_trains(graph, kind, recipe):
    model = quick(kind, hardness="augcl", recipe=recipe).fit(graph)
    assert np.isfinite(losses(model)).all()


@pytest.mark.parametrize("kind", [GRACE, GCA])
def test_slow_nodes_change_the_views_and_a_share_of_0_changes_no_bit(graph, kind):
    plain, with_0, slow = (quick(kind, half_hop=h).fit(graph) for h in (None, (0.0, 0.0), (0.5, 1)))
    assert losses(plain) == losses(with_0) != losses(slow)
    assert same(plain, with_0, graph)
    assert slow.transform(graph).shape == (90, 8)
    assert slow.settings()["half_hop"] == [0.5, 1]


def test_no_slow_nodes_keep_the_names_of_records():
    plain, slow = (Spec("Cora", "GRACE", options=o) for o in ({}, {"half_hop": [0.5, 0.5]}))
    assert "half_hop" not in plain.decides()["settings"]
    assert slow.decides()["settings"]["half_hop"] == [0.5, 0.5]


@pytest.mark.parametrize("half_hop", [0.5, (0.5,), (0.5, 1.1), "ab"])
def test_shares_of_slow_nodes_are_checked(graph, half_hop):
    with pytest.raises(InputError, match="half_hop"):
        quick(half_hop=half_hop).fit(graph)


def test_the_losses_of_nodes_are_the_loss_and_drawn_nodes_stand_for_all(graph, monkeypatch):
    model = quick(epochs=3).fit(graph)
    every = model.node_losses(graph, torch.Generator().manual_seed(0))
    with torch.no_grad():
        views = model._two_views(NodeBatch(model.read(graph))).draw(
            torch.Generator().manual_seed(0)
        )
        one, two = (model.network_(view) for view in views)
        whole = node_info_nce(one, two, tau=model._setting("tau"))
    assert every.shape == (90,)
    assert torch.allclose(every.mean(), whole, atol=1e-4)
    monkeypatch.setattr("augcl.methods.grace.SAMPLED", 30)
    some = model.node_losses(graph, torch.Generator().manual_seed(0))
    assert torch.allclose(some.mean(), whole, rtol=0.05)
    large = quick(epochs=1, batch_nodes=32).fit(graph)
    assert large.node_losses(graph, torch.Generator().manual_seed(0)) is None


@pytest.mark.parametrize("sparse", [False, True])
def test_many_columns_of_features_are_compared_in_fewer(sparse, monkeypatch):
    generator = torch.Generator().manual_seed(1)
    x = (torch.rand(300, 900, generator=generator) < (0.02 if sparse else 0.1)).float()
    x[:150] += (torch.rand(900, generator=generator) < 0.01).float()  # two groups
    pairs = torch.randint(300, (2, 600), generator=generator)
    graph = NodeGraph.from_arrays(pairs=pairs, num_nodes=300, x=x)
    assert (graph.x.layout == torch.sparse_csr) == sparse
    view = NodeViews(graph).clean
    assert torch.equal(few_columns(view), x)  # not large: bit for bit
    expected = smoothed(x, view.edges)
    monkeypatch.setattr(grace, "MOST_NUMBERS", 1000)
    found = few_columns(view)
    assert found.shape == (300, 512)
    assert torch.equal(found, few_columns(view))
    error = cosine(*2 * [smoothed(found, view.edges)]) - cosine(expected, expected)
    assert float(error.square().mean().sqrt()) < 0.06
    model = GRACE(hardness=Oracle(among="features"), epochs=1, width=8, warmup=0)
    graph = dataclasses.replace(graph, y=torch.arange(300) // 150)
    assert model.fit(graph)._features[1].shape == (300, 512)
