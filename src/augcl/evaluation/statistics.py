"""How sure a share is, and whether one method is better than another on the same folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from augcl.errors import InputError


@dataclass(frozen=True)
class PairedDifference:
    """Mean of a − b, its 95 % interval `low` to `high`, and the two-sided p value of no difference.

    >>> print(PairedDifference(mean=0.012, low=-0.003, high=0.027, p=0.11))
    +1.20 [-0.30, +2.70] points, p = 0.110
    """

    mean: float
    low: float
    high: float
    p: float

    def __str__(self) -> str:
        mean, low, high = 100 * self.mean, 100 * self.low, 100 * self.high
        return f"{mean:+.2f} [{low:+.2f}, {high:+.2f}] points, p {p_text(self.p)}"


def p_text(p: float) -> str:
    """A p value as people write it.

    >>> p_text(0.0421), p_text(2e-9)
    ('= 0.042', '< 0.001')
    """
    return f"= {p:.3f}" if p >= 0.001 else "< 0.001"


def paired_difference(a: Any, b: Any, *, test_to_train: float = 1 / 9) -> PairedDifference:
    """Compare two methods by the corrected resampled t-test (Nadeau and Bengio, 2003).

    Folds share most of their training samples, so their differences d_1 … d_n are not independent
    and the plain t-test finds differences where there are none. The correction widens the variance
    of the mean:

        t = mean(d) / sqrt( (1/n + n_test/n_train) · var(d) ),   n − 1 degrees of freedom

    Parameters
    ----------
    a, b : (n,) or (R, K) array
        Accuracies of the two methods, in the same order of seeds and folds.
    test_to_train : float
        n_test / n_train: 1/9 for 10 folds; 0 gives the plain paired t-test.

    Examples
    --------
    >>> result = paired_difference([0.90, 0.92, 0.91], [0.88, 0.91, 0.88])
    >>> round(result.mean, 3), round(result.p, 3)
    (0.02, 0.095)
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.shape != second.shape:
        raise InputError(f"cannot pair accuracies of shapes {first.shape} and {second.shape}")
    n = first.size
    if n < 2:
        raise InputError(f"a paired test needs two pairs or more, got {n}: use more seeds or folds")
    difference = (first - second).ravel()
    if not np.isfinite(difference).all():
        raise InputError("accuracies hold NaN or infinity")
    mean = float(difference.mean())
    if np.ptp(difference) < 1e-12:  # constant up to rounding: there is no spread to test against
        return PairedDifference(mean, mean, mean, p=1.0 if abs(mean) < 1e-12 else 0.0)
    error = float(np.sqrt((1 / n + test_to_train) * difference.var(ddof=1)))
    reach = float(stats.t.ppf(0.975, n - 1)) * error
    p = 2 * float(stats.t.sf(abs(mean) / error, n - 1))
    return PairedDifference(mean, mean - reach, mean + reach, p)


def holm(p: Sequence[float]) -> list[float]:
    """p values adjusted for their number (Holm, 1979), in the order given.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p, dtype=np.float64)
    order = values.argsort(kind="stable")
    factors = len(values) - np.arange(len(values))
    adjusted = np.empty_like(values)
    adjusted[order] = np.maximum.accumulate(values[order] * factors).clip(max=1)
    return [float(value) for value in adjusted]


def wilson_interval(
    successes: float, trials: int, *, confidence: float = 0.95
) -> tuple[float, float]:
    """The interval of a share, `successes` of `trials`, by Wilson (1927); within 0 … 1.

    `successes` need not be whole: it may be the mean of several counts on the same trials.

    >>> low, high = wilson_interval(1200, 1500)
    >>> round(low, 4), round(high, 4)
    (0.779, 0.8195)
    """
    if trials < 1 or not 0 <= successes <= trials:
        raise InputError(f"{successes} of {trials}: give numbers with 0 <= a <= b, b >= 1")
    if not 0 < confidence < 1:
        raise InputError(f"confidence is {confidence!r}: it must lie between 0 and 1")
    z = float(stats.norm.ppf((1 + confidence) / 2))
    share, squared = successes / trials, z * z / trials
    centre = (share + squared / 2) / (1 + squared)
    reach = z * np.sqrt(share * (1 - share) / trials + squared / (4 * trials)) / (1 + squared)
    # At the ends one border is the share itself; rounding must not put it on the other side.
    low = 0.0 if successes == 0 else max(0.0, centre - reach)
    high = 1.0 if successes == trials else min(1.0, centre + reach)
    return float(low), float(high)
