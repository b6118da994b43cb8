"""Protocol `grace-liblinear`: one-vs-rest logistic regression on normalised embeddings of nodes.

The protocol of GRACE: rows of length 1, a random 10 % of the nodes to train and 90 % to test, C
chosen from 2⁻¹⁰ … 2⁹ by 5-fold cross-validation inside the training part. The numbers equal those
of ``GridSearchCV(OneVsRestClassifier(LogisticRegression(solver="liblinear")), cv=5)`` on the same
splits. (The released code passes one-hot labels to scikit-learn; then the inner folds are not
stratified, and their score counts exact rows. Ours use the usual folds and score.)
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
from augcl.evaluation.scoring import BY_RANK, score_classes
from augcl.evaluation.splits import TEST, TRAIN, check_parts, random_parts
from augcl.training.progress import one_more, progress_bar

Floats = NDArray[np.float64]

GRID = tuple(2.0**power for power in range(-10, 10))
INNER_FOLDS = 5


def grace_liblinear(samples: Samples) -> Score:
    """Train on 10 % of the nodes and test on 90 %, drawn for each run; 3 runs by default."""
    if samples.scoring in BY_RANK:
        raise InputError(
            f"protocol grace-liblinear predicts classes only, not scoring {samples.scoring}: use "
            "linear-10-10-80 or logistic-10fold"
        )
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
        samples.tested.append((np.flatnonzero(part == TEST), found))
        accuracies.append((score_classes(samples.scoring, true, found, None),))
        macro.append(float(f1_score(true, found, average="macro")))
    details = {"macro_f1": tuple(macro)}
    splits = parts.numpy()
    return Score("grace-liblinear", tuple(accuracies), splits, details, scoring=samples.scoring)


def grid_search_predictions(
    X: Floats,
    y: Ints,
    parts: Tensor,
    *,
    jobs: int = 1,
    on_fit: Callable[[], None] = lambda: None,
) -> list[Ints]:
    """Return (N,) predicted classes for each split of `parts` (R, N), with the best C.

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
                f"inner folds need two classes, and {INNER_FOLDS} members of one of them"
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
    with warnings.catch_warnings():  # check_parts warns of rare classes once
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
    """Return the best C of each run."""
    table = np.reshape(scores, (runs, INNER_FOLDS, len(GRID)))
    # The same mean as in GridSearchCV, so that ties are the same; the first C wins.
    means = [np.average(np.ascontiguousarray(run.T), axis=1) for run in table]
    return [GRID[int(np.argmax(mean))] for mean in means]
