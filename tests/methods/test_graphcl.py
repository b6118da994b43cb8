from dataclasses import replace

import numpy as np
import pytest
import torch
from torch_geometric import nn as pyg
from torch_geometric.utils import to_networkx

from augcl import AffinityUncertainty, GraphCL, InputError
from augcl.hardness import Hardness, Uniform
from quick_nodes import losses

QUICK = {"epochs": 2, "width": 8, "layers": 2}


def quick_uncertainty(**options):
    """Fast to fit; with so little training it may be as good as dead, which is not the point."""
    return AffinityUncertainty(**{"warmup": 1, "passes": 1, "hidden": 8, **options})


# What it gives


def test_embeddings_are_one_float32_row_per_graph(molecules):
    z = GraphCL(**QUICK).fit(molecules).transform(molecules)
    assert z.shape == (40, 16)
    assert z.dtype == np.float32
    assert np.isfinite(z).all()


def test_training_lowers_the_loss(molecules):
    history = losses(GraphCL(epochs=10).fit(molecules))
    assert min(history[5:]) < history[0]


def test_graphs_never_seen_are_embedded_and_rows_do_not_depend_on_each_other(mutag, molecules):
    model = GraphCL(**QUICK).fit(molecules)
    every = model.transform(mutag)
    some = model.transform(mutag.select([180, 3]))
    assert np.allclose(every[[180, 3]], some, rtol=1e-4, atol=1e-3)


def test_every_way_to_give_the_graphs_gives_the_same_embeddings(molecules):
    data = list(molecules)
    nets = [to_networkx(graph, node_attrs=["x"], to_undirected=True) for graph in data]
    from_set, from_data, from_nets = (
        GraphCL(edge_features=False, **QUICK).fit(graphs).transform(graphs)
        for graphs in (molecules, data, nets)
    )
    assert np.array_equal(from_set, from_data)
    assert np.array_equal(from_set, from_nets)


def test_no_epochs_give_the_untrained_encoder(molecules):
    model = GraphCL(epochs=0).fit(molecules)
    assert model.history_ == []
    assert np.isfinite(model.transform(molecules)).all()
    with_hardness = GraphCL(epochs=0, hardness="augcl").fit(molecules)
    assert np.array_equal(with_hardness.transform(molecules), model.transform(molecules))


def test_unlabelled_graphs_train_to_the_same_weights(molecules):
    unlabelled = replace(molecules, y=None, names=None)
    options = {"hardness": quick_uncertainty(temper=0), **QUICK}
    with_labels, without = (GraphCL(**options).fit(g) for g in (molecules, unlabelled))
    assert losses(with_labels) == losses(without)
    assert "weight_true_negatives" in with_labels.history_[-1]
    assert "weight_true_negatives" not in without.history_[-1]


# Seeds


def test_same_seed_same_bits_and_another_seed_others(molecules):
    one, again, other = (GraphCL(random_state=seed, **QUICK).fit(molecules) for seed in (0, 0, 1))
    assert losses(one) == losses(again)
    assert np.array_equal(one.transform(molecules), again.transform(molecules))
    assert not np.array_equal(one.transform(molecules), other.transform(molecules))


def test_fitting_again_starts_anew(molecules):
    model = GraphCL(**QUICK).fit(molecules)
    first = losses(model)
    assert losses(model.fit(molecules)) == first


def test_no_seed_is_a_new_seed_every_time(molecules):
    one, other = (GraphCL(random_state=None, **QUICK).fit(molecules) for _ in range(2))
    assert losses(one) != losses(other)


def test_the_global_random_state_is_left_alone(molecules):
    before, legacy = torch.random.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    GraphCL(hardness=quick_uncertainty(temper=0), **QUICK).fit(molecules)
    assert torch.random.get_rng_state().equal(before)
    assert (np.random.get_state()[1] == legacy).all()  # noqa: NPY002


# Hardness


def test_uniform_hardness_is_no_hardness_bit_for_bit(molecules):
    plain, named, given = (
        GraphCL(hardness=hardness, **QUICK).fit(molecules) for hardness in (None, "none", Uniform())
    )
    assert losses(plain) == losses(named) == losses(given)
    assert np.array_equal(plain.transform(molecules), given.transform(molecules))


@pytest.mark.parametrize(("warmup", "same"), [(None, 2), (1, 1), (4, 4)])
def test_warm_up_epochs_are_plain_graphcl(molecules, warmup, same):
    options = {**QUICK, "epochs": 4}
    plain = losses(GraphCL(**options).fit(molecules))
    model = GraphCL(hardness=AffinityUncertainty(), warmup=warmup, **options).fit(molecules)
    assert losses(model)[:same] == plain[:same]
    assert (losses(model) == plain) == (same == 4)


def test_weights_are_watched_from_the_epoch_in_which_they_set_in(molecules):
    history = GraphCL(hardness="augcl", epochs=4).fit(molecules).history_
    assert ["weight_std" in entry for entry in history] == [False, False, True, True]
    assert ["hardness" in entry for entry in history] == [False, False, True, False]
    assert history[2]["hardness"]["state"] == "alive"
    assert history[2]["weight_std"] > 0.1


def test_refresh_fits_the_hardness_again(molecules):
    options = {**QUICK, "epochs": 6, "warmup": 1}
    hardness = quick_uncertainty(refresh=2, temper=0)
    history = GraphCL(hardness=hardness, **options).fit(molecules).history_
    assert [entry["epoch"] for entry in history if "hardness" in entry] == [2, 4, 6]


def test_a_hardness_of_ones_own_needs_one_method(molecules):
    class Half(Hardness):
        def log_weights(self, anchors, candidates, affinity):
            return torch.full_like(affinity, -0.5)

    half = GraphCL(hardness=Half(), **QUICK).fit(molecules)
    assert half.history_[-1]["weight_mean"] == pytest.approx(np.exp(-0.5), rel=1e-5)


@pytest.mark.filterwarnings("ignore::augcl.hardness.CollapseWarning")
@pytest.mark.parametrize("recipe", ["default", "authors", "paper"])
def test_every_recipe_trains(molecules, recipe):
    model = GraphCL(hardness="augcl", recipe=recipe, epochs=4).fit(molecules)
    assert len(model.history_) == 4
    assert np.isfinite(losses(model)).all()


def test_recipes_differ_in_what_they_decide(molecules):
    options = {**QUICK, "epochs": 4, "edge_features": False}
    default, paper = (GraphCL(recipe=r, **options).fit(molecules) for r in ("default", "paper"))
    explicit = GraphCL(augment_anchor=True, growth="walk", tau=0.2, **options).fit(molecules)
    assert losses(paper) == losses(explicit) != losses(default)


# Options


@pytest.mark.parametrize(
    "option",
    [
        {"symmetric": True},
        {"positive_in_denominator": False},
        {"tau": 0.5},
        {"pooling": "mean"},
        {"pooling": "both"},
        {"augment_anchor": True},
        {"growth": "walk"},
        {"batch_size": 13},
        {"augmentation": "node-drop"},
        {"augmentation": "edge-perturb"},
        {"augmentation": "subgraph"},
        {"augmentation": "attribute-mask"},
        {"augmentation": "identity"},
        {"augmentation": "random3"},
        {"augmentation": "random4"},
    ],
    ids=str,
)
def test_every_option_trains_and_makes_a_difference(molecules, option):
    plain = GraphCL(**QUICK).fit(molecules)
    changed = GraphCL(**option, **QUICK).fit(molecules)
    assert np.isfinite(losses(changed)).all()
    assert losses(changed) != losses(plain)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"augmentation": "random5"}, "did you mean random"),
        ({"growth": "tree"}, "star, walk"),
        ({"pooling": "max"}, "sum, mean, both"),
        ({"recipe": "author"}, "did you mean authors"),
        ({"hardness": "augl"}, "did you mean augcl"),
        ({"tau": 0}, "tau is 0: give a finite number, above 0"),
        ({"lr": 0}, "lr is 0: give a finite number, above 0"),
        ({"epochs": -1}, "epochs is -1"),
        ({"epochs": 1.5}, "epochs is 1.5"),
        ({"batch_size": 1}, "batch_size is 1"),
        ({"warmup": 9}, "between 0 and 2"),
        ({"device": "nonsense"}, "device 'nonsense' cannot be used here"),
        ({"device": "cuda:x"}, "device 'cuda:x' cannot be used here"),
        ({"encoder": "GIN"}, "encoder is 'GIN': give a torch module"),
        ({"random_state": "first"}, "random_state is 'first': give a whole number, or None"),
    ],
    ids=str,
)
def test_a_wrong_option_is_named_with_what_would_be_right(molecules, option, message):
    with pytest.raises(InputError, match=message):
        GraphCL(**{"epochs": 2, **option}).fit(molecules)


def test_graphs_with_other_features_are_refused(molecules):
    model = GraphCL(**QUICK).fit(molecules)
    other = replace(molecules, x=torch.ones(molecules.num_nodes, 3), columns=None)
    with pytest.raises(InputError, match=r"3 node features.* 7"):
        model.transform(other)


def test_a_device_of_torch_is_as_good_as_its_name(molecules):
    model = GraphCL(device=torch.device("cpu"), **QUICK).fit(molecules)
    assert losses(model) == losses(GraphCL(**QUICK).fit(molecules))


def test_no_graphs_are_told(molecules):
    with pytest.raises(InputError, match="MUTAG holds no graphs"):
        GraphCL(**QUICK).fit(molecules.select([]))


@pytest.mark.parametrize("hardness", ["none", "augcl", "dcl", "hcl", "progcl"])
def test_one_graph_is_refused_alike(molecules, hardness):
    with pytest.raises(InputError, match="one graph: contrasting needs two or more"):
        GraphCL(hardness=hardness, epochs=1).fit(molecules.select([0]))


# Encoders of others


@pytest.mark.parametrize("kind", [pyg.GCN, pyg.GIN])
@pytest.mark.parametrize("hardness", [None, "augcl"])
def test_an_encoder_of_pyg_works(molecules, kind, hardness):
    encoder = kind(7, 12, num_layers=2)
    before = [p.clone() for p in encoder.parameters()]
    model = GraphCL(encoder=encoder, hardness=hardness, epochs=2).fit(molecules)
    assert model.transform(molecules).shape == (40, 12)
    assert all(a.equal(b) for a, b in zip(before, encoder.parameters(), strict=True))
    trained = model.network_.encoder.parameters()
    assert not all(a.equal(b) for a, b in zip(before, trained, strict=True))


def test_an_encoder_that_gives_one_row_per_graph_is_refused(molecules):
    class Pooled(torch.nn.Module):
        def forward(self, x, edge_index):
            return x.sum(0, keepdim=True)

    with pytest.raises(InputError, match="one row per node"):
        GraphCL(encoder=Pooled(), epochs=1).fit(molecules)
