"""Protocol `grace-liblinear`: one-vs-rest logistic regression on normalised embeddings of nodes.

As GRACE judges: rows of length 1, a random 10 % of the nodes to train and 90 % to test, C chosen
from 2⁻¹⁰ … 2⁹ by 5-fold cross-validation inside the training part. The numbers are those of
``GridSearchCV(OneVsRestClassifier(LogisticRegression(solver="liblinear")), cv=5)`` on the same
splits. (The released code gives scikit-learn the labels one-hot, which makes the inner folds plain
instead of stratified and their score that of exact rows; ours are the usual ones.)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import joblib
import numpy as np
import torch
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import normalize
from torch import Tensor

from augcl.errors import InputError
from augcl.evaluation.inputs import Ints, Samples
from augcl.evaluation.score import Score
from augcl.evaluation.splits import TEST, TRAIN, check_parts, random_parts
from augcl.training.progress import one_more, progress_bar

Floats = NDArray[np.float64]

GRID = tuple(2.0**power for power in range(-10, 10))
INNER_FOLDS = 5


def grace_liblinear(samples: Samples) -> Score:
    """10 % of the nodes to train and 90 % to test, drawn anew for each run; 3 runs."""
    seeds = samples.seeds(3)
    parts = random_parts(len(samples.y), seeds, val=0)
    check_parts(parts, torch.from_numpy(samples.y), samples.names, needed=(TRAIN, TEST))
    X = normalize(np.asarray(samples.X.cpu().numpy(), dtype=np.float64))
    total = len(seeds) * (INNER_FOLDS * len(GRID) + 1)
    title = "evaluate: grace-liblinear"
    with progress_bar(title, total, show=samples.progress, stay=False) as report:
        predicted = grid_search_predictions(
            X, samples.y, parts, jobs=samples.jobs, on_fit=one_more(report)
        )
    accuracies, macro = [], []
    for labels, part in zip(predicted, parts.numpy(), strict=True):
        true, found = samples.y[part == TEST], labels[part == TEST]
        accuracies.append((float(np.mean(true == found)),))
        macro.append(float(f1_score(true, found, average="macro")))
    details = {"macro_f1": tuple(macro)}
    return Score("grace-liblinear", tuple(accuracies), parts.numpy(), details)


def grid_search_predictions(
    X: Floats,
    y: Ints,
    parts: Tensor,
    *,
    jobs: int = 1,
    on_fit: Callable[[], None] = lambda: None,
) -> list[Ints]:
    """For each split (R, N) the (N,) classes that the regression with the best C predicts.

    Examples
    --------
    >>> y = np.arange(200) % 2
    >>> X = np.stack([y, 1 - y], axis=1) + 0.0
    >>> bool((grid_search_predictions(X, y, random_parts(200, [0], val=0))[0] == y).all())
    True
    """
    trains = [np.flatnonzero(part == TRAIN) for part in parts.numpy()]
    for run, train in enumerate(trains):
        counts = np.unique(y[train], return_counts=True)[1]
        if len(counts) < 2 or counts.max() < INNER_FOLDS:
            raise InputError(
                f"the {len(train)} training samples of split {run} are too few: {INNER_FOLDS} "
                "inner folds need two classes, one with as many members"
            )

    def predict(train: Ints, wanted: Ints, C: float) -> Ints:
        model = OneVsRestClassifier(LogisticRegression(solver="liblinear", C=C))
        with config_context(assume_finite=True, skip_parameter_validation=True):
            found: Ints = model.fit(X[train], y[train]).predict(X[wanted])
        on_fit()
        return found

    def accuracy(train: Ints, wanted: Ints, C: float) -> float:
        return float(np.average(predict(train, wanted, C) == y[wanted]))

    # liblinear releases the interpreter lock, so threads are enough.
    parallel = joblib.Parallel(jobs, prefer="threads")
    with warnings.catch_warnings():  # of rare classes, which are told of elsewhere, once
        warnings.filterwarnings("ignore", message="The least populated class")
        warnings.filterwarnings("ignore", message="Label .* is present in all training")
        inner = [
            (train[fit], train[held], C)
            for train in trains
            for fit, held in StratifiedKFold(INNER_FOLDS).split(train, y[train])
            for C in GRID
        ]
        scores = parallel(joblib.delayed(accuracy)(*work) for work in inner)
        best = _best_of_grid(scores, len(trains))
        everyone = np.arange(len(y))
        outer = zip(trains, best, strict=True)
        return list(parallel(joblib.delayed(predict)(t, everyone, C) for t, C in outer))


def _best_of_grid(scores: Sequence[float], runs: int) -> list[float]:
    table = np.reshape(scores, (runs, INNER_FOLDS, len(GRID)))
    # The mean that GridSearchCV takes, so that ties are the same ties; the first C wins.
    means = [np.average(np.ascontiguousarray(run.T), axis=1) for run in table]
    return [GRID[int(np.argmax(mean))] for mean in means]
