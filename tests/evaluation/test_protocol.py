"""`evaluate`: what it takes, what it refuses, what it gives back."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

from augcl.data import components
from augcl.errors import InputError
from augcl.evaluation import Score, evaluate
from augcl.evaluation.clustering import clustering
from augcl.evaluation.penalised import GRID_C
from augcl.evaluation.splits import random_parts


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    return rng.normal(size=(40, 3)) + y[:, None], y


def test_score_is_mean_and_population_deviation_of_the_runs(data):
    score = evaluate(*data, repeats=3)
    runs = [np.mean(run) for run in score.folds]
    assert score.runs == pytest.approx(runs)
    assert score.mean == pytest.approx(np.mean(runs))
    assert score.std == pytest.approx(np.std(runs, ddof=0))
    assert np.shape(score.folds) == (3, 10)


def test_score_prints_as_percent():
    score = Score("tu-svm-10fold", ((0.87,), (0.89,)), np.zeros((2, 4), dtype=np.int64))
    assert str(score) == "88.00 ± 1.00 % (2 runs, tu-svm-10fold)"


def test_tensors_lists_and_arrays_are_the_same_data(data):
    Z, y = data
    expected = evaluate(Z, y, repeats=1)
    assert evaluate(torch.tensor(Z, requires_grad=True), torch.tensor(y), repeats=1) == expected
    assert evaluate(Z.tolist(), y.tolist(), repeats=1) == expected
    assert evaluate(Z, np.array(["no", "yes"])[y], repeats=1) == expected
    assert evaluate(Z, y[:, None], repeats=1) == expected


def test_sparse_half_and_whole_numbers_are_embeddings_too(data):
    Z, y = np.round(4 * data[0]), data[1]
    expected = evaluate(Z, y, repeats=1)
    for same in (
        sparse.csr_matrix(Z),
        torch.tensor(Z).to_sparse_coo(),
        Z.astype(np.float16),
        Z.astype(np.int8),
        torch.tensor(Z).int(),
    ):
        assert evaluate(same, y, repeats=1) == expected


def test_a_set_of_graphs_stands_for_its_labels(molecules):
    Z = np.random.default_rng(0).normal(size=(len(molecules), 3))
    score = evaluate(Z, molecules, repeats=1, folds=4)
    assert score == evaluate(Z, molecules.y, repeats=1, folds=4)
    assert score.protocol == "tu-svm-10fold, but 4 folds"


def test_minus_one_is_a_class_of_graphs(data):
    Z, y = data
    assert evaluate(Z, 2 * y - 1, repeats=1) == evaluate(Z, y, repeats=1)


@pytest.mark.parametrize(
    "how",
    [
        {"folds": 4},
        {"kernel": True, "folds": 4},
        {"protocol": "logistic-10fold", "folds": 2},
        {"protocol": "linear-10-10-80"},
        {"protocol": "logistic-10-10-80"},
        {"protocol": "grace-liblinear"},
        {"splits": np.arange(120) % 3},
        {"splits": np.array(["train", "val", "test"])[np.arange(120) % 3]},
        {"scoring": "roc_auc", "groups": np.arange(120) // 2, "folds": 2},
    ],
    ids=[
        "svm",
        "kernel",
        "logistic",
        "linear",
        "logistic nodes",
        "liblinear",
        "own folds",
        "own split",
        "groups",
    ],
)
def test_graphs_without_a_class_are_left_out_by_every_protocol(how):
    graphs = components(60, classes=2)
    known = np.arange(120) % 7 != 0
    part = replace(graphs, y=torch.where(torch.from_numpy(known), graphs.y, -1))
    Z = np.random.default_rng(0).normal(size=(120, 3)) + graphs.y.numpy()[:, None]
    Z = Z @ Z.T if how.get("kernel") else Z
    score = evaluate(Z, part, repeats=1, **how)
    rows = Z[known][:, known] if how.get("kernel") else Z[known]
    of_rows = {k: v[known] if np.ndim(v) else v for k, v in how.items()}
    expected = evaluate(rows, part.select(torch.from_numpy(known)), repeats=1, **of_rows)
    assert (score.folds, score.floor) == (expected.folds, expected.floor)
    assert (score.splits[:, ~known] == -1).all()
    assert (score.splits[:, known] == expected.splits).all()


def test_clusters_are_compared_without_graphs_that_have_no_class():
    graphs = components(20, classes=2)
    Z = 9.0 * graphs.y.numpy()[:, None] + np.random.default_rng(0).normal(size=(40, 2))
    part = replace(graphs, y=torch.where(torch.arange(40) % 5 == 0, -1, graphs.y))
    assert clustering(Z, part, repeats=1).accuracy == (1.0,)


def test_split_hash_names_the_folds(data):
    Z, y = data
    score = evaluate(Z, y, repeats=1)
    assert score.split_hash == evaluate(Z + 1, y, repeats=1).split_hash
    assert score.split_hash != evaluate(Z, y, repeats=1, random_state=1).split_hash
    assert score.split_hash != evaluate(Z, y, repeats=1, folds=5).split_hash
    # Written out: a change of it breaks comparison with stored results.
    assert score.split_hash.startswith("78ce52a823aa")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": None}, "evaluate needs labels"),
        ({"y": np.zeros(40)}, "at least two classes"),
        ({"y": np.arange(39)}, "40 embeddings but 39 labels"),
        ({"y": np.zeros((40, 2))}, "no column has two different values"),
        ({"y": np.full(40, np.nan)}, "row 0 has none"),
        ({"y": np.arange(40) < 8}, "class True has only 8 .* use folds=8"),
        ({"y": np.repeat(["big", "rare"], [37, 3])}, "class 'rare' has only 3 .* merge it"),
        ({"Z": [["a"]] * 40}, "not a matrix of numbers"),
        ({"Z": [[1.0], [1.0, 2.0]] * 20}, "not a matrix of numbers"),
        ({"Z": np.zeros(40)}, r"shape \(40,\)"),
        ({"Z": np.full((40, 2), np.nan)}, "40 of 40 embeddings contain NaN"),
        ({"protocol": "tu-svm"}, "did you mean tu-svm-10fold"),
        ({"repeats": 0}, "repeats is 0: .* 1 or more"),
        ({"repeats": 1.5}, "repeats is 1.5: it must be a whole number"),
        ({"folds": 1}, "folds is 1: .* 2 or more"),
        ({"folds": 2.5}, "folds is 2.5: it must be a whole number"),
    ],
)
def test_mistakes_are_told(data, change, message):
    settings = {"Z": data[0], "y": data[1], **change}
    with pytest.raises(InputError, match=message):
        evaluate(**settings)


def test_a_small_class_is_fine_with_fewer_folds(data):
    assert 0 <= evaluate(data[0], np.arange(40) < 8, folds=8, repeats=1).mean <= 1


def test_progress_is_silent_without_a_terminal(data, capfd):
    evaluate(*data, repeats=1, progress=True)
    out, err = capfd.readouterr()
    assert out == err == ""


def test_progress_shows_folds_on_a_terminal(data, capfd, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    evaluate(*data, repeats=1, progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "evaluate" in err


def test_logistic_10_10_80_is_scikit_learns_regression_on_rows_of_length_1():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=400)
    Z = (rng.normal(size=(400, 6)) + 1.2 * rng.normal(size=(3, 6))[y]) * rng.lognormal(
        size=(400, 1)
    )
    score = evaluate(Z, y, protocol="logistic-10-10-80", repeats=3, random_state=5)
    assert (score.splits == random_parts(400, seeds=[5, 6, 7]).numpy()).all()
    unit = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    for run, part in enumerate(score.splits):
        train, val, test = (part == p for p in range(3))
        X = unit - unit[train].mean(0)
        X /= np.sqrt((X[train] ** 2).mean())
        fits = [LogisticRegression(C=C, tol=1e-8).fit(X[train], y[train]) for C in GRID_C]
        best = max(fits, key=lambda fit: fit.score(X[val], y[val]))
        assert score.runs[run] == pytest.approx(best.score(X[test], y[test]), abs=2.01 / 320)
        assert score.inner[run][0] == pytest.approx(best.score(X[val], y[val]), abs=1.01 / 40)
        macro = f1_score(y[test], best.predict(X[test]), average="macro")
        assert score.details["macro_f1"][run] == pytest.approx(macro, abs=0.01)
    tenfold = evaluate(10 * Z, y, protocol="logistic-10-10-80", repeats=3, random_state=5)
    assert tenfold.runs == pytest.approx(score.runs, abs=1.01 / 320)  # the length is no matter


def test_logistic_10_10_80_bears_rows_of_0_and_too_few_nodes():
    y = np.arange(60) % 2
    assert evaluate(np.zeros((60, 2)), y, protocol="logistic-10-10-80", repeats=2).mean < 0.6
    with pytest.raises(InputError, match="too few to train on 10 %"):
        evaluate(np.zeros((8, 2)), y[:8], protocol="logistic-10-10-80")
