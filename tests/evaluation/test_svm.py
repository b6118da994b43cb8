"""The fast protocol gives the very numbers of scikit-learn."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from augcl.evaluation import evaluate, svm


def scikit_learn(Z, y, seed, folds=3):
    """The protocol as everybody writes it."""
    accuracies = []
    for train, test in StratifiedKFold(folds, shuffle=True, random_state=seed).split(Z, y):
        search = GridSearchCV(SVC(), {"C": list(svm.GRID)}, cv=5, scoring="accuracy")
        accuracies.append(search.fit(Z[train], y[train]).score(Z[test], y[test]))
    return tuple(accuracies)


def noisy_classes(rng, n, d, classes, scale=1.0):
    y = rng.integers(classes, size=n)
    return scale * (rng.normal(size=(n, d)) + 0.7 * rng.normal(size=(classes, d))[y]), y


def pooled(rng):
    """Like sum-pooled embeddings: non-negative, sizes that differ a hundredfold."""
    Z, y = noisy_classes(rng, 160, 12, 2)
    return (np.abs(Z) * rng.lognormal(1, 1.5, (160, 1))).astype(np.float32), y


CASES = {
    "two classes": lambda rng: noisy_classes(rng, 150, 6, 2),
    "three classes": lambda rng: noisy_classes(rng, 150, 5, 3),
    "wide": lambda rng: noisy_classes(rng, 100, 96, 2),
    "huge": lambda rng: noisy_classes(rng, 120, 4, 2, scale=1e4),
    "float32 sum-pooled": pooled,
    "far from the origin": lambda rng: (lambda Z, y: (Z + 1e7, y))(*noisy_classes(rng, 100, 3, 2)),
    "a constant column": lambda rng: (
        lambda Z, y: (np.hstack([Z, np.full((len(Z), 2), 300.0)]), y)
    )(*noisy_classes(rng, 120, 3, 2)),
    "all constant": lambda rng: (np.full((60, 3), 2.5), rng.integers(2, size=60)),
    "many equal rows": lambda rng: (
        rng.integers(2, size=(120, 3)).astype(float),
        rng.integers(2, size=120),
    ),
    "string classes": lambda rng: (lambda Z, y: (Z, np.array(["b", "a", "c"])[y]))(
        *noisy_classes(rng, 120, 4, 3)
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_fold_accuracies_are_those_of_grid_search(name):
    Z, y = CASES[name](np.random.default_rng(0))
    assert evaluate(Z, y, repeats=1, folds=3, random_state=3).folds[0] == scikit_learn(Z, y, seed=3)


def test_runs_use_consecutive_seeds():
    Z, y = noisy_classes(np.random.default_rng(1), 80, 4, 2)
    score = evaluate(Z, y, repeats=2, folds=4, random_state=7)
    assert score.folds == (scikit_learn(Z, y, 7, folds=4), scikit_learn(Z, y, 8, folds=4))


def test_too_many_samples_for_a_matrix_changes_nothing(monkeypatch):
    Z, y = noisy_classes(np.random.default_rng(2), 100, 4, 2)
    fast = evaluate(Z, y, repeats=1)
    monkeypatch.setattr(svm, "LARGEST_MATRIX", 50)
    assert evaluate(Z, y, repeats=1) == fast


def test_jobs_change_nothing():
    Z, y = noisy_classes(np.random.default_rng(3), 120, 4, 3)
    assert evaluate(Z, y, repeats=2, folds=4, jobs=2) == evaluate(Z, y, repeats=2, folds=4, jobs=1)


def test_machines_take_the_same_steps_as_libsvm():
    Z, y = noisy_classes(np.random.default_rng(4), 300, 20, 2)
    plain = SVC(C=10.0).fit(Z, y)
    kernel = np.exp(-1 / (20 * Z.var()) * svm.squared_distances(Z))
    ours = SVC(C=10.0, kernel="precomputed").fit(kernel, y)
    assert np.array_equal(plain.n_iter_, ours.n_iter_)
    assert np.array_equal(plain.support_, ours.support_)


@pytest.mark.parametrize("kind", ["rbf", "precomputed"])
def test_a_private_function_that_differs_in_another_version_changes_nothing(kind, monkeypatch):
    Z, y = noisy_classes(np.random.default_rng(6), 120, 4, 3)
    rows, gamma = np.arange(0, 90), 0.3
    X = np.exp(-gamma * svm.squared_distances(Z)) if kind == "precomputed" else Z
    found = svm._classes_directly(kind, X, y, rows, X[90:], 2.0, gamma)
    monkeypatch.setattr(svm, "_classes_directly", lambda: None)  # takes other arguments
    assert np.array_equal(svm.libsvm_classes(kind, X, y, rows, X[90:], 2.0, gamma), found)


def test_distances_are_right_across_blocks():
    X = np.random.default_rng(5).normal(size=(600, 3))
    direct = ((X[:, None] - X[None]) ** 2).sum(-1)
    np.testing.assert_allclose(svm.squared_distances(X), direct, atol=1e-12)


@pytest.mark.parametrize("kind", ["rbf", "precomputed"])
def test_classes_keep_their_numbers_where_a_training_part_lacks_one(kind):
    Z, y = noisy_classes(np.random.default_rng(7), 150, 4, 3)
    rows, gamma = np.flatnonzero(y != 1), 0.3
    X = np.exp(-gamma * svm.squared_distances(Z)) if kind == "precomputed" else Z
    some = X[np.ix_(rows, rows)] if kind == "precomputed" else X[rows]
    held = X[:, rows] if kind == "precomputed" else X
    expected = SVC(C=2.0, kernel=kind, gamma=gamma).fit(some, y[rows]).predict(held)
    found = svm._classes_directly(kind, X, y, rows, X, 2.0, gamma)
    assert set(found) == {0, 2}
    assert np.array_equal(found, expected)
