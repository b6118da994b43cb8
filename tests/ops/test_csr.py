import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import references
from augcl.ops.csr import Adjacency


@st.composite
def directed_graphs(draw):
    """Any entries: one direction only, twice the same, from a node to itself, or none."""
    nodes = draw(st.integers(1, 6))
    node = st.integers(0, nodes - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=15))
    return nodes, torch.tensor(edges, dtype=torch.long).reshape(-1, 2).t()


def values(nodes, *, dtype=torch.float64):
    return torch.randn(nodes, 3, dtype=dtype, generator=torch.Generator().manual_seed(nodes))


@given(directed_graphs(), st.booleans())
def test_sum_neighbours_is_the_dense_product(case, in_order):
    nodes, edges = case
    if in_order:
        edges = edges[:, edges[0].argsort(stable=True)]
    dense = torch.zeros(nodes, nodes, dtype=torch.float64)
    for u, v in edges.t().tolist():
        dense[v, u] += 1
    x = values(nodes)
    adjacency = Adjacency.from_edges(edges, nodes, ordered=in_order)
    assert adjacency.sum_neighbours(x).allclose(dense @ x)
    assert adjacency.sum_neighbours(x).allclose(references.neighbour_sums(x, edges))


@given(directed_graphs())
def test_symmetric_edges_need_one_direction_only(case):
    nodes, edges = case
    both = torch.cat([edges, edges.flip(0)], 1)
    x = values(nodes)
    one = Adjacency.from_edges(both, nodes, symmetric=True).sum_neighbours(x)
    assert one.allclose(Adjacency.from_edges(both, nodes).sum_neighbours(x))


@pytest.mark.parametrize(
    "edges",
    [[[0, 0, 1, 3], [1, 2, 2, 3]], [[0, 0, 0], [1, 1, 1]], [[], []]],
    ids=["directed and loop", "duplicates", "no edges"],
)
def test_gradient_goes_back_along_the_edges(edges):
    adjacency = Adjacency.from_edges(torch.tensor(edges, dtype=torch.long), 4)
    x = values(4).requires_grad_()
    assert torch.autograd.gradcheck(adjacency.sum_neighbours, (x,))


def test_gradient_of_a_strided_output_is_right():
    adjacency = Adjacency.from_edges(torch.tensor([[0, 1], [1, 2]]), 3)
    x = values(3).requires_grad_()
    adjacency.sum_neighbours(x).t()[0].sum().backward()
    assert x.grad.tolist() == [[1, 0, 0], [1, 0, 0], [0, 0, 0]]


def test_float32_stays_float32():
    adjacency = Adjacency.from_edges(torch.tensor([[0], [1]]), 2)
    assert adjacency.sum_neighbours(torch.ones(2, 1)).dtype == torch.float32
