"""The SVM protocol against scikit-learn's grid search, on the same folds and as many threads."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from augcl.evaluation.svm import GRID, GridSVM
from benchmarks.data import graphs
from benchmarks.measure import Row, faster, seconds
from benchmarks.training import fit


def evaluation(full: bool) -> list[Row]:
    """NCI1 embeddings, one job; 2 of the 10 folds, or all."""
    many = graphs("NCI1")
    assert many.y is not None
    X = np.asarray(fit(many, epochs=4, weighted=False).transform(many), dtype=np.float64)
    y = many.y.numpy()
    folds = list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y))
    folds = folds if full else folds[:2]
    svm: list[GridSVM] = []
    fast = seconds(lambda: svm.append(GridSVM(X, y)))
    slow, same = 0.0, True
    for train, test in folds:  # in turns, so that noise meets both alike
        ours: list[float] = []
        fast += seconds(lambda: ours.append(svm[0].score(train, test)))  # noqa: B023
        search = GridSearchCV(SVC(), {"C": list(GRID)}, cv=5, scoring="accuracy")
        slow += seconds(lambda: search.fit(X[train], y[train]))  # noqa: B023
        same &= ours[0] == search.score(X[test], y[test])
    note = f"{len(folds)} of 10 folds"
    return [faster("SVM evaluation of NCI1", slow, fast, 2, same=same, note=note)]
