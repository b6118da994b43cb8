"""Time the SVM protocol against scikit-learn's grid search: same folds, same number of jobs."""

from __future__ import annotations

import time
from collections.abc import Sequence

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

import augcl
from augcl.evaluation.svm import GRID, GridSVM, KernelSVM
from benchmarks.data import graphs
from benchmarks.measure import Row, faster, seconds
from benchmarks.training import fit

JOBS = 2
Ints = NDArray[np.int64]


def evaluation(full: bool) -> list[Row]:
    """Evaluate embeddings of NCI1 with two jobs on each side; 2 of the 10 folds, or all."""
    many = graphs("NCI1")
    assert many.y is not None
    X = np.asarray(fit(many, epochs=4, weighted=False).transform(many), dtype=np.float64)
    y = many.y.numpy()
    folds = list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y))
    folds = folds if full else folds[:2]
    ours: list[float] = []
    theirs: list[float] = []

    def fold_by_fold() -> None:
        svm = GridSVM(X, y)
        work = (joblib.delayed(svm.score)(train, test) for train, test in folds)
        ours.extend(test for test, _ in joblib.Parallel(JOBS, prefer="threads")(work))

    def grid_search() -> None:
        for train, test in folds:
            search = GridSearchCV(SVC(), {"C": list(GRID)}, cv=5, n_jobs=JOBS)
            theirs.append(search.fit(X[train], y[train]).score(X[test], y[test]))

    GridSearchCV(SVC(), {"C": [1.0]}, cv=2, n_jobs=JOBS).fit(X[::40], y[::40])  # starts workers
    fast, slow = seconds(fold_by_fold), seconds(grid_search)
    note = f"{len(folds)} of 10 folds, {JOBS} jobs"
    return [faster("SVM evaluation of NCI1", slow, fast, 2, same=ours == theirs, note=note)]


def kernel_evaluation(full: bool) -> list[Row]:
    """Evaluate the WL kernel: all folds of MUTAG, one of NCI1 or all; one job, processor time."""
    rows = []
    for name, most in (("MUTAG", 10), ("NCI1", 10 if full else 1)):
        many = graphs(name)
        assert many.y is not None
        kernel = augcl.WLKernel().fit_transform(many).astype(np.float64)
        y = many.y.numpy()
        folds = list(StratifiedKFold(10, shuffle=True, random_state=0).split(y, y))[:most]
        rows.append(_kernel_row(name, kernel, y, folds))
    return rows


def _kernel_row(
    name: str, kernel: NDArray[np.float64], y: Ints, folds: Sequence[tuple[Ints, Ints]]
) -> Row:
    ours: list[float] = []
    theirs: list[float] = []

    def shared() -> None:
        svm = KernelSVM(kernel, y)
        ours.extend(svm.score(train, test)[0] for train, test in folds)

    def grid_search() -> None:
        for train, test in folds:
            search = GridSearchCV(SVC(kernel="precomputed"), {"C": list(GRID)}, cv=5)
            search.fit(kernel[np.ix_(train, train)], y[train])
            theirs.append(search.score(kernel[np.ix_(test, train)], y[test]))

    fast, slow = (seconds(work, clock=time.process_time) for work in (shared, grid_search))
    what = f"SVM evaluation of the WL kernel of {name}"
    return faster(what, slow, fast, 4, same=ours == theirs, note=f"{len(folds)} of 10 folds")
