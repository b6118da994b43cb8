"""DeepWalk's protocol for several labels a node, against a slow version."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

from augcl import InputError, evaluate
from augcl.data import NodeGraph
from augcl.evaluation.multilabel import most_probable, tenth_of_node


def labelled(n=200, T=4, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 6))
    Y = (Z[:, :T] + 0.5 * rng.normal(size=(n, T)) > 0.5).astype(float)
    Y[Y.sum(1) == 0, 0] = 1
    return Z, Y


def test_shares_equal_one_regression_at_a_time():
    Z, Y = labelled()
    score = evaluate(Z, Y, protocol="deepwalk-multilabel", repeats=1)
    tenth = tenth_of_node(len(Z), seed=0)
    for share in (2, 5, 9):
        train, test = tenth < share, tenth >= share
        values = np.column_stack(
            [
                LogisticRegression(tol=1e-8).fit(Z[train], y[train]).decision_function(Z[test])
                for y in Y.T
            ]
        )
        found = np.zeros_like(values)
        for row, k in enumerate(Y[test].sum(1).astype(int)):
            found[row, np.argsort(-values[row])[:k]] = 1
        for average in ("micro", "macro"):
            expected = f1_score(Y[test], found, average=average)
            got = score.details[f"f1_{average}_at_{10 * share}"][0]
            assert got == pytest.approx(expected, abs=0.01)
    assert score.scoring == "f1_micro"
    assert len(score.folds[0]) == 9
    assert score.floor < score.mean


def test_nodes_of_a_graph_with_several_labels_are_judged_so():
    Z, Y = labelled()
    Y[:5] = 0  # no label: nothing to find
    graph = NodeGraph.from_arrays(
        pairs=torch.tensor([[0], [1]]), num_nodes=len(Z), y=torch.from_numpy(Y).float()
    )
    score = evaluate(Z, graph, repeats=1, scoring="f1-macro")
    assert score.protocol == "deepwalk-multilabel"
    assert (score.splits[0][:5] == -1).all()
    assert score.mean == pytest.approx(
        np.mean([score.details[f"f1_macro_at_{s}"][0] for s in range(10, 100, 10)])
    )


def test_as_many_labels_as_are_known():
    values = np.random.default_rng(0).normal(size=(30, 7))
    count = np.arange(30) % 8
    found = most_probable(values, count)
    assert (found.sum(1) == count).all()
    for row in np.flatnonzero((count > 0) & (count < 7)):
        assert values[row][found[row] == 1].min() > values[row][found[row] == 0].max()


def test_blanks_are_refused():
    Z, Y = labelled()
    Y[0, 0] = np.nan
    with pytest.raises(InputError, match="leaves out blanks"):
        evaluate(Z, Y, protocol="deepwalk-multilabel")
