import pytest
import torch
from torch_geometric.nn import GCNConv

from augcl.ops.csr import Adjacency, SparseMatrix
from augcl.ops.gcn import propagate

# Directed, in two pieces, node 5 alone.
EDGES = torch.tensor([[0, 1, 1, 2, 3], [1, 0, 2, 0, 4]])


def test_propagation_and_its_gradient_are_those_of_pyg():
    convolution = GCNConv(3, 3, bias=False)
    torch.nn.init.eye_(convolution.lin.weight)
    ours, theirs = (torch.arange(18.0).reshape(6, 3).requires_grad_() for _ in range(2))
    mixed, expected = propagate(ours, Adjacency.from_edges(EDGES, 6)), convolution(theirs, EDGES)
    assert torch.allclose(mixed, expected)
    factors = torch.linspace(-1, 1, 18).reshape(6, 3)
    (mixed * factors).sum().backward()
    (expected * factors).sum().backward()
    assert torch.allclose(ours.grad, theirs.grad)


@pytest.mark.parametrize("make", [SparseMatrix.from_dense, None])
def test_a_sparse_matrix_multiplies_as_the_dense_one(make):
    dense = torch.tensor([[0, 2.0, 0], [0, 0, 0], [1, 0, -3], [0, 0, 4]])
    sparse = make(dense) if make else SparseMatrix.from_csr(_csr(dense))
    ours, theirs = (torch.arange(6.0).reshape(3, 2).requires_grad_() for _ in range(2))
    product, expected = sparse.times(ours), dense @ theirs
    assert torch.equal(product, expected)
    factors = torch.arange(8.0).reshape(4, 2)
    (product * factors).sum().backward()
    (expected * factors).sum().backward()
    assert torch.equal(ours.grad, theirs.grad)


def _csr(dense):
    from augcl.data.sparse import torch_csr

    row, column = dense.nonzero(as_tuple=True)
    crow = torch.cat([torch.zeros(1, dtype=torch.long), torch.bincount(row, minlength=4).cumsum(0)])
    return torch_csr(crow, column, dense[row, column], 3)
