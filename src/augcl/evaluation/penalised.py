"""Protocols with a penalised linear model, for every task, scoring, group and split.

``logistic-10fold`` (classes and multi-label), ``ridge-10fold`` and ``kernel-ridge-10fold``
(numbers) cross-validate; ``public-split`` uses the training, validation and test parts of the data,
``logistic-10-10-80`` random ones of nodes.
The penalty is chosen on the validation part, or by 5 inner folds of the training part; of several
targets, for each by itself. Embeddings are centred and divided by one number, so that the mean
variance of their columns is 1 in the training part: penalties then mean the same for all
embeddings, and rare columns stay small.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import joblib
import numpy as np
import torch
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.optimize import minimize
from scipy.special import expit, softmax

from augcl.checks import whole_number
from augcl.errors import InputError
from augcl.evaluation.divisions import Division, fold_numbers, of_folds, of_parts
from augcl.evaluation.inputs import Ints, Samples
from augcl.evaluation.score import Score
from augcl.evaluation.scoring import (
    LOWER_IS_BETTER,
    mean_of_columns,
    micro_f1,
    score_classes,
    score_columns,
)
from augcl.evaluation.splits import TEST, TRAIN, VALIDATION, check_parts, random_parts
from augcl.training.progress import one_more, progress_bar
from augcl.training.threads import one_blas_thread

Floats = NDArray[np.float64]
Found = tuple[NDArray[Any], Floats]
"""Predicted classes (n,) or targets (n, T), and the numbers (n, C) or (n, T) they come from."""

INNER_FOLDS = 5
# From the strongest penalty to the weakest: of equal ones, the stronger wins.
GRID_C = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)
TOLERANCE = 1e-4
"""Largest component of the scaled gradient where L-BFGS stops, see `logistic_columns`."""
MOST_STEPS = 300
"""Of L-BFGS for one C, which begins where the next smaller C ended."""
GRID_RIDGE = (1e5, 1e4, 1e3, 1e2, 10.0, 1.0, 1e-1, 1e-2, 1e-3)
GRID_KERNEL = (100.0, 10.0, 1.0, 1e-1, 1e-2, 1e-3, 1e-4)
WIDTHS = (0.25, 1.0, 4.0)
"""γ of the RBF kernel, as multiples of 1 / (D · variance)."""


class Learner(Protocol):
    """A model with a grid of penalties; `T` targets are learned side by side."""

    def path(self, train: Ints, wanted: Ints) -> Sequence[Found]:
        """Predict the rows `wanted` with every penalty of the grid."""
        ...

    def chosen(self, train: Ints, wanted: Ints, best: Ints) -> Found:
        """Predict the rows `wanted` with the penalty `best[t]` of each target."""
        ...


def logistic_10fold(samples: Samples) -> Score:
    """Cross-validate logistic regression: 10 folds and 5 runs by default."""
    return _folds("logistic-10fold", samples, _logistic(samples))


def ridge_10fold(samples: Samples) -> Score:
    """Cross-validate ridge regression: 10 folds and 5 runs by default."""
    return _folds("ridge-10fold", samples, Ridge(_matrix(samples), _targets(samples)))


def kernel_ridge_10fold(samples: Samples) -> Score:
    """Cross-validate ridge regression with an RBF kernel: 10 folds and 5 runs by default."""
    learner = KernelRidge(_matrix(samples), _targets(samples), given=samples.kernel)
    return _folds("kernel-ridge-10fold", samples, learner)


def public_split(samples: Samples) -> Score:
    """Train, choose and test on the parts that the data fix, one run per split."""
    if samples.parts is None:
        raise InputError(
            "protocol public-split needs the splits of the data: give a graph with splits instead "
            "of its labels, or splits="
        )
    count = len(samples.parts) if samples.repeats is None else samples.repeats
    if count > len(samples.parts):
        raise InputError(
            f"repeats={count}: there are {len(samples.parts)} splits, and each gives one run"
        )
    parts = samples.parts[:count].numpy()
    for run, part in enumerate(parts):
        for number, word in ((0, "training"), (2, "test")):
            if not (part == number).any():
                raise InputError(f"split {run} has no labelled samples in its {word} part")
    if samples.task == "regression":
        learner: Learner = Ridge(_matrix(samples), _targets(samples))
    else:
        learner = _logistic(samples)
    divisions = [[of_parts(part)] for part in parts]
    return _score("public-split", samples, learner, divisions, parts)


def logistic_10_10_80(samples: Samples) -> Score:
    """Train on 10 % of the nodes, choose C on 10 %, test on 80 %; rows of length 1, 20 runs."""
    parts = random_parts(len(samples.y), samples.seeds(20))
    y = torch.from_numpy(samples.y)
    check_parts(parts, y, samples.names, needed=(TRAIN, VALIDATION, TEST))
    learner = Logistic(unit_rows(_matrix(samples)), samples.y, len(samples.names))
    divisions = [[of_parts(part)] for part in parts.numpy()]
    return _score("logistic-10-10-80", samples, learner, divisions, parts.numpy(), macro_f1=True)


def _folds(name: str, samples: Samples, learner: Learner) -> Score:
    y = samples.y if samples.task == "classification" else None
    if samples.own_folds is not None:
        splits = [samples.own_folds]
        name = f"{name}, but own folds"
    elif samples.parts is not None and samples.own_parts:
        parts = samples.parts.numpy()
        return _score(
            f"{name}, but own split", samples, learner, [[of_parts(p)] for p in parts], parts
        )
    else:
        folds = 10 if samples.folds is None else samples.folds
        whole_number("folds", folds, least=2)
        splits = [
            fold_numbers(len(samples.y), folds, seed, y=y, groups=samples.groups)
            for seed in samples.seeds(5)
        ]
        name = name if folds == 10 else f"{name}, but {folds} folds"
        name = name if samples.groups is None else f"{name}, by groups"
    return _score(name, samples, learner, [of_folds(split) for split in splits], np.stack(splits))


def _score(
    name: str,
    samples: Samples,
    learner: Learner,
    divisions: list[list[Division]],
    splits: NDArray[np.int64],
    *,
    macro_f1: bool = False,
) -> Score:
    work = [division for run in divisions for division in run]
    with (
        one_blas_thread(),
        progress_bar(f"evaluate: {name}", len(work), show=samples.progress, stay=False) as report,
    ):
        step = one_more(report)

        def one(division: Division) -> tuple[float, float, float]:
            score, inner, predicted = _one_division(samples, learner, division)
            samples.tested.append((division.test, predicted))
            macro = float("nan")
            if macro_f1:
                macro = score_classes("f1_macro", samples.y[division.test], predicted, None)
            step()
            return score, inner, macro

        parallel = joblib.Parallel(samples.jobs, prefer="threads")
        results = iter(parallel(joblib.delayed(one)(division) for division in work))
    table = [[next(results) for _ in run] for run in divisions]
    test, inner, macro = (tuple(tuple(fold[i] for fold in run) for run in table) for i in range(3))
    details = {"macro_f1": tuple(run[0] for run in macro)} if macro_f1 else {}
    return Score(name, test, splits, details, inner, scoring=samples.scoring)


def _one_division(
    samples: Samples, learner: Learner, division: Division
) -> tuple[float, float, NDArray[Any]]:
    """Choose the penalty without the test part.

    Return the scores on it and where it was chosen, and the predicted classes or targets.
    """
    train, test = division.train, division.test
    if division.val is not None:
        # The model for the test part is one of those on the path: one fit predicts both parts.
        n = len(division.val)
        both = learner.path(train, np.concatenate([division.val, test]))
        paths: list[tuple[Ints, Sequence[Found]]]
        paths = [(division.val, [(labels[:n], values[:n]) for labels, values in both])]
    else:
        stratify = samples.y[train] if samples.task == "classification" else None
        groups = None if samples.groups is None else samples.groups[train]
        folds = min(INNER_FOLDS, len(train) if groups is None else len(np.unique(groups)))
        if folds < 2:
            raise InputError(
                "a training part has a single group: the penalty is chosen on other groups than "
                "the model is trained on; give more groups or fewer folds"
            )
        fold = fold_numbers(len(train), folds, seed=0, y=stratify, groups=groups)
        pairs = [(train[d.train], train[d.test]) for d in of_folds(fold)]
        paths = [(held, learner.path(fit, held)) for fit, held in pairs]
    table = np.array(
        [[scores(samples, held, found) for found in path] for held, path in paths]
    )  # (folds, penalties, targets)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Mean of empty slice")
        means = np.nanmean(table, axis=0)
    signed = -means if samples.scoring in LOWER_IS_BETTER else means
    best = np.where(np.isnan(signed), -np.inf, signed).argmax(axis=0)
    if division.val is None:
        found = learner.chosen(train, test, best)
    elif samples.task == "classification":
        found = both[best[0]][0][n:], both[best[0]][1][n:]
    else:
        columns = [[part[n:, t] for part in both[b]] for t, b in enumerate(best)]
        found = np.stack([c[0] for c in columns], axis=1), np.stack([c[1] for c in columns], axis=1)
    if samples.scoring == "f1_micro":
        result = micro_f1(_targets(samples)[test], found[0])
    else:
        result = mean_of_columns(scores(samples, test, found))
    return result, mean_of_columns(means[best, np.arange(means.shape[1])]), found[0]


def scores(samples: Samples, rows: Ints, found: Found) -> Floats:
    """Return (T,) the score of each target on these rows; one for classes."""
    if samples.task == "classification":
        return np.array([score_classes(samples.scoring, samples.y[rows], *found)])
    # The micro-F1 of one target is its F1.
    scoring = "f1_macro" if samples.scoring == "f1_micro" else samples.scoring
    return score_columns(scoring, _targets(samples)[rows], *found)


def floor(samples: Samples, divisions: Sequence[Sequence[Division]]) -> float:
    """Return the score of the largest class, or the mean, of each training part.

    The mean over runs and folds, as for a score.
    """
    runs = [
        mean_of_columns(np.array([_floor_of(samples, division) for division in run]))
        for run in divisions
    ]
    return float(np.mean(runs))


def _floor_of(samples: Samples, division: Division) -> float:
    n = len(division.test)
    if samples.task == "classification":
        counts = np.bincount(samples.y[division.train], minlength=len(samples.names))
        shares = np.tile(counts / counts.sum(), (n, 1))
        return mean_of_columns(
            scores(samples, division.test, (np.full(n, counts.argmax()), shares))
        )
    Y = _targets(samples)
    mean = np.array([mean_of_columns(column) for column in Y[division.train].T])
    mean = np.nan_to_num(mean)
    guess = np.tile(mean, (n, 1))
    labels = guess if samples.task == "regression" else (guess > 0.5).astype(np.float64)
    if samples.scoring == "f1_micro":
        return micro_f1(Y[division.test], labels)
    return mean_of_columns(scores(samples, division.test, (labels, guess)))


def _matrix(samples: Samples) -> Floats:
    return np.ascontiguousarray(samples.X.cpu().numpy(), dtype=np.float64)


def _targets(samples: Samples) -> Floats:
    assert samples.targets is not None
    return samples.targets


def _logistic(samples: Samples) -> Learner:
    if samples.task == "multilabel":
        return LogisticColumns(_matrix(samples), _targets(samples))
    return Logistic(_matrix(samples), samples.y, len(samples.names))


def unit_rows(X: Floats) -> Floats:
    """Scale every row to length 1; rows of 0 stay.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    length = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(length > 0, length, 1.0)


def standardised(X: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Centre `X` (n, D) and divide it by one number: mean variance 1. Treat `other` likewise.

    >>> standardised(np.array([[0.0], [4.0]]), np.array([[2.0]]))[0].tolist()
    [[-1.0], [1.0]]
    """
    mean = X.mean(axis=0)
    centred = X - mean
    scale = float(np.sqrt(np.mean(centred**2))) or 1.0
    return centred / scale, (other - mean) / scale


def in_row_space(X: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Rotate `X` (n, D) to its at most min(n, D) principal axes; `other` likewise.

    Penalised linear models predict the same: a rotation keeps the penalty, and there is no weight
    in other directions. With orthogonal columns, L-BFGS takes fewer steps.

    >>> X, other = in_row_space(np.array([[3.0, 4.0]]), np.array([[6.0, 8.0], [4.0, -3.0]]))
    >>> np.abs(X).round(9).tolist(), np.abs(other).round(9).tolist()
    ([[5.0]], [[10.0], [0.0]])
    """
    wide = X.shape[1] > len(X)
    values, vectors = eigh(X @ X.T if wide else X.T @ X, driver="evd", check_finite=False)
    kept = values > len(values) * np.finfo(np.float64).eps * max(float(values.max()), 1e-300)
    if not kept.any():
        return X[:, :1], other[:, :1]
    length, vectors = np.sqrt(values[kept]), vectors[:, kept]
    if not wide:
        return X @ vectors, other @ vectors
    return vectors * length, (other @ X.T) @ (vectors / length)


class Logistic:
    """Softmax regression with a grid of C, of two classes logistic regression.

    The minimum is that of scikit-learn's ``LogisticRegression``.
    """

    def __init__(self, X: Floats, y: Ints, classes: int) -> None:
        self.X, self.y, self.classes = X, y, classes

    def path(self, train: Ints, wanted: Ints) -> list[Found]:
        return self._predict(train, wanted, GRID_C)

    def chosen(self, train: Ints, wanted: Ints, best: Ints) -> Found:
        return self._predict(train, wanted, [GRID_C[int(best[0])]])[0]

    def _predict(self, train: Ints, wanted: Ints, grid: Sequence[float]) -> list[Found]:
        known, y = np.unique(self.y[train], return_inverse=True)
        out: list[Found] = []
        if len(known) == 1:  # nothing to learn
            values = np.zeros((len(wanted), self.classes))
            values[:, known] = 1.0
            return [(np.full(len(wanted), known[0]), values)] * len(grid)
        X, held = in_row_space(*standardised(self.X[train], self.X[wanted]))
        W = None
        for C in grid:
            values = np.zeros((len(held), self.classes))
            if len(known) == 2:
                W = logistic_columns(X, y[:, None].astype(np.float64), np.array([C]), start=W)
                second = expit(held @ W[:-1] + W[-1])
                values[:, known] = np.hstack([1 - second, second])
            else:
                W = softmax_regression(X, y, C, start=W)
                values[:, known] = softmax(held @ W[:-1] + W[-1], axis=1)
            out.append((values.argmax(axis=1), values))
        return out


class LogisticColumns:
    """One logistic regression for each column of 0/1; NaN entries are left out."""

    def __init__(self, X: Floats, Y: Floats) -> None:
        self.X, self.Y = X, Y

    def path(self, train: Ints, wanted: Ints) -> list[Found]:
        X, held = in_row_space(*standardised(self.X[train], self.X[wanted]))
        out: list[Found] = []
        W = None
        for C in GRID_C:
            W = logistic_columns(X, self.Y[train], np.full(self.Y.shape[1], C), start=W)
            out.append(self._found(held, W))
        return out

    def chosen(self, train: Ints, wanted: Ints, best: Ints) -> Found:
        X, held = in_row_space(*standardised(self.X[train], self.X[wanted]))
        return self._found(held, logistic_columns(X, self.Y[train], np.array(GRID_C)[best]))

    @staticmethod
    def _found(held: Floats, W: Floats) -> Found:
        values = held @ W[:-1] + W[-1]
        return (values > 0).astype(np.float64), values


def logistic_columns(
    X: Floats, Y: Floats, C: Floats, *, start: Floats | None = None, tolerance: float = TOLERANCE
) -> Floats:
    """Fit T logistic regressions at once; return the weights (D + 1, T), the intercepts last.

    Each minimises what scikit-learn's ``LogisticRegression(C=C[t])`` does, by L-BFGS on all of
    them together: one product with `X` serves all columns.

    Parameters
    ----------
    X : (n, D)
    Y : (n, T)
        0, 1, or NaN for entries that do not count.
    C : (T,)
        Inverse strength of the penalty of each column; the intercept has none.
    start : (D + 1, T), optional
        Where to begin.
    tolerance : float
        Largest component of the gradient at the end, by weights scaled so that their curvatures
        are at most 1; the loss is the mean over the samples. After `MOST_STEPS` steps the weights
        are taken as they are.

    Examples
    --------
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> Y = np.array([[0, 1], [0, 1], [1, 0], [1, np.nan]])
    >>> bool(np.sign(logistic_columns(X, Y, np.ones(2))[0]).tolist() == [1.0, -1.0])
    True
    """
    known = ~np.isnan(Y)
    sign = np.where(known, 2 * np.nan_to_num(Y) - 1, 0.0)
    share = known / np.maximum(known.sum(axis=0), 1)
    penalty = 1 / (C * np.maximum(known.sum(axis=0), 1))
    shape = (X.shape[1] + 1, Y.shape[1])

    def objective(W: Floats) -> tuple[float, Floats]:
        margin = X @ W[:-1]
        margin += W[-1]
        margin *= sign
        wrong = expit(-margin)
        # log(1 + exp(−m)) without overflow: −log σ(m) where m > 0, else that minus m.
        loss = np.log1p(np.exp(-np.abs(margin))) - np.minimum(margin, 0)
        value = float((share * loss).sum() + (penalty * W[:-1] ** 2).sum() / 2)
        pull = wrong
        pull *= sign
        pull *= share
        gradient = np.empty(shape)
        gradient[:-1] = penalty * W[:-1] - X.T @ pull
        gradient[-1] = -pull.sum(axis=0)
        return value, gradient

    curvature = share.T @ X**2 / 4 + penalty[:, None]  # (T, D), at most
    scale = np.sqrt(np.vstack([curvature.T, np.full((1, shape[1]), 0.25)]))
    return _minimum(objective, scale, start, tolerance)


def softmax_regression(
    X: Floats, y: Ints, C: float, *, start: Floats | None = None, tolerance: float = TOLERANCE
) -> Floats:
    """Fit the softmax regression of `y` (n,) in 0 … K − 1; return the weights (D + 1, K).

    It minimises what scikit-learn's ``LogisticRegression(C=C)`` does; the intercepts are the last
    row. `start` and `tolerance` are those of `logistic_columns`.

    >>> X = np.array([[-2.0], [0.0], [2.0]])
    >>> softmax_regression(X, np.arange(3), C=1.0)[0, [0, 2]].round(2).tolist()
    [-0.71, 0.71]
    """
    n, shape = len(X), (X.shape[1] + 1, int(y.max()) + 1)
    rows = np.arange(n)

    def objective(W: Floats) -> tuple[float, Floats]:
        logits = X @ W[:-1]
        logits += W[-1]
        logits -= logits.max(axis=1, keepdims=True)
        right = logits[rows, y]
        shares = np.exp(logits, out=logits)
        total = shares.sum(axis=1, keepdims=True)
        value = float((np.log(total[:, 0]) - right).mean() + (W[:-1] ** 2).sum() / (2 * C * n))
        shares /= total * n
        shares[rows, y] -= 1 / n
        gradient = np.empty(shape)
        gradient[:-1] = X.T @ shares + W[:-1] / (C * n)
        gradient[-1] = shares.sum(axis=0)
        return value, gradient

    curvature = np.append((X**2).mean(axis=0), 1.0) * (1 - 1 / shape[1]) / shape[1]
    curvature[:-1] += 1 / (C * n)
    scale = np.repeat(np.sqrt(curvature)[:, None], shape[1], axis=1)
    return _minimum(objective, scale, start, tolerance)


def _minimum(
    objective: Callable[[Floats], tuple[float, Floats]],
    scale: Floats,
    start: Floats | None,
    tolerance: float,
) -> Floats:
    """Minimise by L-BFGS over the weights times `scale`, in which all curvatures are near 1."""

    def scaled(flat: Floats) -> tuple[float, Floats]:
        value, gradient = objective(flat.reshape(scale.shape) / scale)
        return value, (gradient / scale).ravel()

    first = np.zeros(scale.size) if start is None else (start * scale).ravel()
    options: Any = {"maxiter": MOST_STEPS, "gtol": tolerance, "ftol": 1e-12, "maxcor": 20}
    found = minimize(scaled, first, jac=True, method="L-BFGS-B", options=options)
    return np.asarray(found.x, dtype=np.float64).reshape(scale.shape) / scale


class Ridge:
    """Ridge regression of T targets with a grid of penalties; NaN entries are left out.

    The numbers equal those of scikit-learn's ``Ridge`` on the standardised embeddings, with one
    decomposition for all penalties.
    """

    grid: Sequence[Any] = GRID_RIDGE

    def __init__(self, X: Floats, Y: Floats) -> None:
        self.X, self.Y = X, Y
        self._masks, self._mask_of = np.unique(~np.isnan(Y), axis=1, return_inverse=True)

    def path(self, train: Ints, wanted: Ints) -> list[Found]:
        found = self._all(train, wanted)
        return [(one, one) for one in found]

    def chosen(self, train: Ints, wanted: Ints, best: Ints) -> Found:
        found = self._all(train, wanted)
        one = found[best, :, np.arange(len(best))].T
        return one, one

    def _all(self, train: Ints, wanted: Ints) -> Floats:
        """Return (penalties, wanted, T) predictions."""
        out = np.zeros((len(self.grid), len(wanted), self.Y.shape[1]))
        for number in range(self._masks.shape[1]):  # targets known for the same rows share the work
            columns = np.flatnonzero(self._mask_of.ravel() == number)
            rows = train[self._masks[train, number]]
            if len(rows):
                Y = self.Y[np.ix_(rows, columns)]
                mean = Y.mean(axis=0)
                out[:, :, columns] = mean + self._centred(rows, wanted, Y - mean)
        return out

    def _centred(self, rows: Ints, wanted: Ints, Y: Floats) -> Floats:
        return ridge_path(*standardised(self.X[rows], self.X[wanted]), Y, GRID_RIDGE)


class KernelRidge(Ridge):
    """Ridge regression with an RBF kernel of several widths, or with a `given` kernel."""

    def __init__(self, X: Floats, Y: Floats, *, given: bool = False) -> None:
        super().__init__(X, Y)
        self.given = given
        widths = (1.0,) if given else WIDTHS
        self.grid = [(width, penalty) for width in widths for penalty in GRID_KERNEL]

    def _centred(self, rows: Ints, wanted: Ints, Y: Floats) -> Floats:
        if self.given:
            K, held = self.X[np.ix_(rows, rows)], self.X[np.ix_(wanted, rows)]
            size = float(np.mean(np.diag(K))) or 1.0
            return kernel_ridge_path(K / size, held / size, Y, GRID_KERNEL)
        X, other = standardised(self.X[rows], self.X[wanted])
        near, far = _squared_distances(X, X), _squared_distances(other, X)
        found = [
            kernel_ridge_path(
                np.exp(-width / X.shape[1] * near),
                np.exp(-width / X.shape[1] * far),
                Y,
                GRID_KERNEL,
            )
            for width in WIDTHS
        ]
        return np.concatenate(found)


def ridge_path(X: Floats, wanted: Floats, Y: Floats, penalties: Sequence[float]) -> Floats:
    """Return (G, m, T) the predictions of ridge regression without intercept for each penalty.

    >>> X = np.array([[1.0], [2.0]])
    >>> ridge_path(X, np.array([[1.0]]), 2 * X, [5.0, 0.0]).ravel().tolist()  # 10/(5 + 5), 10/5
    [1.0, 2.0]
    """
    if X.shape[1] > len(X):
        return kernel_ridge_path(X @ X.T, wanted @ X.T, Y, penalties)
    values, vectors = eigh(X.T @ X, driver="evd", check_finite=False)
    return _shrunk(values, wanted @ vectors, vectors.T @ (X.T @ Y), penalties)


def kernel_ridge_path(K: Floats, wanted: Floats, Y: Floats, penalties: Sequence[float]) -> Floats:
    """Return (G, m, T) the predictions of kernel ridge regression for each penalty.

    `K` is (n, n), `wanted` (m, n) the similarities to the training samples, `Y` (n, T).
    """
    values, vectors = eigh(K, driver="evd", check_finite=False)
    return _shrunk(values, wanted @ vectors, vectors.T @ Y, penalties)


def _shrunk(values: Floats, left: Floats, right: Floats, penalties: Sequence[float]) -> Floats:
    # Directions in which there is nothing but rounding errors have no say.
    kept = values > len(values) * np.finfo(np.float64).eps * max(
        float(values.max(initial=0)), 1e-300
    )
    values, left, right = values[kept], left[:, kept], right[kept]
    return np.stack([left @ (right / (values + penalty)[:, None]) for penalty in penalties])


def _squared_distances(A: Floats, B: Floats) -> Floats:
    squares = (A**2).sum(1)[:, None] + (B**2).sum(1)[None]
    found: Floats = np.maximum(squares - 2 * A @ B.T, 0.0)
    return found
