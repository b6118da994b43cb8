"""Which methods differ when all are ranked on the same data sets?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from augcl.errors import InputError

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
    """Quantile q of the Nemenyi test at the level 0.05.

    >>> round(nemenyi_quantile(2), 3)
    1.96
    """
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
        raise InputError("scores hold NaN or infinity: leave out data sets that a method misses")
    return table


def _best_first(names: Sequence[str], average: Sequence[float]) -> list[tuple[str, float]]:
    return sorted(zip(names, average, strict=True), key=lambda pair: pair[1])


def _friedman(ranks: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    """As scipy's friedmanchisquare, which refuses two methods and returns NaN if all ranks tie."""
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
