"""HSAN: its weights of pairs, its sum of gradients, its clusters, its presets.

What it has in common with other node methods: test_node_rivals.
"""

import torch

from augcl import HSAN, load_model
from augcl.methods import presets
from augcl.rivals.hsan import SummingAdam, clustered
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
        if "/" not in name:
            assert presets.get_preset(name, presets.HSAN)["clusters"] >= 2
