"""The result of an evaluation: scores by run and fold, and the floor beside them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from augcl.evaluation.scoring import floor_text, mean_of_columns, written


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
