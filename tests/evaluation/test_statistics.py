"""The corrected resampled t-test by hand, and the interval of a share against scipy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from augcl.errors import InputError
from augcl.evaluation import paired_difference, wilson_interval
from augcl.evaluation.statistics import holm


def test_hand_computation():
    # d = 1, 2, 3, 6: mean 3, variance 14/3; (1/4 + 1/9) · 14/3 = 1.685185…, its root 1.298147;
    # t = 2.310986 with 3 degrees of freedom, for which the 97.5 % quantile is 3.182446.
    result = paired_difference([2, 4, 6, 10], [1, 2, 3, 4])
    assert result.mean == 3
    assert result.low == pytest.approx(3 - 3.182446 * 1.298147, abs=1e-5)
    assert result.high == pytest.approx(3 + 3.182446 * 1.298147, abs=1e-5)
    # The t distribution with 3 degrees of freedom has a closed form.
    x = 2.310986 / np.sqrt(3)
    tail = 0.5 - (x / (1 + x**2) + np.arctan(x)) / np.pi
    assert result.p == pytest.approx(2 * tail, abs=1e-6)


def test_without_correction_it_is_the_paired_t_test():
    a, b = np.random.default_rng(0).normal(size=(2, 12))
    assert paired_difference(a, b, test_to_train=0).p == pytest.approx(stats.ttest_rel(a, b).pvalue)


def test_correction_is_cautious():
    a, b = np.random.default_rng(0).normal(size=(2, 5, 10))
    assert paired_difference(a, b).p > paired_difference(a, b, test_to_train=0).p


def test_swapping_the_methods_changes_the_sign():
    a, b = np.random.default_rng(1).normal(size=(2, 8))
    one, other = paired_difference(a, b), paired_difference(b, a)
    assert (one.mean, one.low, one.p) == pytest.approx((-other.mean, -other.high, other.p))


def test_constant_differences_have_an_answer():
    a = np.random.default_rng(2).random(10)
    assert paired_difference(a, a).p == 1
    shifted = paired_difference(a + 0.1, a)
    assert shifted.p == 0
    assert shifted.low == shifted.high == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([1.0], [0.5], "at least 2 pairs"),
        ([1.0, 0.5], [0.5], "cannot pair"),
        ([1.0, np.nan], [0.5, 0.5], "NaN"),
    ],
)
def test_mistakes_are_told(a, b, message):
    with pytest.raises(InputError, match=message):
        paired_difference(a, b)


def slow_holm(p):
    """The smallest is multiplied by their number, the next by one less; none is below another."""
    adjusted, largest = {}, 0.0
    for rank, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        largest = max(largest, min(1.0, (len(p) - rank) * p[i]))
        adjusted[i] = largest
    return [adjusted[i] for i in range(len(p))]


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm(p):
    assert holm(p) == pytest.approx(slow_holm(p))


def test_holm_of_a_known_example():
    assert holm([0.01, 0.02, 0.03, 0.005]) == pytest.approx([0.03, 0.04, 0.04, 0.02])


@pytest.mark.parametrize(("right", "of"), [(0, 10), (3, 10), (10, 10), (1200, 1500), (1, 1)])
def test_wilsons_interval_is_scipys(right, of):
    expected = stats.binomtest(right, of).proportion_ci(method="wilson")
    assert wilson_interval(right, of) == pytest.approx((expected.low, expected.high), abs=1e-9)
    wider = wilson_interval(right, of, confidence=0.99)
    assert wider[0] <= expected.low + 1e-12
    assert wider[1] >= expected.high - 1e-12


@pytest.mark.parametrize(("right", "of"), [(1, 0), (-1, 3), (4, 3)])
def test_shares_that_cannot_be_are_refused(right, of):
    with pytest.raises(InputError, match=f"{right} successes of {of} trials"):
        wilson_interval(right, of)
