"""Weights of edges as given, in a graph whose edges stand once in both directions."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from augcl.data.edges import simple_undirected, undirected_weights
from augcl.data.graph import task_of
from augcl.data.node_graph import NodeGraph
from augcl.errors import InputError

entries = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 9)), min_size=1, max_size=30
)


def slow(entries, edge_index):
    """The sum of each direction, then the mean of the directions that were given."""
    found = []
    for edge in edge_index.t().tolist():
        sums = []
        for way in (tuple(edge), tuple(edge[::-1])):
            own = [w for u, v, w in entries if (u, v) == way]
            if own:
                sums.append(sum(own))
        found.append(np.mean(sums))
    return torch.tensor(found, dtype=torch.float32)


@given(entries)
def test_weights_are_those_of_a_loop(entries):
    pairs = torch.tensor([entry[:2] for entry in entries]).t()
    weight = torch.tensor([float(entry[2]) for entry in entries])
    edge_index, _, _ = simple_undirected(pairs, 6)
    found = undirected_weights(pairs, weight, edge_index, 6)
    torch.testing.assert_close(found, slow(entries, edge_index))


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_a_weight_that_is_none_is_named(weight):
    pairs = torch.tensor([[0, 1], [1, 2]])
    with pytest.raises(InputError, match="the weight of edge 1, counted from 0"):
        NodeGraph.from_arrays(pairs=pairs, num_nodes=3, edge_weight=torch.tensor([1.0, weight]))


def test_weights_and_attributes_follow_their_edges():
    graph = NodeGraph.from_arrays(
        pairs=torch.tensor([[2, 0], [1, 1]]),
        num_nodes=3,
        edge_weight=torch.tensor([5.0, 3.0]),
        edge_attr=torch.tensor([[50.0], [30.0]]),
    )
    assert graph.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert graph.edge_weight.tolist() == [3, 3, 5, 5]
    assert graph.edge_attr[:, 0].tolist() == [30, 30, 50, 50]


def test_the_type_and_shape_of_targets_tell_the_task():
    nan = float("nan")
    assert task_of(None) is None
    assert task_of(torch.tensor([1, -1])) == "classification"
    assert task_of(torch.tensor([1.0, 2.0])) == "regression"
    assert task_of(torch.tensor([[1.0, nan]])) == "multilabel"
    assert task_of(torch.tensor([[1.0, 0.5]])) == "regression"
