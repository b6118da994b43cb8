import numpy as np
import pytest

import references
from augcl import GCA, GRACE, InputError
from augcl.methods.presets import HSAN, collapses, get_preset, preset_for, presets
from augcl.paper.rows import NODES
from augcl.paper.table import node_setting
from augcl.runs.run import Spec

# lr, width, projection, activation, edge drops, feature drops, tau, epochs: as published.
PUBLISHED = {
    "Cora": (5e-4, 128, 128, "relu", [0.2, 0.4], [0.3, 0.4], 0.4, 200),
    "CiteSeer": (1e-3, 256, 256, "prelu", [0.2, 0.0], [0.3, 0.2], 0.9, 200),
    "PubMed": (1e-3, 256, 256, "relu", [0.4, 0.1], [0.0, 0.2], 0.7, 1500),
    "DBLP": (1e-3, 256, 256, "relu", [0.1, 0.4], [0.1, 0.0], 0.7, 1000),
    "Wiki-CS": (0.01, 256, 256, "prelu", [0.2, 0.3], [0.1, 0.1], 0.4, 3000),
    "Amazon-Photo/published": (0.1, 256, 64, "relu", [0.3, 0.5], [0.1, 0.1], 0.3, 2000),
    "Amazon-Photo/progcl": (0.01, 128, 128, "rrelu", [0.6, 0.3], [0.2, 0.3], 0.2, 2500),
    "Amazon-Computers": (0.01, 128, 128, "rrelu", [0.6, 0.3], [0.2, 0.3], 0.2, 2000),
    "Coauthor-CS": (5e-4, 256, 256, "rrelu", [0.3, 0.2], [0.3, 0.4], 0.4, 1000),
    "Coauthor-Physics": (0.01, 128, 64, "rrelu", [0.4, 0.1], [0.1, 0.4], 0.5, 1500),
}


@pytest.fixture(scope="module")
def graph():
    return references.communities(60)


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_preset_is_what_was_published(name):
    keys = ["lr", "width", "projection", "activation", "edge_drop", "feature_drop", "tau", "epochs"]
    assert get_preset(name) == {**dict(zip(keys, PUBLISHED[name], strict=True)), "norm": "none"}


@pytest.mark.parametrize("name", presets())
def test_every_preset_decides_the_same_settings_and_trains(graph, name):
    assert get_preset(name).keys() | {"candidates"} == get_preset("default").keys()
    for kind in (GRACE, GCA):
        model = kind(preset=name, epochs=1, lr=0.001).fit(graph)
        settings = {**get_preset(name), "epochs": 1, "lr": 0.001}
        assert settings.items() <= model.settings().items()
        assert model.transform(graph).shape == (60, settings["width"])
        assert np.isfinite(model.history_[0]["loss"])


def test_what_is_given_goes_over_the_preset(graph):
    model = GRACE(preset="Wiki-CS", epochs=0, width=4, edge_drop=(0.1, 0.0), tau=0.7).fit(graph)
    found = model.settings()
    assert (found["width"], found["edge_drop"], found["tau"]) == (4, [0.1, 0.0], 0.7)
    assert (found["activation"], found["lr"]) == ("prelu", 0.01)


def test_a_data_set_has_its_own_preset_or_the_default():
    assert preset_for("Cora") == "Cora"
    assert preset_for("mine") == "published"
    assert preset_for("BAT", HSAN) == "BAT"


def test_no_name_of_a_data_set_stands_for_a_preset_that_collapses():
    assert collapses("Amazon-Photo/published")
    for name in presets():
        assert "/" in name or not (collapses(name) or collapses(preset_for(name)))
    assert get_preset("Amazon-Photo") == get_preset("Amazon-Photo/progcl")


def test_a_preset_that_collapses_warns_unless_another_learning_rate_is_given(graph):
    told = r"Amazon-Photo/published is known to collapse \(learning rate 0.1\).*Amazon-Photo$"
    with pytest.warns(UserWarning, match=told):
        GCA(preset="Amazon-Photo/published", epochs=0).fit(graph)
    GCA(preset="Amazon-Photo/published", epochs=0, lr=0.01).fit(graph)  # warnings are errors


def test_a_table_has_published_settings_and_a_training_ours():
    photo = {"dataset": "Amazon-Photo", "method": "GCA", "hardness": "none"}
    tabled = NODES.spec("Amazon-Photo", "GCA", node_setting()).decides()
    assert tabled == Spec(**photo, preset="published").decides()
    assert tabled["settings"]["preset"] == "Amazon-Photo/progcl"
    assert Spec(**photo, recipe="paper").decides()["settings"]["lr"] == 0.01
    ours = Spec(**photo).decides()["settings"]
    assert (ours["preset"], ours["norm"]) == ("default", "batch")
    assert "norm" not in tabled["settings"]  # the records are older than it


def test_published_settings_of_no_data_set_are_those_of_before():
    mine = Spec("mine", method="GCA", hardness="none", preset="published").decides()["settings"]
    assert (mine["lr"], mine["tau"], mine["epochs"], mine["candidates"]) == (0.001, 0.4, 200, None)
    assert "preset" not in mine


def test_an_unknown_preset_is_told():
    with pytest.raises(InputError, match="did you mean Amazon-Photo"):
        get_preset("Amazon-Foto")
