"""Ranks, against the tables of Demšar (2006), scipy, and slow obvious versions."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from augcl.errors import InputError
from augcl.evaluation.statistics import compare_ranks, nemenyi_quantile

LETTERS = "abcdefghijkl"
# Table 6 of Demšar (2006): AUC of C4.5 without and with tuning of m and cf.
DEMSAR = [
    [0.763, 0.768, 0.771, 0.798],
    [0.599, 0.591, 0.590, 0.569],
    [0.954, 0.971, 0.968, 0.967],
    [0.628, 0.661, 0.654, 0.657],
    [0.882, 0.888, 0.886, 0.898],
    [0.936, 0.931, 0.916, 0.931],
    [0.661, 0.668, 0.609, 0.685],
    [0.583, 0.583, 0.563, 0.625],
    [0.775, 0.838, 0.866, 0.875],
    [1.000, 1.000, 1.000, 1.000],
    [0.940, 0.962, 0.965, 0.962],
    [0.619, 0.666, 0.614, 0.669],
    [0.972, 0.981, 0.9751, 0.975],  # printed as equal, ranked as 2 and 3
    [0.957, 0.978, 0.946, 0.970],
]
# Coarse scores, so that ties are common.
tables = st.tuples(st.integers(1, 6), st.integers(2, 6)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.integers(0, 4).map(float))
)


def slow_rank(row, method):
    """Better methods count one, equal ones a half."""
    better = sum(other > row[method] for other in row)
    equal = sum(other == row[method] for other in row) - 1
    return 1 + better + equal / 2


def slow_cliques(average, difference):
    """Of all subsets without two distant methods, those in no larger one."""
    numbers = range(len(average))
    near = [
        set(subset)
        for size in range(2, len(average) + 1)
        for subset in combinations(numbers, size)
        if max(average[i] for i in subset) - min(average[i] for i in subset) < difference
    ]
    return [group for group in near if not any(group < other for other in near)]


@pytest.mark.parametrize(
    ("methods", "quantile"),
    list(enumerate([1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164], start=2)),
)
def test_quantiles_are_those_of_the_printed_table(methods, quantile):
    assert nemenyi_quantile(methods) == pytest.approx(quantile, abs=0.0011)


def test_the_example_of_the_paper():
    ranks = compare_ranks(DEMSAR, ["C4.5", "+m", "+cf", "+m+cf"])
    assert ranks.average == pytest.approx((3.143, 2.000, 2.893, 1.964), abs=5e-4)
    assert ranks.critical_difference == pytest.approx(1.25, abs=5e-3)
    assert ranks.datasets == 14
    assert [name for name, _ in ranks.ordered()] == ["+m+cf", "+m", "+cf", "C4.5"]
    assert ranks.cliques == (("+m+cf", "+m", "+cf", "C4.5"),)


@settings(max_examples=60, deadline=None)
@given(tables)
def test_as_the_slow_version(table):
    names = LETTERS[: table.shape[1]]
    ranks = compare_ranks(table, names)
    slow = [np.mean([slow_rank(row, m) for row in table]) for m in range(len(names))]
    assert ranks.average == pytest.approx(slow)
    expected = slow_cliques(ranks.average, ranks.critical_difference)
    found = [{names.index(name) for name in clique} for clique in ranks.cliques]
    assert sorted(map(sorted, found)) == sorted(map(sorted, expected))


@pytest.mark.parametrize("methods", [3, 5, 9])
def test_p_value_is_that_of_scipy(methods):
    table = np.random.default_rng(methods).integers(0, 6, size=(8, methods))
    p = compare_ranks(table, LETTERS[:methods]).p
    assert p == pytest.approx(stats.friedmanchisquare(*table.T).pvalue)


def test_two_methods():
    ranks = compare_ranks([[2, 1]] * 9 + [[1, 2]], ["ours", "theirs"])
    assert ranks.average == pytest.approx((1.1, 1.9))
    # Of two methods Friedman's test is the sign test: (9 − 1)² / 10 against chi² of one freedom.
    assert ranks.p == pytest.approx(stats.chi2.sf(6.4, 1))
    assert ranks.critical_difference == pytest.approx(1.96 / np.sqrt(10), abs=1e-3)
    assert ranks.cliques == ()


def test_one_data_set_tells_nothing():
    ranks = compare_ranks([[3, 2, 1]], "abc")
    assert ranks.p is None
    assert ranks.cliques == (("a", "b", "c"),)


def test_constant_rows_tie():
    ranks = compare_ranks(np.ones((4, 3)), "abc")
    assert ranks.average == (2, 2, 2)
    assert ranks.p == 1
    assert ranks.cliques == (("a", "b", "c"),)


@pytest.mark.parametrize(
    ("scores", "names", "message"),
    [
        ([1, 2], "ab", "shape"),
        ([[1], [2]], "a", "two methods"),
        (np.empty((0, 2)), "ab", "one data set"),
        ([[1, 2]], "abc", "3 names"),
        ([[1, 2]], "aa", "repeat"),
        ([[1, np.nan]], "ab", "NaN"),
        ([[1, np.inf]], "ab", "infinity"),
    ],
)
def test_mistakes_are_told(scores, names, message):
    with pytest.raises(InputError, match=message):
        compare_ranks(scores, names)
