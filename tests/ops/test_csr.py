import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.nn import GCNConv

import references
from augcl.data.sparse import torch_csr
from augcl.ops.csr import Adjacency, SparseMatrix, propagate


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


# Directed, in two pieces, node 5 alone.
EDGES = torch.tensor([[0, 1, 1, 2, 3], [1, 0, 2, 0, 4]])


@st.composite
def simple_directed(draw):
    """Any set of edges u → v with u ≠ v: nodes may be alone, or have edges in or out only."""
    nodes = draw(st.integers(1, 7))
    pairs = [(u, v) for u in range(nodes) for v in range(nodes) if u != v]
    edges = sorted(draw(st.sets(st.sampled_from(pairs)))) if pairs else []
    return nodes, torch.tensor(edges, dtype=torch.long).reshape(-1, 2).t()


def numbers(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@settings(max_examples=40)
@given(simple_directed())
def test_propagation_and_its_gradient_are_those_of_pyg(case):
    nodes, edges = case
    convolution = GCNConv(3, 3, bias=False).double()
    torch.nn.init.eye_(convolution.lin.weight)
    ours, theirs = (numbers(nodes, 3).requires_grad_() for _ in range(2))
    mixed = propagate(ours, Adjacency.from_edges(edges, nodes))
    expected = convolution(theirs, edges)
    assert mixed.allclose(expected)
    factors = numbers(nodes, 3, seed=1)
    (mixed * factors).sum().backward()
    (expected * factors).sum().backward()
    assert ours.grad.allclose(theirs.grad)


def test_strided_values_and_gradients_are_right():
    edges, h = Adjacency.from_edges(EDGES, 6), numbers(6, 3)
    assert propagate(h.t().contiguous().t(), edges).equal(propagate(h, edges))
    one, other = (h.clone().requires_grad_() for _ in range(2))
    (propagate(one, edges).t() @ numbers(6, 2)).sum().backward()
    propagate(other, edges).backward(numbers(6, 2).sum(1, keepdim=True).expand(6, 3).contiguous())
    assert one.grad.allclose(other.grad)
    assert torch.autograd.gradcheck(lambda h: propagate(h, edges), (h.requires_grad_(),))


def csr(dense):
    row, column = dense.nonzero(as_tuple=True)
    counts = torch.bincount(row, minlength=len(dense))
    crow = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
    return torch_csr(crow, column, dense[row, column], dense.shape[1])


@pytest.mark.parametrize(
    "make", [SparseMatrix.from_dense, lambda x: SparseMatrix.from_csr(csr(x))], ids=["dense", "csr"]
)
@settings(max_examples=40)
@given(shape=st.tuples(st.integers(1, 6), st.integers(1, 6)), share=st.floats(0, 1))
def test_a_sparse_matrix_multiplies_as_the_dense_one(make, shape, share):
    generator = torch.Generator().manual_seed(0)
    dense = numbers(*shape) * (torch.rand(*shape, generator=generator) < share)
    ours, theirs = (numbers(2, shape[1], seed=1).requires_grad_() for _ in range(2))
    product, expected = make(dense).times(ours.t()), dense @ theirs.t()
    assert product.allclose(expected)
    factors = numbers(shape[0], 2, seed=2)
    (product * factors).sum().backward()
    (expected * factors).sum().backward()
    assert ours.grad.allclose(theirs.grad)
