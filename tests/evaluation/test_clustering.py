"""Scores of clusters, against all matchings and what they must be by definition."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from augcl.data.node_graph import NodeGraph
from augcl.errors import InputError
from augcl.evaluation import clustering
from augcl.evaluation.clustering import matched_accuracy


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_matching_is_the_best_of_all(pairs):
    y, clusters = np.array(pairs).T
    best = max(
        np.mean(np.array(names)[clusters] == y) for names in itertools.permutations(range(4))
    )
    assert matched_accuracy(y, clusters) == pytest.approx(best)


def test_clear_clusters_are_found():
    y = np.arange(60) % 3
    score = clustering(100.0 * y[:, None] + np.arange(60)[:, None] / 60, y, repeats=2)
    assert score.nmi == score.ari == score.accuracy == (1.0, 1.0)


def test_digits_cluster_as_known_and_seeds_repeat():
    digits = load_digits()
    score = clustering(digits.data, digits.target, repeats=2, starts=2, random_state=4)
    assert 0.7 < np.mean(score.accuracy) < 0.9
    assert 0.65 < np.mean(score.nmi) < 0.8
    again = clustering(digits.data, digits.target, repeats=1, starts=2, random_state=5)
    assert again.ari[0] == score.ari[1]


def test_unlabelled_nodes_of_a_graph_are_left_out():
    y = torch.arange(40) % 2
    Z = y[:, None].float()
    nodes = NodeGraph(Z, torch.empty(2, 0, dtype=torch.long), torch.where(y.cumsum(0) < 5, -1, y))
    assert clustering(Z, nodes, repeats=1).accuracy == (1.0,)


def test_equal_embeddings_have_an_answer():
    score = clustering(np.ones((30, 2)), np.arange(30) % 3, repeats=1)
    assert score.accuracy == (pytest.approx(1 / 3),)
    assert score.nmi == (0.0,)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": None}, "needs labels"),
        ({"y": np.zeros(9)}, "two classes"),
        ({"repeats": 0}, "repeats is 0"),
        ({"starts": 0}, "starts is 0"),
        ({"Z": np.zeros((8, 2))}, "8 embeddings but 9 labels"),
    ],
)
def test_mistakes_are_told(change, message):
    with pytest.raises(InputError, match=message):
        clustering(**{"Z": np.zeros((9, 2)), "y": np.arange(9) % 2, **change})
