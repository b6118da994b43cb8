"""The result of an evaluation: accuracies by run and fold."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Score:
    """Accuracy over repeated runs, as fractions between 0 and 1.

    Parameters
    ----------
    protocol : str
        Name of the protocol.
    folds : tuple of tuple of float
        Accuracy of each fold of each run, (R, K); K is 1 where a run has a single test part.
    splits : (R, N) int64
        For each run the fold in which each sample was tested or, where a run has a single test
        part, the part it was in: 0 training, 1 validation, 2 test, −1 none.
    details : mapping of str to tuple of float
        Other measures, one number per run, such as ``"macro_f1"``.
    inner : tuple of tuple of float
        (R, K) accuracy inside each training part, by which the protocol chose the setting of its
        classifier. Use it to choose other settings without the test part. Empty if the protocol
        has none.

    Examples
    --------
    >>> score = Score("tu-svm-10fold", ((0.8, 0.9), (0.9, 1.0)), np.array([[0, 1], [1, 0]]))
    >>> print(score)
    90.00 ± 5.00 % (2 runs, tu-svm-10fold)
    """

    protocol: str
    folds: tuple[tuple[float, ...], ...]
    splits: NDArray[np.int64] = field(repr=False, compare=False)
    details: Mapping[str, tuple[float, ...]] = field(default_factory=dict, repr=False)
    inner: tuple[tuple[float, ...], ...] = field(default=(), repr=False)

    @property
    def runs(self) -> tuple[float, ...]:
        """(R,) mean over the folds of each run."""
        return tuple(float(np.mean(run)) for run in self.folds)

    @property
    def mean(self) -> float:
        """Mean over the runs."""
        return float(np.mean(self.runs))

    @property
    def std(self) -> float:
        """Population standard deviation over the runs, as the papers report it."""
        return float(np.std(self.runs))

    @property
    def split_hash(self) -> str:
        """SHA-256 of `splits`: two scores with the same hash were tested on the same samples."""
        shape = ",".join(map(str, self.splits.shape))
        return hashlib.sha256(shape.encode() + self.splits.astype("<i8").tobytes()).hexdigest()

    def __str__(self) -> str:
        runs = "1 run" if len(self.folds) == 1 else f"{len(self.folds)} runs"
        return f"{100 * self.mean:.2f} ± {100 * self.std:.2f} % ({runs}, {self.protocol})"
