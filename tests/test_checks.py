"""Limits of hyper-parameters, and what is said where they are crossed."""

from __future__ import annotations

import numpy as np
import pytest

import augcl
from augcl.checks import number, whole_number

LIMITS = {
    "above": ({"above": 0}, (1e-9, 5, np.float32(0.5)), (0, -1)),
    "at least": ({"least": 0}, (0, 0.0, np.int64(3)), (-1e-9,)),
    "below": ({"least": 0, "below": 1}, (0, 0.99), (1, 1.5, -0.1)),
    "at most": ({"above": 0, "most": 1}, (0.1, 1), (0, 1.01)),
}


@pytest.mark.parametrize("word", LIMITS)
def test_a_number_within_its_limits_passes_and_any_other_is_told_of(word):
    limits, right, wrong = LIMITS[word]
    for value in right:
        number("rate", value, **limits)
    for value in (*wrong, float("nan"), float("inf"), "a", None, [0.5]):
        with pytest.raises(augcl.InputError, match=rf"rate is .*: give .*{word} [01]"):
            number("rate", value, **limits)


def test_a_whole_number_is_one():
    for value in (2, 7, np.int32(3)):
        whole_number("layers", value, least=2)
    for value in (1, 2.0, "3", None, float("nan")):
        with pytest.raises(
            augcl.InputError, match=r"layers is .*: it must be a whole number, 2 or"
        ):
            whole_number("layers", value, least=2)


@pytest.mark.parametrize("name", ["lr", "tau"])
@pytest.mark.parametrize("level", ["graph", "node"])
def test_words_in_place_of_numbers_are_the_user_s_mistake(level, name):
    kind, data = {"graph": (augcl.GraphCL, "components"), "node": (augcl.GCA, "digits-knn")}[level]
    with pytest.raises(augcl.InputError, match=f"{name} is 'fast': give a finite number"):
        kind(**{name: "fast"}, progress=False).fit(augcl.load(data))
