"""What tests of methods share."""

import pytest
import torch

import references
from augcl.data.node_graph import NodeGraph


@pytest.fixture(scope="package")
def graph():
    """90 nodes in three classes, which edges and features tell."""
    return references.communities()


@pytest.fixture
def dense_and_sparse(graph):
    """The same graph, once with features that are kept dense and once sparse."""
    wide = torch.zeros(90, 600)
    wide[:, :24] = graph.x
    sparse = NodeGraph.from_arrays(pairs=graph.edge_index, num_nodes=90, x=wide)
    assert sparse.x.layout == torch.sparse_csr
    return NodeGraph(wide, graph.edge_index), sparse
