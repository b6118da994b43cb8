"""Statistics of scores: paired tests, Holm's correction, intervals of shares, average ranks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

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
    """Format a p value.

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

    from scipy import stats

    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.shape != second.shape:
        raise InputError(f"cannot pair accuracies of shapes {first.shape} and {second.shape}")
    n = first.size
    if n < 2:
        raise InputError(f"a paired test needs at least 2 pairs, got {n}: use more seeds or folds")
    difference = (first - second).ravel()
    if not np.isfinite(difference).all():
        raise InputError("accuracies contain NaN or infinity")
    mean = float(difference.mean())
    if np.ptp(difference) < 1e-12:  # constant up to rounding: there is no spread to test against
        return PairedDifference(mean, mean, mean, p=1.0 if abs(mean) < 1e-12 else 0.0)
    error = float(np.sqrt((1 / n + test_to_train) * difference.var(ddof=1)))
    reach = float(stats.t.ppf(0.975, n - 1)) * error
    p = 2 * float(stats.t.sf(abs(mean) / error, n - 1))
    return PairedDifference(mean, mean - reach, mean + reach, p)


def holm(p: Sequence[float]) -> list[float]:
    """Adjust p values for their number (Holm, 1979); keep their order.

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
    """Return Wilson's (1927) interval of the share `successes` / `trials`; it lies within 0 … 1.

    `successes` may be a fraction: the mean of several counts on the same trials.

    >>> low, high = wilson_interval(1200, 1500)
    >>> round(low, 4), round(high, 4)
    (0.779, 0.8195)
    """

    from scipy import stats

    if trials < 1 or not 0 <= successes <= trials:
        raise InputError(
            f"{successes} successes of {trials} trials: give 0 <= successes <= trials, trials >= 1"
        )
    if not 0 < confidence < 1:
        raise InputError(f"confidence is {confidence!r}: it must lie between 0 and 1")
    z = float(stats.norm.ppf((1 + confidence) / 2))
    share, squared = successes / trials, z * z / trials
    centre = (share + squared / 2) / (1 + squared)
    reach = z * np.sqrt(share * (1 - share) / trials + squared / (4 * trials)) / (1 + squared)
    # At the ends one bound is the share itself; rounding must not move it to the other side.
    low = 0.0 if successes == 0 else max(0.0, centre - reach)
    high = 1.0 if successes == trials else min(1.0, centre + reach)
    return float(low), float(high)


LEVEL = 0.05


@dataclass(frozen=True)
class Ranks:
    """Average ranks of methods over data sets, 1 is best.

    Attributes
    ----------
    names, average : tuple
        The methods and their average ranks, in the order given.
    datasets : int
        Number of data sets.
    p : float or None
        Friedman's p value of "all methods are equal"; None for a single data set.
    critical_difference : float
        Nemenyi: average ranks that differ by at least this much differ at the level 0.05.
    cliques : tuple of tuples of names
        The largest groups of methods within the critical difference, best first. A method that
        differs from all others is in none.
    """

    names: tuple[str, ...]
    average: tuple[float, ...]
    datasets: int
    p: float | None
    critical_difference: float
    cliques: tuple[tuple[str, ...], ...]

    def ordered(self) -> list[tuple[str, float]]:
        """Names with their average ranks, best first."""
        return _best_first(self.names, self.average)


def compare_ranks(scores: Any, names: Sequence[str]) -> Ranks:
    """Rank methods on every data set and compare the average ranks (Demšar, 2006).

    Parameters
    ----------
    scores : (datasets, methods) array
        Higher is better; equal scores share the average of their ranks.
    names : sequence of str
        One per method.

    Examples
    --------
    >>> scores = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.7, 0.7, 0.5], [0.9, 0.6, 0.5]]
    >>> ranks = compare_ranks(scores, ["ours", "theirs", "chance"])
    >>> ranks.average, round(ranks.p, 3), round(ranks.critical_difference, 2)
    ((1.125, 1.875, 3.0), 0.022, 1.66)
    >>> ranks.cliques
    (('ours', 'theirs'), ('theirs', 'chance'))
    """

    from scipy import stats

    table = _checked(scores, names)
    ranks = stats.rankdata(-table, axis=1)
    datasets, methods = ranks.shape
    average = tuple(ranks.mean(0).tolist())
    difference = nemenyi_quantile(methods) * math.sqrt(methods * (methods + 1) / (6 * datasets))
    return Ranks(
        names=tuple(names),
        average=average,
        datasets=datasets,
        p=_friedman(ranks) if datasets > 1 else None,
        critical_difference=difference,
        cliques=_cliques(_best_first(names, average), difference),
    )


def nemenyi_quantile(methods: int) -> float:
    """Return the quantile q of the Nemenyi test at the level 0.05.

    >>> round(nemenyi_quantile(2), 3)
    1.96
    """

    from scipy import stats

    return float(stats.studentized_range.ppf(1 - LEVEL, methods, np.inf) / np.sqrt(2))


def _checked(scores: Any, names: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float64]]:
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] < 1 or table.shape[1] < 2:
        raise InputError(
            "ranks need a table of data sets × methods with at least one data set and two methods, "
            f"got shape {table.shape}"
        )
    if table.shape[1] != len(names):
        raise InputError(f"{table.shape[1]} columns of scores but {len(names)} names of methods")
    if len(set(names)) < len(names):
        raise InputError(f"names of methods repeat: {', '.join(names)}")
    if not np.isfinite(table).all():
        raise InputError(
            "scores contain NaN or infinity: leave out data sets without a score of every method"
        )
    return table


def _best_first(names: Sequence[str], average: Sequence[float]) -> list[tuple[str, float]]:
    return sorted(zip(names, average, strict=True), key=lambda pair: pair[1])


def _friedman(ranks: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    """Return Friedman's p value; scipy's refuses two methods and gives NaN if all ranks tie."""

    from scipy import stats

    methods = ranks.shape[1]
    centred = ranks - (methods + 1) / 2
    spread = float((centred**2).sum())
    if spread == 0:
        return 1.0
    statistic = (methods - 1) * float((centred.sum(0) ** 2).sum()) / spread
    return float(stats.chi2.sf(statistic, methods - 1))


def _cliques(ordered: list[tuple[str, float]], difference: float) -> tuple[tuple[str, ...], ...]:
    cliques: list[tuple[str, ...]] = []
    reached = 0
    for start, (_, best) in enumerate(ordered):
        end = sum(rank - best < difference for _, rank in ordered)
        if end > reached and end - start > 1:
            cliques.append(tuple(name for name, _ in ordered[start:end]))
            reached = end
    return tuple(cliques)
