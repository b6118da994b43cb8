"""What recipes decide, and that an argument has the last word."""

import inspect

import pytest

import augcl
from augcl.methods.recipes import by_recipe, left_to_recipe, recipes
from augcl.runs.models import CLASSIFIERS, METHODS
from augcl.runs.run import Spec

KINDS = {**METHODS, **CLASSIFIERS, **vars(augcl.attacks)}


def test_every_setting_of_a_recipe_is_an_argument_of_its_method():
    for recipe in recipes().values():
        for kind, settings in recipe.methods.items():
            assert set(settings) <= set(inspect.signature(KINDS[kind]).parameters)


@pytest.mark.parametrize(
    ("method", "name", "expected"),
    [
        (augcl.GCA, "edge_ends", ["target", "target", "both"]),
        (augcl.GRACE, "pagerank_restart", [False, False, True]),
        (augcl.GCA, "empty_columns", ["ignore", "mask-all", "ignore"]),
        (augcl.GraphCL, "growth", ["star", "star", "walk"]),
        (augcl.GraphCL, "augment_anchor", [False, False, True]),
        (augcl.JOAO, "growth", ["walk", "star", "walk"]),
        (augcl.JOAOv2, "full_batches", [False, True, False]),
        (augcl.JOAOv2, "heads", ["own", "epoch", "own"]),
        (augcl.MVGRL, "loops", [1, 2, 1]),
        (augcl.HSAN, "accumulate", [False, True, False]),
        (augcl.Structure2VecClassifier, "select_on", ["validation", "test", "validation"]),
        (augcl.attacks.RandSampling, "idle", [False, True, False]),
        (augcl.attacks.GradArgmax, "one_direction", [False, True, False]),
        (augcl.attacks.RLS2V, "learn_on_attacked", [False, True, False]),
    ],
)
def test_a_recipe_decides_what_is_left_open(method, name, expected):
    found = [by_recipe(method(recipe=r), name) for r in ("default", "authors", "paper")]
    assert found == expected


def test_an_argument_has_the_last_word():
    assert by_recipe(augcl.MVGRL(recipe="authors", loops=1), "loops") == 1
    assert by_recipe(augcl.HSAN(recipe="authors", accumulate=False), "accumulate") is False


def test_settings_left_to_the_recipe_decide_nothing_besides_its_name():
    assert left_to_recipe(augcl.MVGRL(recipe="authors")) == {"loops"}
    assert left_to_recipe(augcl.MVGRL(loops=3)) == set()
    assert "growth" not in left_to_recipe(augcl.JOAO())  # all methods share it
    one, other, same = (
        Spec("Cora", "MVGRL", "none", recipe, options=options).decides()["settings"]
        for recipe, options in (("default", {}), ("default", {"loops": 2}), ("authors", {}))
    )
    assert "loops" not in one
    assert other == {**one, "loops": 2}
    assert same == {**one, "recipe": "authors"}


@pytest.mark.parametrize(
    ("method", "wrong"),
    [
        (augcl.GCA, {"edge_ends": "source"}),
        (augcl.GCA, {"empty_columns": "drop"}),
        (augcl.MVGRL, {"loops": -1}),
        (augcl.JOAOv2, {"heads": "all"}),
        (augcl.Structure2VecClassifier, {"select_on": "train"}),
        (augcl.Structure2VecClassifier, {"recipe": "author"}),
    ],
)
def test_a_wrong_argument_is_named(method, wrong):
    with pytest.raises(augcl.InputError, match=next(iter(wrong))):
        method(**wrong)._start()


@pytest.mark.parametrize(("recipe", "used"), [("default", 4), ("authors", 0), ("paper", 0)])
def test_only_the_default_recipe_uses_bonds_unasked(molecules, recipe, used):
    model = augcl.GraphCL(recipe=recipe, epochs=0).fit(molecules)
    assert model.n_edge_features_ == used
    assert (
        augcl.GraphCL(recipe=recipe, epochs=0, edge_features=True).fit(molecules).n_edge_features_
    )
