"""Time the SVM protocol against scikit-learn's grid search: same folds, same number of jobs."""

from __future__ import annotations

import joblib
import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from augcl.evaluation.svm import GRID, GridSVM
from benchmarks.data import graphs
from benchmarks.measure import Row, faster, seconds
from benchmarks.training import fit

JOBS = 2


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
