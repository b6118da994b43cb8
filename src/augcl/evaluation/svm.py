"""Protocol `tu-svm-10fold`: an RBF support vector machine, C chosen inside the training part.

The numbers equal those of scikit-learn's ``GridSearchCV(SVC(), {"C": GRID}, cv=5)`` on every outer
fold, in less than half the time: the squared distances are computed once for all folds, and one
kernel matrix serves all values of C.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from augcl.checks import whole_number
from augcl.errors import InputError
from augcl.evaluation.divisions import fold_numbers, of_folds
from augcl.evaluation.inputs import Ints, Samples, check_two_classes
from augcl.evaluation.score import Score
from augcl.evaluation.scoring import BY_RANK, score_classes
from augcl.training.progress import one_more, progress_bar

if TYPE_CHECKING:
    from sklearn.svm import SVC

Floats = NDArray[np.float64]
Trial = Callable[[float], tuple[float, Ints]]
"""From C to the score and the classes on one held-out part."""

GRID = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1000.0)
MIDDLE = GRID.index(10.0)
INNER_FOLDS = 5
# With more samples than this, the N × N matrix (0.8 GB) is not worth its memory.
LARGEST_MATRIX = 10_000
CACHE = 400
"""Megabytes of the kernel that libsvm keeps: all of it for so many samples."""

HINT = "; is this a number to predict? task=regression"
"""Where there are nearly as many classes as samples."""


def tu_svm_10fold(samples: Samples) -> Score:
    """Cross-validate with stratified folds: 10 folds and 5 runs by default."""
    folds = 10 if samples.folds is None else samples.folds
    name = "tu-svm-10fold" if folds == 10 else f"tu-svm-10fold, but {folds} folds"
    if samples.own_folds is not None:
        splits, name = [samples.own_folds], "tu-svm-10fold, but own folds"
        folds = int(samples.own_folds.max()) + 1
    else:
        check_classes(samples.y, samples.names, folds)
        splits = [_folds(samples, folds, seed) for seed in samples.seeds(5)]
        name = name if samples.groups is None else f"{name}, by groups"
    X = np.ascontiguousarray(samples.X.cpu().numpy(), dtype=np.float64)
    title = "evaluate: tu-svm-10fold"
    with progress_bar(title, len(splits) * folds, show=samples.progress, stay=False) as report:
        machine = KernelSVM if samples.kernel else GridSVM
        svm = machine(X, samples.y, samples.scoring, samples.groups)
        table = cross_validate(
            svm,
            splits,
            jobs=samples.jobs,
            on_fold=one_more(report),
        )
    samples.tested.extend(svm.tested)
    test, inner = (tuple(tuple(fold[i] for fold in run) for run in table) for i in (0, 1))
    return Score(name, test, np.stack(splits), inner=inner, scoring=samples.scoring)


def _folds(samples: Samples, folds: int, seed: int) -> Ints:
    if samples.groups is None:
        return fold_of_sample(samples.y, folds, seed)
    return fold_numbers(len(samples.y), folds, seed, y=samples.y, groups=samples.groups)


def fold_of_sample(y: Ints, folds: int, seed: int) -> Ints:
    """Return (N,) the fold in which each sample is tested: stratified, shuffled by `seed`.

    >>> fold = fold_of_sample(np.repeat([0, 1], [10, 20]), folds=10, seed=0)
    >>> np.bincount(fold[:10]).tolist(), np.bincount(fold[10:]).tolist()
    ([1, 1, 1, 1, 1, 1, 1, 1, 1, 1], [2, 2, 2, 2, 2, 2, 2, 2, 2, 2])
    """

    from sklearn.model_selection import StratifiedKFold

    out = np.empty(len(y), dtype=np.int64)
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    for number, (_, test) in enumerate(splitter.split(y, y)):
        out[test] = number
    return out


def smallest_class(folds: int) -> int:
    """Return the smallest class size: one member per fold, and in training one per inner fold.

    >>> smallest_class(10), smallest_class(5), smallest_class(2)
    (10, 7, 10)
    """
    count = folds
    while count - -(-count // folds) < INNER_FOLDS:
        count += 1
    return count


def cross_validate(
    svm: GridSVM,
    splits: Sequence[Ints],
    *,
    jobs: int = 1,
    on_fold: Callable[[], None] = lambda: None,
) -> list[list[tuple[float, float]]]:
    """Return test and inner accuracy of every fold of every split, in order.

    Parameters
    ----------
    svm : GridSVM
        Holds the embeddings or the kernel, and the classes.
    splits : sequence of (N,) int64
        For each run the fold of each sample, as `fold_of_sample` returns it.
    jobs : int
        Folds computed at the same time (threads).
    on_fold : callable
        Called after each fold, from its thread.

    Examples
    --------
    >>> y = np.repeat([0, 1], 20)
    >>> X = np.random.default_rng(0).normal(size=(40, 2)) + 5.0 * y[:, None]
    >>> cross_validate(GridSVM(X, y), [fold_of_sample(y, folds=4, seed=0)])
    [[(1.0, 1.0), (1.0, 1.0), (1.0, 1.0), (1.0, 1.0)]]
    """

    import joblib

    def one(split: Ints, fold: int) -> tuple[float, float]:
        accuracies = svm.score(np.flatnonzero(split != fold), np.flatnonzero(split == fold))
        on_fold()
        return accuracies

    # libsvm releases the interpreter lock, so threads share the distances at no cost.
    work = [(split, fold) for split in splits for fold in range(int(split.max()) + 1)]
    results = iter(joblib.Parallel(jobs, prefer="threads")(joblib.delayed(one)(*w) for w in work))
    return [[next(results) for _ in range(int(split.max()) + 1)] for split in splits]


class GridSVM:
    """A support vector machine with a grid of C, on data with precomputed squared distances.

    `X` is (N, D) float64 and is not scaled; `y` (N,) are the classes. C is chosen by `scoring`;
    the inner folds keep `groups` (N,) together. `tested` collects the test rows of each fold and
    the classes predicted for them.
    """

    def __init__(
        self, X: Floats, y: Ints, scoring: str = "accuracy", groups: Ints | None = None
    ) -> None:
        self.X, self.y, self.scoring, self.groups = X, y, scoring, groups
        self.tested: list[tuple[Ints, Ints]] = []
        self.distances = squared_distances(X) if len(X) <= LARGEST_MATRIX else None
        self.largest_norm = float(np.einsum("nd,nd->n", X, X).max())

    def score(self, train: Ints, test: Ints) -> tuple[float, float]:
        """Choose C by the inner folds of `train`; return the accuracies on `test` and on these."""
        table = np.zeros((len(GRID), INNER_FOLDS))
        # One buffer for all kernels: new memory pages cost more than the numbers in them.
        scratch = np.empty(0 if self.distances is None else len(self.X) * len(train))
        inner = [(train[fit], train[held]) for fit, held in self._inner(train)]
        for fold, number, accuracy in self._trials(inner, scratch):
            row = table[number]
            # Even perfect remaining folds would not make this C the best one.
            if row.sum() + INNER_FOLDS - fold < table.sum(axis=1).max() - 1e-9:
                continue
            row[fold] = accuracy(GRID[number])[0]
        # The same mean as in GridSearchCV, so that ties are the same; the first C wins.
        means = np.average(np.nan_to_num(table), axis=1)
        best = int(np.argmax(means))
        score, predicted = self._prepare(train, test, scratch)(GRID[best])
        self.tested.append((test, predicted))
        return score, float(means[best])

    def _inner(self, train: Ints) -> Iterable[tuple[Ints, Ints]]:
        """Return the inner folds of a training part, as pairs of its positions."""

        from sklearn.model_selection import StratifiedKFold

        if self.groups is None:
            return list(StratifiedKFold(INNER_FOLDS).split(train, self.y[train]))
        groups = self.groups[train]
        folds = min(INNER_FOLDS, len(np.unique(groups)))
        fold = fold_numbers(len(train), folds, seed=0, y=self.y[train], groups=groups)
        return [(division.train, division.test) for division in of_folds(fold)]

    def _trials(
        self, inner: Sequence[tuple[Ints, Ints]], scratch: Floats
    ) -> Iterator[tuple[int, int, Trial]]:
        """Yield inner fold, number of C and the function to call, in the order of least work."""
        for fold, (fit, held) in enumerate(inner):
            trial = self._prepare(fit, held, scratch)  # one kernel for all C
            yield from ((fold, number, trial) for number in range(len(GRID)))

    def _prepare(self, train: Ints, test: Ints, scratch: Floats) -> Trial:
        """Return a function from C to score and classes on `test` after training on `train`."""

        from sklearn import config_context
        from sklearn.svm import SVC

        kind, X, held = self._inputs(train, test, scratch)
        gamma = _gamma(X) if kind == "rbf" else 0.0
        y, everyone = self.y[train], np.arange(len(train))

        def accuracy(C: float) -> tuple[float, Ints]:
            if self.scoring not in BY_RANK:
                predicted = libsvm_classes(kind, X, y, everyone, held, C, gamma)
                return score_classes(self.scoring, self.y[test], predicted, None), predicted
            with config_context(assume_finite=True, skip_parameter_validation=True):
                model = SVC(C=C, kernel=kind).fit(X, y)
                predicted, values = model.predict(held), self._values(model, held)
            return score_classes(self.scoring, self.y[test], predicted, values), predicted

        return accuracy

    def _values(self, model: SVC, held: Floats) -> Floats:
        """Return (n, C) a number for each class, larger for the more probable one."""
        found = model.decision_function(held)
        found = np.stack([-found, found], axis=1) if found.ndim == 1 else found
        values = np.full((len(held), int(self.y.max()) + 1), -np.inf)
        values[:, model.classes_] = found
        values[np.isinf(values)] = found.min(initial=0) - 1
        return values

    def _inputs(self, train: Ints, test: Ints, scratch: Floats) -> tuple[str, Floats, Floats]:
        """Return the kind of kernel, and the inputs for training and test."""
        X = self.X[train]
        gamma = _gamma(X)
        # Far from the origin, distances from norms are mostly rounding error: let libsvm compute.
        rounding = gamma * self.largest_norm * np.finfo(np.float64).eps
        if self.distances is not None and rounding < 1e-10:
            rows = np.concatenate([train, test])
            kernel = scratch[: len(rows) * len(train)].reshape(len(rows), len(train))
            for i in range(0, len(rows), 8):
                some = kernel[i : i + 8]
                np.take(self.distances[rows[i : i + 8]], train, axis=1, out=some, mode="clip")
                some *= -gamma
                np.exp(some, out=some)
            return "precomputed", kernel[: len(train)], kernel[len(train) :]
        return "rbf", X, self.X[test]


class KernelSVM(GridSVM):
    """`GridSVM` for (N, N) similarities of any kernel instead of (N, D) embeddings."""

    def __init__(
        self, K: Floats, y: Ints, scoring: str = "accuracy", groups: Ints | None = None
    ) -> None:
        self.X, self.y, self.scoring, self.groups = K, y, scoring, groups
        self.tested = []
        self.distances = None

    def _trials(
        self, inner: Sequence[tuple[Ints, Ints]], scratch: Floats
    ) -> Iterator[tuple[int, int, Trial]]:
        # No kernel is copied for a fold, so all folds of one C come first: one that wins most
        # often. Then a C that cannot win is known after fewer folds.
        trials = [self._prepare(fit, held, scratch) for fit, held in inner]
        for number in sorted(range(len(GRID)), key=lambda i: abs(i - MIDDLE)):
            yield from ((fold, number, trial) for fold, trial in enumerate(trials))

    def _prepare(self, train: Ints, test: Ints, scratch: Floats) -> Trial:
        if self.scoring in BY_RANK:
            return super()._prepare(train, test, scratch)
        held = self.X[test]

        def accuracy(C: float) -> tuple[float, Ints]:
            predicted = libsvm_classes("precomputed", self.X, self.y, train, held, C)
            return score_classes(self.scoring, self.y[test], predicted, None), predicted

        return accuracy

    def _inputs(self, train: Ints, test: Ints, scratch: Floats) -> tuple[str, Floats, Floats]:
        return "precomputed", self.X[np.ix_(train, train)], self.X[np.ix_(test, train)]


def libsvm_classes(
    kind: str, X: Floats, y: Ints, rows: Ints, held: Floats, C: float, gamma: float = 0.0
) -> Ints:
    """Return the classes of `held` by a machine trained on some `rows` of `X`, as `SVC` does.

    For a kernel ("precomputed") `X` is (N, N) and `held` (n, N), of all samples: nothing is copied.
    `SVC` itself checks and copies its inputs at every call, which takes longer than libsvm does on
    a few hundred samples, and it cannot predict from a part of a kernel.
    """
    try:
        return _classes_directly(kind, X, y, rows, held, C, gamma)
    except (ImportError, AttributeError, TypeError):  # private: another version may differ
        from sklearn.svm import SVC

        some = X[np.ix_(rows, rows)] if kind == "precomputed" else X[rows]
        held = held[:, rows] if kind == "precomputed" else held
        model = SVC(C=C, kernel=kind, gamma=gamma or "scale").fit(some, y[rows])
        return np.asarray(model.predict(held), dtype=np.int64)


def _classes_directly(
    kind: str, X: Floats, y: Ints, rows: Ints, held: Floats, C: float, gamma: float
) -> Ints:
    """Call what `SVC` calls."""
    from sklearn.svm import _libsvm

    classes, codes = np.unique(y[rows], return_inverse=True)  # libsvm returns places among these
    targets = np.zeros(len(X))
    targets[rows] = codes
    weights = np.zeros(len(X))
    weights[rows] = 1.0  # libsvm leaves out samples without weight before it begins
    _libsvm.set_verbosity_wrap(0)
    support, vectors, counts, coefficients, intercept, *sigmoid, _, _ = _libsvm.fit(
        X,
        targets,
        kernel=kind,
        C=C,
        gamma=gamma,
        sample_weight=weights,
        cache_size=CACHE,
    )
    found = _libsvm.predict(
        held,
        rows[support].astype(np.int32),  # libsvm numbers the samples that are left
        vectors,
        counts,
        coefficients,
        intercept,
        *sigmoid,
        kernel=kind,
        gamma=gamma,
    )
    return np.asarray(classes[found.astype(np.int64)], dtype=np.int64)


def _gamma(X: Floats) -> float:
    """Return the width of the kernel that scikit-learn calls "scale"."""
    variance = float(X.var())
    return 1.0 / (X.shape[1] * variance) if variance != 0 else 1.0


def squared_distances(X: Floats) -> Floats:
    """Return the (N, N) squared distances of points (N, D), with the same bits as in libsvm.

    libsvm calls BLAS for one dot product per pair. A matrix product sums in another order; a stack
    of vector products does not, so that the support vector machine takes exactly the same steps.

    >>> squared_distances(np.array([[0.0, 0.0], [3.0, 4.0]])).tolist()
    [[0.0, 25.0], [25.0, 0.0]]
    """
    N = len(X)
    out = np.empty((N, N))
    norms = (X[:, None, :] @ X[:, :, None])[:, 0, 0]
    for start in range(0, N, 32):
        block = slice(start, start + 32)
        dots = (X[block, None, None, :] @ X[None, start:, :, None])[:, :, 0, 0]
        part = norms[block, None] + norms[None, start:] - 2 * dots
        out[block, start:] = part
        out[start:, block] = part.T
    return out


def check_classes(y: Ints, classes: Sequence[Any], folds: int) -> None:
    """Raise `InputError` unless there are at least two classes, each large enough for `folds`."""
    whole_number("folds", folds, least=2)
    check_two_classes(classes)
    counts = np.bincount(y, minlength=len(classes))
    least = int(counts.argmin())
    count, needed = int(counts[least]), smallest_class(folds)
    if count >= needed:
        return
    fewer = [k for k in range(folds - 1, 1, -1) if smallest_class(k) <= count]
    cure = f"use folds={fewer[0]}" if fewer else "merge it with another class or drop it"
    many = len(classes) > len(y) / 3  # most likely a number to predict
    hint = HINT if many and not isinstance(classes[least], str) else ""
    raise InputError(
        f"class {classes[least]!r} has only {count} member{'s' * (count > 1)}, "
        f"but {folds} folds need {needed}: {cure}{hint}"
    )
