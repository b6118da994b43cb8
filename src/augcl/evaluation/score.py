"""The result of an evaluation: scores by run and fold, and the floor beside them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from augcl.evaluation.scoring import floor_text, mean_of_columns, written


@dataclass(frozen=True)
class Predictions:
    """What was predicted for each of N samples while it was in a test part.

    Parameters
    ----------
    values : (N,) int64 or (N, T) float64
        The class that was predicted most often, −1 where none was; or the mean of the predicted
        targets, NaN where there is none.
    wrong : (N,) float64
        Share of the test parts in which the class was wrong; for targets the mean absolute error.
        NaN where there is none.

    Examples
    --------
    >>> tested = [(np.array([0, 1]), np.array([1, 1])), (np.array([0]), np.array([0]))]
    >>> found = Predictions.collect(tested, np.array([0, 1, 1]), None)
    >>> found.values.tolist(), found.wrong.tolist()
    ([0, 1, -1], [0.5, 0.0, nan])
    """

    values: NDArray[Any]
    wrong: NDArray[np.float64]

    @classmethod
    def collect(
        cls,
        tested: Sequence[tuple[NDArray[np.int64], NDArray[Any]]],
        y: NDArray[np.int64],
        targets: NDArray[np.float64] | None,
    ) -> Predictions:
        """Collect rows and predictions of all test parts; `targets` (N, T) unless `y` counts."""
        rows = np.concatenate([rows for rows, _ in tested])
        found = np.concatenate([found for _, found in tested])
        times = np.bincount(rows, minlength=len(y))
        if targets is None:
            votes = np.zeros((len(y), int(max(found.max(), y.max())) + 1), dtype=np.int64)
            np.add.at(votes, (rows, found), 1)
            errors = times - votes[np.arange(len(y)), y]
            values = np.where(times > 0, votes.argmax(1), -1)
        else:
            sums = np.zeros((len(y), found.shape[1]))
            np.add.at(sums, rows, found)
            with np.errstate(invalid="ignore"):
                values = sums / times[:, None]
            missed = np.abs(found - targets[rows])
            errors = np.bincount(rows, np.nan_to_num(missed).mean(1), minlength=len(y))
        with np.errstate(invalid="ignore"):
            return cls(values, errors / times)

    def spread(self, kept: NDArray[np.bool_]) -> Predictions:
        """Return the same for all samples, of which these predictions are of those `kept`."""
        values = np.full(
            (len(kept), *self.values.shape[1:]),
            -1 if self.values.dtype.kind == "i" else np.nan,
            dtype=self.values.dtype,
        )
        values[kept] = self.values
        wrong = np.full(len(kept), np.nan)
        wrong[kept] = self.wrong
        return Predictions(values, wrong)


@dataclass(frozen=True)
class Score:
    """A score over repeated runs; all but R², MAE and RMSE are fractions between 0 and 1.

    Parameters
    ----------
    protocol : str
        Name of the protocol.
    folds : tuple of tuple of float
        Score of each fold of each run, (R, K); K is 1 where a run has a single test part. NaN where
        a test part does not define it (ROC-AUC with one class), which does not count.
    splits : (R, N) int64
        For each run the fold in which each sample was tested or, where a run has a single test
        part, the part it was in: 0 training, 1 validation, 2 test, −1 none.
    details : mapping of str to tuple of float
        Other measures, one number per run, such as ``"macro_f1"``.
    inner : tuple of tuple of float
        (R, K) score inside each training part, by which the protocol chose the setting of its
        classifier. Use it to choose other settings without the test part. Empty if the protocol
        has none.
    scoring : str
        What is measured, such as ``"accuracy"``, ``"roc_auc"`` or ``"r2"``.
    predictions : Predictions, optional
        What was predicted for each sample while it was in a test part.
    floor : float, optional
        The same score, on the same splits, of the largest class of the training part (or of its
        mean, for numbers): what every embedding has to beat.

    Examples
    --------
    >>> score = Score("tu-svm-10fold", ((0.8, 0.9), (0.9, 1.0)), np.array([[0, 1], [1, 0]]))
    >>> print(score)
    90.00 ± 5.00 % (2 runs, tu-svm-10fold)
    >>> print(Score("ridge-10fold", ((0.8, 0.7),), np.array([[0, 1]]), scoring="r2", floor=-0.01))
    R² 0.750 ± 0.000 (1 run, ridge-10fold)
    """

    protocol: str
    folds: tuple[tuple[float, ...], ...]
    splits: NDArray[np.int64] = field(repr=False, compare=False)
    details: Mapping[str, tuple[float, ...]] = field(default_factory=dict, repr=False)
    inner: tuple[tuple[float, ...], ...] = field(default=(), repr=False)
    scoring: str = "accuracy"
    floor: float | None = None
    predictions: Predictions | None = field(default=None, repr=False, compare=False)

    @property
    def runs(self) -> tuple[float, ...]:
        """(R,) mean over the folds of each run."""
        return tuple(mean_of_columns(np.array(run)) for run in self.folds)

    @property
    def mean(self) -> float:
        """Mean over the runs."""
        return float(np.mean(self.runs))

    @property
    def std(self) -> float:
        """Population standard deviation over the runs, as the papers report it."""
        return float(np.std(self.runs))

    def spread(self, kept: NDArray[np.bool_]) -> Score:
        """Return the same for all samples, of which this score is of those `kept`.

        >>> Score("x", ((0.9,),), np.array([[0, 2]])).spread(np.array([True, False, True])).splits
        array([[ 0, -1,  2]])
        """
        everywhere = np.full((len(self.splits), len(kept)), -1, dtype=np.int64)
        everywhere[:, kept] = self.splits
        predictions = None if self.predictions is None else self.predictions.spread(kept)
        return replace(self, splits=everywhere, predictions=predictions)

    @property
    def floor_text(self) -> str:
        """What the floor is, in words.

        >>> Score("x", ((0.9,),), np.array([[0]]), floor=0.75).floor_text
        'floor (largest class): 75.00 %'
        """
        return floor_text(self.scoring, self.floor)

    @property
    def split_hash(self) -> str:
        """SHA-256 of `splits`: two scores with the same hash were tested on the same samples."""
        shape = ",".join(map(str, self.splits.shape))
        return hashlib.sha256(shape.encode() + self.splits.astype("<i8").tobytes()).hexdigest()

    def __str__(self) -> str:
        runs = "1 run" if len(self.folds) == 1 else f"{len(self.folds)} runs"
        return f"{written(self.scoring, self.mean, self.std)} ({runs}, {self.protocol})"
