"""Exponents that the benchmarks print come from counts or from turns that agree."""

import math

import pytest
import torch
from benchmarks.complexity import complexity, counted, work_of_fit, work_of_layers
from benchmarks.measure import exponent
from benchmarks.training import growth_row

SIZES = (1000, 2000, 4000)


def turns(*exponents):
    return [[(size / 1000) ** p for size in SIZES] for p in exponents]


@pytest.mark.parametrize(("p", "ok"), [(1.0, True), (1.4, False)])
def test_turns_that_agree_decide(p, ok):
    row = growth_row(SIZES, turns(p - 0.05, p, p + 0.05))
    assert row.ok is ok
    assert row.ratio == f"n^{p:.2f}"


def test_turns_that_contradict_each_other_decide_nothing():
    row = growth_row(SIZES, [[6.1, 10.0, 7.8], [6.0, 12.0, 24.0]])
    assert row.ok is None
    assert "too noisy" in row.what


def test_one_slow_turn_does_not_change_the_exponent():
    assert growth_row(SIZES, turns(1.0, 1.0, 1.0, 1.0, 1.2)).ratio == "n^1.00"


def test_the_work_of_a_product_is_counted():
    assert counted(lambda: torch.ones(2, 3) @ torch.ones(3, 5)) == 2 * 2 * 3 * 5


@pytest.mark.parametrize(
    ("setting", "sizes", "expected"),
    [("n", (64, 128, 256), 1), ("passes", (4, 8, 16), 1), ("hidden", (32, 64, 128), 2)],
)
def test_the_uncertainty_model_grows_as_the_paper_says(setting, sizes, expected):
    work = [work_of_fit(**{"m": 32, "passes": 2, setting: size}) for size in sizes]
    assert exponent(sizes, work) == pytest.approx(expected, abs=0.15)


def test_every_pair_passes_each_middle_layer_three_times_in_a_step():
    more = work_of_layers(4, n=8, hidden=32) - work_of_layers(3, n=8, hidden=32)
    assert more == 3 * 2 * (8 * 8) * 32**2  # forward, and backward by inputs and by weights


def test_no_part_grows_faster_than_the_paper_says(monkeypatch):
    seconds = iter([[1.0, 2.0, 4.0, 8.0, 16.0]] * 2)
    monkeypatch.setattr("benchmarks.complexity.in_turns", lambda *works, **_: next(seconds))
    rows = complexity(False)
    assert [row.ok for row in rows if row.ok is not None] == [True] * 12
    letters = {row.ours.split("^")[0] for row in rows}
    assert {"N", "M", "T", "K", "(L−2)", "d", "no T"} <= letters
    assert all(math.isfinite(float(row.ours.split("^")[1])) for row in rows if "^" in row.ours)
