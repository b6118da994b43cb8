"""The fast protocol gives the very numbers of scikit-learn's grid search."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import normalize

from augcl.errors import InputError
from augcl.evaluation import evaluate, liblinear


@pytest.fixture(autouse=True)
def shorter_grid(monkeypatch):
    monkeypatch.setattr(liblinear, "GRID", (2.0**-6, 2.0**-2, 4.0, 2.0**9))


def noisy_classes(N, D, C, seed=0, noise=1.5):
    rng = np.random.default_rng(seed)
    y = rng.integers(C, size=N)
    return noise * rng.normal(size=(N, D)) + rng.normal(size=(C, D))[y], y


def scikit_learn(Z, y, parts):
    """The protocol as everybody writes it: accuracy and macro-F1."""
    X, train, test = normalize(Z), parts == 0, parts == 2
    model = OneVsRestClassifier(LogisticRegression(solver="liblinear"))
    search = GridSearchCV(model, {"estimator__C": list(liblinear.GRID)}, cv=5)
    found = search.fit(X[train], y[train]).predict(X[test])
    return np.mean(found == y[test]), f1_score(y[test], found, average="macro")


@pytest.mark.filterwarnings("ignore:The least populated class")  # by scikit-learn itself
@pytest.mark.parametrize(("N", "D", "C"), [(300, 4, 2), (400, 12, 3), (300, 40, 5)])
def test_scores_are_those_of_grid_search(N, D, C):
    Z, y = noisy_classes(N, D, C, seed=N)
    score = evaluate(Z, y, protocol="grace-liblinear", repeats=2, random_state=3)
    accuracy, macro = zip(*(scikit_learn(Z, y, parts) for parts in score.splits), strict=True)
    assert score.runs == accuracy
    assert score.details["macro_f1"] == macro
    assert score.protocol == "grace-liblinear"


def test_the_grid_is_that_of_grace(monkeypatch):
    monkeypatch.undo()
    np.testing.assert_array_equal(liblinear.GRID, 2.0 ** np.arange(-10, 10))


def test_three_runs_train_on_a_tenth_and_jobs_change_nothing():
    Z, y = noisy_classes(250, 5, 3)
    score = evaluate(Z, y, protocol="grace-liblinear")
    assert len(score.runs) == 3
    assert [np.bincount(run).tolist() for run in score.splits] == [[25, 0, 225]] * 3
    assert evaluate(Z, y, protocol="grace-liblinear", jobs=2) == score


def test_rows_of_zeros_and_unlabelled_nodes_are_fine():
    Z, y = noisy_classes(300, 5, 2)
    Z[:20] = 0
    y[-50:] = -1
    score = evaluate(Z, y, protocol="grace-liblinear", repeats=1)
    assert (score.splits[:, -50:] == -1).all()
    assert 0.4 < score.mean <= 1


def test_a_rare_class_is_told_and_judged():
    Z, y = noisy_classes(300, 5, 2)
    y[:3] = 2
    with pytest.warns(UserWarning, match="class 2 .3 in all"):
        score = evaluate(Z, y, protocol="grace-liblinear", repeats=2)
    assert score.mean > 0.4


def test_too_few_nodes_are_told():
    Z, y = noisy_classes(40, 3, 2)
    with pytest.raises(InputError, match="training samples of split 0 are too few"):
        evaluate(Z, y, protocol="grace-liblinear")
