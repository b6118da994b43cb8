"""Settings are chosen by what training parts show, and by nothing else."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from augcl.errors import InputError
from augcl.paper.cells import Cell
from augcl.paper.study import Accuracies, select, variants
from augcl.runs.run import Spec, check

tenths = st.integers(0, 10).map(lambda n: n / 10)  # coarse, so that ties are common


@st.composite
def several_settings(draw):
    """What several settings reached: the same folds, not always the same seeds."""
    settings, folds = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    accuracies = st.lists(tenths, min_size=folds, max_size=folds).map(tuple)
    found = []
    for _ in range(settings):
        seeds = [0, *draw(st.sets(st.integers(1, 3)))]
        test, inner = ({s: draw(accuracies) for s in seeds} for _ in range(2))
        found.append(Accuracies(test, inner, "graph"))
    return found


def slow_choice(found):
    """For each common seed and fold the first setting whose inner accuracy no other exceeds."""
    chosen = {}
    for seed in range(4):
        if not all(seed in m.folds for m in found):
            continue
        for fold in range(len(found[0].folds[seed])):
            best = 0
            for number, m in enumerate(found):
                if m.inner[seed][fold] > found[best].inner[seed][fold]:
                    best = number
            chosen[seed, fold] = best
    return chosen


@given(several_settings())
def test_select_takes_in_each_fold_the_setting_that_is_best_inside(found):
    choice = slow_choice(found)
    selected = select(found)
    for part in ("folds", "inner"):
        expected: dict[int, list[float]] = {}
        for (seed, fold), number in choice.items():
            expected.setdefault(seed, []).append(getattr(found[number], part)[seed][fold])
        assert getattr(selected, part) == {seed: tuple(folds) for seed, folds in expected.items()}
    assert selected.level == "graph"


@given(several_settings(), st.randoms(use_true_random=False))
def test_test_accuracies_take_no_part_in_the_choice(found, random):
    choice = slow_choice(found)

    def other(number, m):
        folds = {
            seed: tuple(
                value if choice.get((seed, fold)) == number else random.random()
                for fold, value in enumerate(values)
            )
            for seed, values in m.folds.items()
        }
        return Accuracies(folds, m.inner, m.level)

    assert select([other(number, m) for number, m in enumerate(found)]) == select(found)


def test_of_equal_settings_the_first_is_taken():
    first = Accuracies({0: (0.1, 0.2)}, {0: (0.8, 0.8)}, "graph")
    second = Accuracies({0: (0.9, 0.9)}, {0: (0.8, 0.8)}, "graph")
    assert select([first, second]).folds == first.folds


def test_results_without_inner_accuracies_are_refused():
    old = Accuracies({0: (0.9,)}, {0: ()}, "graph")
    with pytest.raises(InputError, match="compute them again"):
        select([Accuracies({0: (0.9,)}, {0: (0.9,)}, "graph"), old])


@pytest.mark.parametrize(
    ("hardness", "number", "varied"),
    [
        ("none", 0, set()),
        ("progcl", 0, set()),
        ("oracle", 0, set()),
        ("augcl", 5, {"reward"}),
        ("dcl", 3, {"tau_plus"}),
        ("hcl", 12, {"beta", "tau_plus"}),
    ],
)
def test_variants_vary_what_the_grid_says_and_nothing_else(hardness, number, varied):
    spec = Spec("MUTAG", hardness=hardness)
    given = spec.decides()["hardness"]["params"]
    found = variants(spec)
    settings = [v.decides()["hardness"]["params"] for v in found]
    assert len({Cell(v, 0).path(Path()) for v in found}) == len(found) == number
    changed = {name for s in settings for name in s if s[name] != given.get(name)}
    assert changed == varied
    assert {v.hardness for v in found} <= {hardness}


@pytest.mark.parametrize("hardness", ["augcl", "dcl", "hcl"])
def test_every_variant_can_be_trained_and_the_default_is_among_them(hardness, molecules):
    spec = Spec("MUTAG", hardness=hardness)
    found = variants(spec)
    for variant in found:
        check(variant, molecules, judge=False)
    assert spec.decides() in [variant.decides() for variant in found]


def test_options_beside_the_grid_are_kept():
    spec = Spec("MUTAG", hardness="augcl", hardness_options={"temper": 1.0, "reward": 1.55})
    assert [v.hardness_options for v in variants(spec)] == [
        {"temper": 1.0, "reward": reward} for reward in (1.5, 1.6, 1.7, 1.8, 1.9)
    ]
