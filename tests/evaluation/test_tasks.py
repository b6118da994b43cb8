"""Tasks, scorings, groups and splits against scikit-learn on the same folds."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.kernel_ridge import KernelRidge as SklearnKernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.linear_model import Ridge as SklearnRidge
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    f1_score,
    mean_absolute_error,
    r2_score,
    roc_auc_score,
    root_mean_squared_error,
)
from sklearn.model_selection import KFold, StratifiedKFold
from threadpoolctl import threadpool_info, threadpool_limits

from augcl import InputError, evaluate
from augcl.data import GraphSet
from augcl.evaluation import penalised
from augcl.evaluation.divisions import fold_numbers, group_numbers, own_split
from augcl.evaluation.inputs import task_of_labels
from augcl.evaluation.penalised import (
    GRID_C,
    GRID_RIDGE,
    KernelRidge,
    in_row_space,
    kernel_ridge_path,
    logistic_columns,
    ridge_path,
    softmax_regression,
    standardised,
)
from augcl.evaluation.scoring import macro_f1, micro_f1, score_classes, score_columns

NUMBERS = {"r2": r2_score, "mae": mean_absolute_error, "rmse": root_mean_squared_error}


def blobs(n=120, classes=3, noise=1.5, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.normal(size=(n, 5)) * noise + 2 * np.eye(5)[y], y


def folds_of(score, run=0):
    split = score.splits[run]
    return [
        (np.flatnonzero(split != k), np.flatnonzero(split == k)) for k in range(split.max() + 1)
    ]


@pytest.mark.parametrize("scoring", ["r2", "mae", "rmse"])
def test_ridge_and_its_floor_equal_those_of_scikit_learn(scoring):
    Z, y = load_diabetes(return_X_y=True)
    score = evaluate(Z, y / 7, scoring=scoring, task="regression", repeats=1)
    measure, sign = NUMBERS[scoring], 1 if scoring == "r2" else -1
    expected, floors = [], []
    for train, test in folds_of(score):
        fold = fold_numbers(len(train), 5, seed=0)
        table = []
        for alpha in GRID_RIDGE:
            inner = []
            for k in range(5):
                a, b = train[fold != k], train[fold == k]
                X, held = standardised(Z[a], Z[b])
                found = SklearnRidge(alpha=alpha).fit(X, y[a] / 7).predict(held)
                inner.append(measure(y[b] / 7, found))
            table.append(sign * np.mean(inner))
        X, held = standardised(Z[train], Z[test])
        best = SklearnRidge(alpha=GRID_RIDGE[int(np.argmax(table))]).fit(X, y[train] / 7)
        expected.append(measure(y[test] / 7, best.predict(held)))
        floors.append(measure(y[test] / 7, DummyRegressor().fit(X, y[train]).predict(held) / 7))
    assert score.protocol == "ridge-10fold"
    assert score.scoring == scoring
    np.testing.assert_allclose(score.folds[0], expected, rtol=1e-6)
    assert score.floor == pytest.approx(np.mean(floors))


@pytest.mark.parametrize("shape", [(30, 4), (10, 25)])
def test_ridge_paths_equal_scikit_learn(shape):
    rng = np.random.default_rng(0)
    X, wanted, Y = (
        rng.normal(size=shape),
        rng.normal(size=(7, shape[1])),
        rng.normal(size=(shape[0], 2)),
    )
    for alpha, found in zip((10.0, 0.1), ridge_path(X, wanted, Y, (10.0, 0.1)), strict=True):
        model = SklearnRidge(alpha=alpha, fit_intercept=False).fit(X, Y)
        np.testing.assert_allclose(found, model.predict(wanted), atol=1e-8)
    K, held = (
        np.exp(-0.1 * ((X[:, None] - X) ** 2).sum(-1)),
        np.exp(-0.1 * ((wanted[:, None] - X) ** 2).sum(-1)),
    )
    for alpha, found in zip((10.0, 0.1), kernel_ridge_path(K, held, Y, (10.0, 0.1)), strict=True):
        model = SklearnKernelRidge(alpha=alpha, kernel="rbf", gamma=0.1).fit(X, Y)
        np.testing.assert_allclose(found, model.predict(wanted), atol=1e-8)


def test_kernel_ridge_follows_a_curve_that_ridge_cannot():
    x = np.linspace(-3, 3, 80)[:, None]
    y = np.sin(2 * x[:, 0])
    curve = evaluate(x, y, protocol="kernel-ridge-10fold", repeats=1)
    assert curve.mean > 0.99 > evaluate(x, y, repeats=1).mean
    K = np.exp(-((x - x.T) ** 2))
    assert evaluate(K, y, kernel=True, repeats=1).protocol == "kernel-ridge-10fold"
    assert evaluate(K, y, kernel=True, repeats=1).mean > 0.99
    assert len(KernelRidge(K, y[:, None], given=True).grid) == 7


@pytest.mark.parametrize(
    "scoring", ["accuracy", "balanced_accuracy", "f1_macro", "roc_auc", "average_precision"]
)
@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
def test_scores_of_classes_equal_those_of_scikit_learn(load, scoring):
    X, y = load(return_X_y=True)
    model = LogisticRegression().fit(standardised(X[::3], X)[0], y[::3])
    held = standardised(X[::3], X)[1]
    predicted, values = model.predict(held), model.predict_proba(held)
    one_hot = np.eye(values.shape[1])[y]
    several = values.shape[1] > 2
    expected = {
        "accuracy": lambda: np.mean(predicted == y),
        "balanced_accuracy": lambda: balanced_accuracy_score(y, predicted),
        "f1_macro": lambda: f1_score(y, predicted, average="macro"),
        "roc_auc": lambda: roc_auc_score(y, values if several else values[:, 1], multi_class="ovr"),
        "average_precision": lambda: (
            average_precision_score(one_hot, values)
            if several
            else average_precision_score(y, values[:, 1])
        ),
    }[scoring]()
    assert score_classes(scoring, y, predicted, values) == pytest.approx(expected)


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc"])
def test_logistic_folds_equal_grid_search_of_scikit_learn(scoring):
    Z, y = blobs(classes=2)
    score = evaluate(Z, y, protocol="logistic-10fold", scoring=scoring, folds=4, repeats=1)
    for (train, test), found in zip(folds_of(score), score.folds[0], strict=True):
        table = []
        for C in GRID_C:
            inner = []
            for a, b in StratifiedKFold(5, shuffle=True, random_state=0).split(train, y[train]):
                X, held = standardised(Z[train[a]], Z[train[b]])
                values = LogisticRegression(C=C, tol=1e-6).fit(X, y[train[a]]).predict_proba(held)
                inner.append(score_classes(scoring, y[train[b]], values.argmax(1), values))
            table.append(np.mean(inner))
        X, held = standardised(Z[train], Z[test])
        values = (
            LogisticRegression(C=GRID_C[int(np.argmax(table))]).fit(X, y[train]).predict_proba(held)
        )
        assert found == pytest.approx(
            score_classes(scoring, y[test], values.argmax(1), values), abs=0.02
        )
    floor = DummyClassifier().fit(Z, y).predict_proba(Z)
    assert score.floor == pytest.approx(score_classes(scoring, y, floor.argmax(1), floor), abs=0.05)


def test_joint_logistic_regressions_equal_one_by_one_and_leave_out_blanks():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 6))
    Y = (X @ rng.normal(size=(6, 3)) + rng.normal(size=(80, 3)) > 0).astype(float)
    Y[rng.random(Y.shape) < 0.2] = np.nan
    C = np.array([0.1, 1.0, 10.0])
    W = logistic_columns(X, Y, C, tolerance=1e-8)
    for t in range(3):
        known = ~np.isnan(Y[:, t])
        one = LogisticRegression(C=C[t], tol=1e-8, max_iter=1000).fit(X[known], Y[known, t])
        np.testing.assert_allclose(W[:-1, t], one.coef_[0], atol=1e-3)
        np.testing.assert_allclose(W[-1, t], one.intercept_[0], atol=1e-3)


def test_softmax_regression_equals_that_of_scikit_learn():
    X, y = load_wine(return_X_y=True)
    X, _ = in_row_space(*standardised((X - X.mean(0)) / X.std(0), X[:1]))
    W = None
    for C in GRID_C:
        W = softmax_regression(X, y, C, start=W, tolerance=1e-8)
        expected = LogisticRegression(C=C, tol=1e-8, max_iter=5000).fit(X, y)
        np.testing.assert_allclose(
            softmax(X @ W[:-1] + W[-1], axis=1), expected.predict_proba(X), atol=1e-4
        )


def test_a_split_chooses_the_penalty_on_its_validation_part_alone():
    Z, y = blobs(classes=3)
    words = np.array(["train", "train", "val", "test"])[np.arange(len(y)) % 4]
    train, val, test = (np.flatnonzero(words == word) for word in ("train", "val", "test"))
    score = evaluate(Z, y, splits=words)
    X, held = standardised(Z[train], Z)
    models = [LogisticRegression(C=C, tol=1e-6, max_iter=5000).fit(X, y[train]) for C in GRID_C]
    best = max(models, key=lambda model: model.score(held[val], y[val]))
    one = 1.01 / len(test)  # a sample at the border
    assert score.inner[0][0] == pytest.approx(best.score(held[val], y[val]), abs=one)
    assert score.mean == pytest.approx(best.score(held[test], y[test]), abs=one)


def test_wide_embeddings_predict_the_same_in_their_row_space():
    rng = np.random.default_rng(0)
    X, other, y = rng.normal(size=(12, 40)), rng.normal(size=(5, 40)), np.arange(12) % 3
    X, other = standardised(X, other)
    small, small_other = in_row_space(X, other)
    assert small.shape[1] <= 12
    a = LogisticRegression(tol=1e-8).fit(X, y).predict_proba(other)
    b = LogisticRegression(tol=1e-8).fit(small, y).predict_proba(small_other)
    np.testing.assert_allclose(a, b, atol=1e-4)


def test_several_labels_are_the_mean_over_columns_without_blanks():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(150, 4))
    Y = (Z[:, :3] + rng.normal(size=(150, 3)) > 0).astype(float)
    Y[rng.random(Y.shape) < 0.3] = np.nan
    score = evaluate(Z, Y, repeats=1, folds=5)
    assert (score.protocol, score.scoring) == ("logistic-10fold, but 5 folds", "roc_auc")
    assert 0.7 < score.mean < 0.95
    assert score.floor == 0.5
    columns = score_columns("roc_auc", Y, Z[:, :3] > 0, Z[:, :3])
    for t in range(3):
        known = ~np.isnan(Y[:, t])
        assert columns[t] == pytest.approx(roc_auc_score(Y[known, t], Z[known, t]))


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 30), st.integers(1, 5), st.integers(0, 100))
def test_f1_of_matrices_equal_those_of_scikit_learn(n, T, seed):
    rng = np.random.default_rng(seed)
    Y, found = rng.integers(2, size=(2, n, T))
    one = {"zero_division": 0.0}
    if T == 1:
        Y, found = (np.concatenate([m, 0 * m], axis=1) for m in (Y, found))
    assert micro_f1(Y, found) == pytest.approx(f1_score(Y, found, average="micro", **one))
    assert macro_f1(Y, found) == pytest.approx(f1_score(Y, found, average="macro", **one))


@settings(max_examples=30, deadline=None)
@given(st.integers(10, 60), st.integers(2, 5), st.integers(0, 5), st.booleans())
def test_groups_are_never_in_two_folds(n, folds, seed, stratified):
    rng = np.random.default_rng(seed)
    groups = np.concatenate([np.arange(folds), rng.integers(12, size=n - folds)])
    y = rng.integers(2, size=n) if stratified else None
    fold = fold_numbers(n, folds, seed, y=y, groups=groups)
    assert fold.min() >= 0
    assert fold.max() < folds
    assert all(len(np.unique(fold[groups == g])) == 1 for g in np.unique(groups))


@pytest.mark.parametrize("protocol", ["tu-svm-10fold", "logistic-10fold"])
def test_groups_reach_the_protocol(protocol):
    Z, y = blobs()
    groups = [f"patient {i // 4}" for i in range(len(y))]
    score = evaluate(Z, y, groups=groups, protocol=protocol, repeats=1, folds=5)
    assert score.protocol == f"{protocol}, but 5 folds, by groups"
    codes = group_numbers(groups, len(y))
    assert all(len(np.unique(score.splits[0][codes == g])) == 1 for g in np.unique(codes))


def test_the_majority_is_shown_under_the_same_folds():
    Z, _ = blobs()
    y = np.repeat([0, 1], [100, 20])
    for protocol in ("tu-svm-10fold", "linear-10-10-80", "logistic-10fold"):
        score = evaluate(Z, y, protocol=protocol, repeats=1)
        assert score.floor == pytest.approx(100 / 120, abs=0.05)
    assert evaluate(Z, y, scoring="balanced_accuracy", repeats=1).floor == 0.5


def test_a_split_of_ones_own():
    Z, y = blobs()
    words = np.array(["train", "train", "val", "test"])[np.arange(120) % 4]
    score = evaluate(Z, y, splits=words)
    assert score.protocol == "public-split"
    assert len(score.runs) == 1
    assert (score.splits[0][words == "test"] == 2).all()
    score = evaluate(Z, y, splits=np.arange(120) // 3 % 4)
    assert score.protocol == "tu-svm-10fold, but own folds"
    assert len(score.folds[0]) == 4
    score = evaluate(Z, y + 0.5, splits=np.arange(120) % 3)
    assert score.protocol == "ridge-10fold, but own folds"
    assert evaluate(Z, Z[:, 0], splits=words).scoring == "r2"


@settings(max_examples=20, deadline=None)
@given(st.lists(st.sampled_from(["train", "Val", "test", None]), min_size=3, max_size=9))
def test_own_parts_cover_what_they_name(words):
    if "train" not in words or "test" not in words:
        with pytest.raises(InputError, match="no sample in its part"):
            own_split(words, len(words))
    else:
        parts = own_split(words, len(words))
        assert parts.val[0].tolist() == [word == "Val" for word in words]


def test_task_by_type_and_shape():
    assert task_of_labels(torch.tensor([0, 1])) == "classification"
    assert task_of_labels(np.array([[0, 1], [1, 0]])) == "multilabel"
    assert task_of_labels(np.array([0.0, np.inf])) == "regression"  # refused there
    assert task_of_labels(torch.tensor([[0.5, 1.0]])) == "regression"
    pairs, graph = torch.zeros(2, 0).long(), torch.arange(40)
    y = torch.arange(40).float()
    graphs = GraphSet.from_arrays(pairs=pairs, graph_of_node=graph, num_graphs=40, y=y)
    Z = y.numpy()[:, None]
    assert evaluate(Z, graphs, repeats=1).protocol == "ridge-10fold"
    with pytest.raises(InputError, match="is this a number to predict"):
        evaluate(Z, y.long().numpy())
    assert evaluate(Z, y.long().numpy(), task="regression", repeats=1).mean > 0.99


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scoring": "r2"}, "scoring r2 is not for classification"),
        ({"scoring": "acuracy"}, "did you mean accuracy"),
        ({"task": "regresion"}, "did you mean regression"),
        ({"protocol": "ridge-10fold"}, "ridge-10fold is not for classification"),
        ({"protocol": "public-split"}, "needs the splits"),
        ({"groups": [0] * 120}, "all samples are in one group"),
        ({"groups": [0, 1]}, "give one group for each of 120"),
        ({"groups": range(120), "protocol": "linear-10-10-80"}, "does not keep groups together"),
        ({"splits": ["train"] * 120}, "no sample in its part test"),
        ({"splits": ["left"] * 120}, "'left'"),
        ({"task": "multilabel"}, "row 2, column 0 has 2"),
    ],
)
def test_mistakes_are_told(change, message):
    Z, y = blobs()
    with pytest.raises(InputError, match=message):
        evaluate(Z, y, **change)


def test_folds_of_numbers_are_those_of_kfold():
    fold = fold_numbers(20, 4, seed=3)
    for k, (_, test) in enumerate(KFold(4, shuffle=True, random_state=3).split(np.zeros(20))):
        assert (fold[test] == k).all()


def test_regressions_use_one_blas_thread_and_leave_the_number_of_the_user(monkeypatch):
    def blas():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    seen = []
    real = penalised.ridge_path
    monkeypatch.setattr(penalised, "ridge_path", lambda *a: seen.append(blas()) or real(*a))
    Z = np.random.default_rng(0).normal(size=(30, 2))
    with threadpool_limits(2, user_api="blas"):
        evaluate(Z, Z[:, 0] + 0.5, repeats=1, folds=2)
        assert blas() == {2}
    assert seen
    assert all(counts == {1} for counts in seen)
