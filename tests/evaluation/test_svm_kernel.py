"""A kernel instead of embeddings: the numbers of scikit-learn, and what is refused."""

import numpy as np
import pytest
import torch
from sklearn.metrics.pairwise import polynomial_kernel
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from augcl import InputError, evaluate
from augcl.evaluation import svm


def scikit_learn(K, y, seed, folds=3):
    accuracies = []
    for train, test in StratifiedKFold(folds, shuffle=True, random_state=seed).split(K, y):
        search = GridSearchCV(SVC(kernel="precomputed"), {"C": list(svm.GRID)}, cv=5)
        search.fit(K[np.ix_(train, train)], y[train])
        accuracies.append(search.score(K[np.ix_(test, train)], y[test]))
    return tuple(accuracies)


def kernel_and_classes(classes=2, n=120, dtype=np.float64):
    rng = np.random.default_rng(0)
    y = rng.integers(classes, size=n)
    X = rng.normal(size=(n, 6)) + 0.7 * rng.normal(size=(classes, 6))[y]
    K = polynomial_kernel(X, degree=2)
    scale = np.sqrt(np.diag(K))
    return (K / np.outer(scale, scale)).astype(dtype), y


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("classes", [2, 3])
def test_fold_accuracies_are_those_of_grid_search_on_the_kernel(classes, dtype):
    K, y = kernel_and_classes(classes, dtype=dtype)
    found = evaluate(K, y, kernel=True, repeats=2, folds=3, random_state=3)
    assert found.folds == (scikit_learn(K, y, 3), scikit_learn(K, y, 4))
    assert found.protocol == "tu-svm-10fold, but 3 folds"


def test_folds_are_those_of_embeddings_and_jobs_change_nothing():
    K, y = kernel_and_classes()
    found = evaluate(torch.from_numpy(K), y, kernel=True, repeats=1, jobs=2)
    assert found == evaluate(K, y, kernel=True, repeats=1)
    assert found.split_hash == evaluate(K[:, :3], y, repeats=1).split_hash


def changed(row, column, value):
    K, _ = kernel_and_classes()
    K[row, column] = value
    return K


@pytest.mark.parametrize(
    ("K", "message"),
    [
        (np.ones((120, 100)), r"shape \(120, 100\).*fit_transform"),
        (changed(3, 8, 7.5), "not symmetric: row 3, column 8 has 7.5, row 8, column 3"),
        (changed(3, 8, np.nan), "NaN or infinity, the first is row 3"),
    ],
)
def test_a_kernel_that_is_none_is_refused(K, message):
    _, y = kernel_and_classes()
    with pytest.raises(InputError, match=message):
        evaluate(K, y, kernel=True)


def test_protocols_of_embeddings_refuse_a_kernel():
    K, y = kernel_and_classes()
    with pytest.raises(InputError, match="takes embeddings, not a kernel: use tu-svm-10fold"):
        evaluate(K, y, kernel=True, protocol="linear-10-10-80")


@pytest.mark.parametrize("scale", [1e-6, 1, 1e6])
def test_a_kernel_is_symmetric_or_not_at_any_scale(scale):
    K, y = kernel_and_classes()
    largest = np.abs(K).max()
    for difference, fits in ((0.5e-4, True), (2e-4, False)):
        changed = K.copy()
        changed[3, 7] += difference * largest
        if fits:
            assert evaluate(scale * changed, y, kernel=True, repeats=1, folds=3).mean > 0.5
        else:
            with pytest.raises(InputError, match=r"not symmetric: row (3, column 7|7, column 3)"):
                evaluate(scale * changed, y, kernel=True, repeats=1, folds=3)
