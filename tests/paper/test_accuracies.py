"""Mean, spread and differences of what cells hold, against the formulas."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from augcl.paper.study import Accuracies

accuracies = st.floats(0, 1).map(lambda value: round(value, 3))
by_seed = st.dictionaries(
    st.integers(0, 6), st.tuples(accuracies, accuracies, accuracies), min_size=1
)


def of(folds, level="graph"):
    return Accuracies(folds, {}, level)


def mean(values):
    return math.fsum(values) / len(values)


def population_std(values):
    return math.sqrt(mean([(value - mean(values)) ** 2 for value in values]))


@given(by_seed)
def test_the_mean_is_that_of_the_seeds(folds):
    for level in ("graph", "node"):
        found = of(folds, level)
        assert found.runs == pytest.approx([mean(f) for f in folds.values()])
        assert found.mean == pytest.approx(mean([mean(f) for f in folds.values()]))


@given(by_seed)
def test_the_spread_is_over_seeds_and_of_nodes_over_all_splits(folds):
    graphs = of(folds).std
    if len(folds) == 1:
        assert graphs is None
    else:
        assert graphs == pytest.approx(population_std([mean(f) for f in folds.values()]), abs=1e-9)
    every = [value for f in folds.values() for value in f]
    assert of(folds, "node").std == pytest.approx(population_std(every), abs=1e-9)


@given(by_seed, by_seed)
def test_graphs_differ_by_the_corrected_test_over_the_folds_of_common_seeds(a, b):
    common = sorted(a.keys() & b.keys())
    found = of(a).minus(of(b))
    if not common:
        assert found is None
        return
    d = [x - y for seed in common for x, y in zip(a[seed], b[seed], strict=True)]
    assert found.mean == pytest.approx(mean(d), abs=1e-9)
    n = len(d)
    variance = math.fsum((x - mean(d)) ** 2 for x in d) / (n - 1)
    if variance < 1e-12:
        assert found.p in (0, 1)
        return
    error = math.sqrt((1 / n + 1 / 9) * variance)
    reach = stats.t.ppf(0.975, n - 1) * error
    assert (found.low, found.high) == pytest.approx((mean(d) - reach, mean(d) + reach))
    assert found.p == pytest.approx(2 * stats.t.sf(abs(mean(d)) / error, n - 1), abs=1e-9)


def test_nodes_differ_by_the_paired_test_over_trainings():
    a = {0: (0.9, 0.7), 1: (0.8, 0.8), 2: (0.95, 0.85), 7: (0.1, 0.1)}
    b = {0: (0.7, 0.7), 1: (0.75, 0.75), 2: (0.8, 0.8), 8: (0.9, 0.9)}
    found = of(a, "node").minus(of(b, "node"))
    expected = stats.ttest_rel([0.8, 0.8, 0.9], [0.7, 0.75, 0.8])
    assert found.mean == pytest.approx(0.25 / 3)
    assert found.p == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))


def test_where_there_is_nothing_to_test_there_is_no_difference():
    one, other = {0: (0.9, 0.8)}, {0: (0.8, 0.8), 1: (0.7, 0.8)}
    assert of(one, "node").minus(of(other, "node")) is None  # one training in common
    assert of(one).minus(of({1: (0.8, 0.8)})) is None  # no seed in common
    assert of(one).minus(of(other)) is not None  # one seed has many folds


def test_people_read_percent():
    assert str(of({0: (0.8, 0.9), 1: (0.9, 1.0)})) == "90.00 ± 5.00"
    assert str(of({0: (0.8, 0.9)})) == "85.00"


def test_all_judged_seeds_count():
    of_before_the_selection, of_today = {"folds": [0.8, 0.9]}, {"folds": [0.7], "inner": [0.6]}
    accuracies = {0: of_before_the_selection, 1: None, 2: of_today}
    found = Accuracies.from_records(
        {seed: {"accuracy": a} for seed, a in accuracies.items()}, "graph"
    )
    assert found == Accuracies({0: (0.8, 0.9), 2: (0.7,)}, {0: (), 2: (0.6,)}, "graph")


def test_where_nothing_was_judged_there_is_nothing():
    assert Accuracies.from_records({1: {"accuracy": None}}, "graph") is None
    assert Accuracies.from_records({}, "graph") is None
