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
    accuracies: dict[str, list[float]] = {}

    def grid_search() -> None:
        search = GridSearchCV(SVC(), {"C": list(GRID)}, cv=5, scoring="accuracy")
        accuracies["textbook"] = [
            search.fit(X[train], y[train]).score(X[test], y[test]) for train, test in folds
        ]

    def shared_distances() -> None:
        svm = GridSVM(X, y)
        accuracies["ours"] = [svm.score(train, test) for train, test in folds]

    fast, slow = seconds(shared_distances), seconds(grid_search)
    same = accuracies["ours"] == accuracies["textbook"]
    note = f"{len(folds)} of 10 folds"
    return [faster("SVM evaluation of NCI1", slow, fast, 2, same=same, note=note)]
