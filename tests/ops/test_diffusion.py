"""Diffusion by sparse products against the inverse of the whole matrix."""

import pytest
import torch

import references
from augcl.data import NodeGraph
from augcl.ops.csr import Adjacency
from augcl.ops.diffusion import (
    diffuse,
    diffuse_in_steps,
    normalised_adjacency,
    strongest_diffusion,
    window,
)
from augcl.views.nodes import NodeViews


@pytest.fixture(scope="module")
def graph():
    return references.communities(60)


@pytest.fixture(scope="module")
def edges(graph):
    return Adjacency.from_edges(graph.edge_index, 60, symmetric=True)


def dense_adjacency(graph, loops=1):
    nodes = graph.num_nodes
    a = loops * torch.eye(nodes, dtype=torch.float64)
    a[graph.edge_index[1], graph.edge_index[0]] = 1
    root = a.sum(1).rsqrt()
    return root[:, None] * a * root


def dense_diffusion(graph, alpha):
    identity = torch.eye(graph.num_nodes, dtype=torch.float64)
    return alpha * torch.linalg.inv(identity - (1 - alpha) * dense_adjacency(graph))


def as_dense(rows):
    return rows.times(torch.eye(len(rows.ptr) - 1))


@pytest.mark.parametrize("alpha", [0.05, 0.2, 0.7, 1.0])
def test_diffusion_is_the_inverse(graph, edges, alpha):
    h = torch.randn(60, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    expected = dense_diffusion(graph, alpha) @ h
    assert torch.allclose(diffuse(h, edges, alpha, error=1e-9), expected, atol=1e-7)
    assert torch.allclose(diffuse(h.float(), edges, alpha).double(), expected, atol=1e-5)


@pytest.fixture
def graphs():
    return references.random_graphs([1, 9, 14, 2], 0.3, 0)


@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.7])
def test_many_steps_are_the_personalised_pagerank_of_every_graph(graphs, alpha):
    x = graphs.x.double()
    found = diffuse_in_steps(x, graphs.adjacency, alpha=alpha, steps=400)
    assert found.allclose(dense_diffusion(graphs, alpha) @ x)


@pytest.mark.parametrize("steps", [1, 4, 16])
def test_few_steps_are_off_by_what_the_series_leaves_out(graphs, steps):
    unit = torch.eye(graphs.num_nodes, dtype=torch.float64)
    found = diffuse_in_steps(unit, graphs.adjacency, alpha=0.2, steps=steps)
    error = found - dense_diffusion(graphs, 0.2)
    assert torch.linalg.matrix_norm(error, 2) <= 0.8**steps + 1e-12


def test_full_teleport_changes_nothing(graphs):
    assert diffuse_in_steps(graphs.x, graphs.adjacency, alpha=1.0, steps=16).equal(graphs.x)


def test_gradients_of_steps_are_right_for_directed_edges_too():
    edges = Adjacency.from_edges(torch.tensor([[0, 0, 2, 3], [1, 2, 1, 0]]), 4)
    x = torch.randn(4, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    x.requires_grad_()
    assert torch.autograd.gradcheck(lambda x: diffuse_in_steps(x, edges, alpha=0.2, steps=3), (x,))


@pytest.mark.parametrize("block", [7, 60, 512])
def test_with_all_entries_kept_it_is_the_whole_matrix(graph, edges, block):
    kept = strongest_diffusion(edges, 0.2, keep=60, block=block)
    assert torch.allclose(as_dense(kept).double(), dense_diffusion(graph, 0.2), atol=1e-6)


def test_what_is_kept_are_the_largest_of_each_row_or_column(graph, edges):
    expected = dense_diffusion(graph, 0.2)
    largest = torch.zeros(60, 60, dtype=torch.bool)
    largest.scatter_(1, expected.topk(5, dim=1).indices, True)
    found = as_dense(strongest_diffusion(edges, 0.2, keep=5, block=16))
    assert (found > 0).equal(largest | largest.t())
    assert found.equal(found.t())
    assert torch.allclose(found.double(), expected * (found > 0), atol=1e-6)


def test_what_no_walk_reaches_is_not_kept():
    apart = Adjacency.from_edges(torch.tensor([[0, 1], [1, 0]]), 4, symmetric=True)
    assert strongest_diffusion(apart, 0.2, keep=4).ptr.tolist() == [0, 2, 4, 5, 6]


@pytest.mark.parametrize("loops", [1, 2])
def test_the_normalised_adjacency_has_as_many_loops_as_told(graph, edges, loops):
    found = as_dense(normalised_adjacency(edges, loops=loops)).double()
    assert torch.allclose(found, dense_adjacency(graph, loops), atol=1e-6)


@pytest.mark.parametrize(("first", "size"), [(0, 60), (0, 10), (25, 20), (59, 1)])
def test_a_window_is_a_square_of_the_matrix(edges, first, size):
    whole = normalised_adjacency(edges)
    part = slice(first, first + size)
    assert as_dense(window(whole, first, size)).equal(as_dense(whole)[part, part])


@pytest.mark.parametrize("loops", [0, 1, 2])
def test_weights_are_the_entries_of_the_matrix(graph, loops):
    half = torch.rand(graph.num_edges, generator=torch.Generator().manual_seed(1))
    weighted = NodeGraph.from_arrays(pairs=graph.edge_index, num_nodes=60, edge_weight=half)
    edges = NodeViews(weighted).clean.edges
    a = loops * torch.eye(60, dtype=torch.float64)
    a[weighted.edge_index[1], weighted.edge_index[0]] = weighted.edge_weight.double()
    root = a.sum(1).rsqrt()
    a = root[:, None] * a * root
    near = as_dense(normalised_adjacency(edges, loops=loops))
    torch.testing.assert_close(near.double(), a, rtol=1e-5, atol=1e-6)
    if loops == 1:
        inverse = 0.2 * torch.linalg.inv(torch.eye(60, dtype=torch.float64) - 0.8 * a)
        far = diffuse(torch.eye(60), edges, 0.2)
        torch.testing.assert_close(far.double(), inverse, rtol=1e-4, atol=1e-5)
        strongest = as_dense(strongest_diffusion(edges, 0.2, keep=60))
        torch.testing.assert_close(strongest.double(), inverse, rtol=1e-4, atol=1e-5)
