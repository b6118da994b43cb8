"""Link prediction: what is held out is never seen."""

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import augcl
from augcl.data import NodeGraph
from augcl.data.features import structure_features
from augcl.data.node_convert import as_node_graph
from augcl.evaluation import evaluate_links, split_links


@settings(max_examples=20, deadline=None)
@given(st.integers(12, 40), st.integers(0, 50))
def test_a_split_keeps_every_edge_once_and_draws_no_edge_as_none(n, seed):
    whole = as_node_graph(nx.gnm_random_graph(n, 2 * n, seed=seed))
    split = split_links(whole, random_state=seed)
    pairs = {tuple(sorted(pair)) for pair in whole.edge_index.T.tolist()}
    kept = {tuple(sorted(pair)) for pair in split.graph.edge_index.T.tolist()}
    half = split.test.shape[1] // 2
    held = {tuple(pair) for pair in split.test[:, :half].T.tolist()}
    others = [tuple(pair) for pair in split.test[:, half:].T.tolist()]
    middle = split.train.shape[1] // 2
    others += [tuple(pair) for pair in split.train[:, middle:].T.tolist()]
    assert held | kept == pairs
    assert not held & kept
    assert len(held) == int(0.1 * len(pairs)) == int(split.held.sum())
    assert len(set(others)) == len(others) == len(pairs)
    assert not set(others) & pairs


def test_training_sees_only_the_edges_that_are_kept():
    seen = []

    class Spy:
        level = "node"

        def get_params(self, deep=False):
            return {}

        def fit(self, graph):
            seen.append(graph)
            return self

        def transform(self, graph):
            return np.random.default_rng(0).normal(size=(graph.num_nodes, 3))

    whole = as_node_graph(nx.karate_club_graph())
    whole = structure_features(whole, "log-degree")
    score = evaluate_links(Spy(), whole, repeats=2)
    assert len(seen) == 2
    for graph, split in zip(seen, score.splits, strict=True):
        assert graph.num_edges // 2 == (split == 0).sum() == 71
        degree = torch.bincount(graph.edge_index[0], minlength=34)
        assert torch.equal(graph.x[:, 0], degree.float().log1p())
    assert score.protocol == "links-10-hadamard"


def test_blocks_are_found_and_noise_is_not():
    block = np.arange(60) // 20
    pairs = np.array([(i, j) for i in range(60) for j in range(i) if block[i] == block[j]]).T
    graph = NodeGraph.from_arrays(pairs=torch.from_numpy(pairs), num_nodes=60)
    score = augcl.evaluate_links(np.eye(3)[block], graph)
    assert score.mean > 0.99
    assert score.details["average_precision"][0] > 0.99
    noise = np.random.default_rng(0).normal(size=(60, 3))
    assert abs(evaluate_links(noise, graph).mean - score.floor) < 0.2


def test_weights_and_edge_features_stay_with_their_edges():
    graph = as_node_graph(nx.cycle_graph(30))
    number = graph.edge_index.sum(0).float()
    graph = NodeGraph(
        x=graph.x, edge_index=graph.edge_index, edge_weight=number, edge_attr=number[:, None]
    )
    kept = split_links(graph).graph
    assert torch.equal(kept.edge_weight, kept.edge_index.sum(0).float())
    assert torch.equal(kept.edge_attr[:, 0], kept.edge_weight)


def test_mistakes_are_told():
    ring = nx.cycle_graph(30)
    with pytest.raises(augcl.InputError, match="too few to hold out"):
        split_links(nx.path_graph(5))
    with pytest.raises(augcl.InputError, match="fewer pairs without an edge"):
        split_links(nx.complete_graph(12))
    with pytest.raises(augcl.InputError, match="embeds whole graphs"):
        evaluate_links(augcl.GraphCL(), ring)
    with pytest.raises(augcl.InputError, match="29 embeddings for 30 nodes"):
        evaluate_links(np.ones((29, 2)), ring)
