"""Flipped edges, against sets of pairs."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from augcl.attacks.rules import flip_edges, is_edge
from augcl.data import GraphSet
from references import random_graphs


def edge_set(graphs):
    return {tuple(e) for e in graphs.edge_index.t().tolist()}


@given(st.integers(0, 10_000), st.floats(0, 1))
def test_flipping_is_the_symmetric_difference(seed, density):
    graphs = random_graphs([6, 2, 9], density, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    pairs = torch.cat([torch.triu_indices(6, 6, 1), torch.triu_indices(9, 9, 1) + 8], 1)
    pairs = pairs[:, torch.rand(pairs.shape[1], generator=generator) < 0.3]
    wanted = {tuple(p) for p in pairs.t().tolist()} | {tuple(p) for p in pairs.flip(0).t().tolist()}
    flipped = flip_edges(graphs, pairs)
    assert edge_set(flipped) == edge_set(graphs) ^ wanted
    assert flipped.edge_index[0].tolist() == sorted(flipped.edge_index[0].tolist())
    counts = torch.bincount(flipped.graph_of_node[flipped.edge_index[0]], minlength=3)
    assert torch.equal(flipped.edge_ptr.diff(), counts)
    assert edge_set(flip_edges(flipped, pairs)) == edge_set(graphs)


def test_is_edge_knows_the_edges_and_no_others():
    graphs = random_graphs([7, 5], 0.4, seed=0)
    pairs = torch.triu_indices(7, 7, 1)
    expected = [tuple(p) in edge_set(graphs) for p in pairs.t().tolist()]
    assert is_edge(graphs, pairs).tolist() == expected


def test_a_graph_without_edges_has_none():
    empty = GraphSet.from_arrays(
        pairs=torch.empty(2, 0, dtype=torch.long),
        graph_of_node=torch.zeros(3, dtype=torch.long),
        num_graphs=1,
    )
    assert is_edge(empty, torch.tensor([[0], [2]])).tolist() == [False]
    assert flip_edges(empty, torch.tensor([[0], [2]])).edge_index.tolist() == [[0, 2], [2, 0]]


def test_moved_graphs_forget_what_was_derived():
    graphs = random_graphs([7, 5], 0.4, seed=0)
    assert len(graphs.edge_keys) == graphs.num_edges
    assert torch.equal(graphs.to("cpu").edge_keys, graphs.edge_keys)
