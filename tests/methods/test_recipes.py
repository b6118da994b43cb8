"""What recipes decide, and that an argument has the last word."""

import inspect

import pytest

import augcl
from augcl.methods.recipes import by_recipe, decisive_settings, recipes
from augcl.runs.models import CLASSIFIERS, METHODS

KINDS = {**METHODS, **CLASSIFIERS}


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
    ],
)
def test_a_recipe_decides_what_is_left_open(method, name, expected):
    found = [by_recipe(method(recipe=r), name) for r in ("default", "authors", "paper")]
    assert found == expected


def test_an_argument_has_the_last_word():
    assert by_recipe(augcl.MVGRL(recipe="authors", loops=1), "loops") == 1
    assert by_recipe(augcl.HSAN(recipe="authors", accumulate=False), "accumulate") is False


def test_settings_left_to_the_recipe_decide_nothing_besides_its_name():
    model = augcl.MVGRL(recipe="authors")
    assert "loops" in model.settings()
    assert "loops" not in decisive_settings(model)
    assert decisive_settings(augcl.MVGRL(loops=3))["loops"] == 3
    assert decisive_settings(model)["recipe"] == "authors"


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
