"""Scorings: how predictions become one number, and how that number is written.

The numbers equal those of scikit-learn's functions of the same name. Several classes are scored
one-vs-rest and averaged over the classes of the test part; several targets are averaged over the
columns. A measure that a test part does not define (ROC-AUC where one class is missing) is NaN and
does not count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from augcl.errors import InputError, one_of

Floats = NDArray[np.float64]

NAMES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "roc_auc": "ROC-AUC",
    "average_precision": "average precision",
    "f1_macro": "macro-F1",
    "f1_micro": "micro-F1",
    "r2": "R²",
    "mae": "MAE",
    "rmse": "RMSE",
}
"""Every scoring, and what people call it."""

_OTHER_NAMES = {"auc": "roc_auc", "ap": "average_precision", "f1": "f1_macro"}
_LABELS = ("accuracy", "balanced_accuracy", "roc_auc", "average_precision", "f1_macro")
SCORINGS = {
    "classification": _LABELS,
    "multilabel": (*_LABELS, "f1_micro"),
    "regression": ("r2", "mae", "rmse"),
}
"""The scorings of each task; the first of the last one is its default."""

LOWER_IS_BETTER = ("mae", "rmse")
BY_RANK = ("roc_auc", "average_precision")
"""Scorings of the order of the samples, which need a number for each class, not a class."""


def scoring_name(text: str, task: str) -> str:
    """Return our name of a scoring of that task, given in any case, with hyphens, or short.

    >>> scoring_name("ROC-AUC", "classification"), scoring_name("f1", "multilabel")
    ('roc_auc', 'f1_macro')
    """
    plain = text.lower().replace("-", "_").replace("²", "2")
    plain = _OTHER_NAMES.get(plain, plain)
    if plain in NAMES and plain not in SCORINGS[task]:
        raise InputError(
            f"scoring {text} is not for {task}: choose from {', '.join(SCORINGS[task])}"
        )
    return one_of(plain, SCORINGS[task], "scoring")


def written(scoring: str, mean: float, std: float | None = None) -> str:
    """Write a score as people do: accuracy in percent, all others as a number after their name.

    >>> written("accuracy", 0.9, 0.01), written("r2", 0.8234), written("roc_auc", 0.5, 0.1)
    ('90.00 ± 1.00 %', 'R² 0.823', 'ROC-AUC 0.500 ± 0.100')
    """
    if scoring == "accuracy":
        return f"{100 * mean:.2f} %" if std is None else f"{100 * mean:.2f} ± {100 * std:.2f} %"
    return f"{NAMES[scoring]} {mean:.3f}" + ("" if std is None else f" ± {std:.3f}")


def floor_text(scoring: str, floor: float | None) -> str:
    """Say what the floor of a score is.

    >>> floor_text("mae", 1.5)
    'floor (mean of the training part): MAE 1.500'
    """
    if floor is None:
        return "floor: not known"
    what = "mean of the training part" if scoring in SCORINGS["regression"] else "largest class"
    return f"floor ({'chance' if scoring in BY_RANK else what}): {written(scoring, floor)}"


def score_classes(
    scoring: str, y: NDArray[Any], predicted: NDArray[Any], values: Floats | None
) -> float:
    """Score predicted classes; `y` (n,) are indices into the columns of `values` (n, C).

    >>> y = np.array([0, 0, 0, 1])
    >>> [score_classes(name, y, y * 0, None) for name in ("accuracy", "balanced_accuracy")]
    [0.75, 0.5]
    >>> score_classes("roc_auc", y, y * 0, np.zeros((4, 2)))
    0.5
    """

    from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

    if scoring == "accuracy":
        return float(np.average(predicted == y))
    if scoring == "f1_macro":
        return float(f1_score(y, predicted, average="macro", zero_division=0.0))
    if scoring == "balanced_accuracy":
        return float(np.mean([np.mean(predicted[y == c] == c) for c in np.unique(y)]))
    assert values is not None
    measure = roc_auc_score if scoring == "roc_auc" else average_precision_score
    # Of two classes one number says all: the score of the second.
    classes = [1] if values.shape[1] == 2 else range(values.shape[1])
    defined = [c for c in classes if 0 < np.count_nonzero(y == c) < len(y)]
    if not defined:
        return float("nan")
    return float(np.mean([measure(y == c, values[:, c]) for c in defined]))


def score_columns(
    scoring: str, Y: Floats, predicted: Floats, values: Floats | None
) -> NDArray[np.float64]:
    """Score each of T columns by the rows that are known, (T,); NaN where it is not defined.

    Columns of 0 and 1 are classes, others are numbers; the scoring says which is meant.

    >>> Y = np.array([[1.0, 0.0], [3.0, np.nan]])
    >>> score_columns("mae", Y, np.zeros((2, 2)), None).tolist()
    [2.0, 0.0]
    """

    from sklearn.metrics import f1_score

    out = np.full(Y.shape[1], np.nan)
    for t in range(Y.shape[1]):
        known = ~np.isnan(Y[:, t])
        y, found = Y[known, t], predicted[known, t]
        if not len(y):
            continue
        if scoring in _NUMBERS:
            out[t] = _NUMBERS[scoring](y, found)
        elif scoring == "f1_macro":  # the mean over the columns is what macro means here
            both = y.astype(bool).any() or found.astype(bool).any()
            out[t] = f1_score(y, found, zero_division=0.0) if both else np.nan
        else:
            two = None if values is None else np.stack([-values[known, t], values[known, t]], 1)
            out[t] = score_classes(scoring, y.astype(np.int64), found.astype(np.int64), two)
    return out


def mean_of_columns(scores: NDArray[np.float64]) -> float:
    """Return the mean over the columns that are defined; NaN if none is.

    >>> mean_of_columns(np.array([0.5, np.nan, 1.0]))
    0.75
    """
    known = scores[~np.isnan(scores)]
    return float(known.mean()) if len(known) else float("nan")


def micro_f1(Y: NDArray[Any], predicted: NDArray[Any]) -> float:
    """Return the F1 of all entries of 0/1 matrices together; NaN entries of `Y` do not count.

    >>> micro_f1(np.array([[1, 0], [1, 1]]), np.array([[1, 0], [0, 1]]))
    0.8
    """
    known = ~np.isnan(Y)
    true, found = (Y == 1) & known, (predicted == 1) & known
    total = np.count_nonzero(true) + np.count_nonzero(found)
    return float(2 * np.count_nonzero(true & found) / total) if total else 0.0


def macro_f1(Y: NDArray[Any], predicted: NDArray[Any]) -> float:
    """Return the mean over the columns of the F1 of 0/1 matrices; 0 for an empty column.

    >>> macro_f1(np.array([[1, 0], [1, 1]]), np.array([[1, 0], [0, 1]]))  # 2/3 and 1
    0.8333333333333333
    """
    hits = np.count_nonzero((Y == 1) & (predicted == 1), axis=0)
    total = np.count_nonzero(Y == 1, axis=0) + np.count_nonzero(predicted == 1, axis=0)
    return float(np.mean(np.where(total > 0, 2 * hits / np.maximum(total, 1), 0.0)))


def _r2(y: Floats, found: Floats) -> float:
    spread = float(((y - y.mean()) ** 2).sum())
    return 1 - float(((y - found) ** 2).sum()) / spread if spread > 0 else float("nan")


_NUMBERS: dict[str, Callable[[Floats, Floats], float]] = {
    "r2": _r2,
    "mae": lambda y, found: float(np.abs(y - found).mean()),
    "rmse": lambda y, found: float(np.sqrt(((y - found) ** 2).mean())),
}
