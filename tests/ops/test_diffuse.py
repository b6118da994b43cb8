import pytest
import torch

import references
from augcl.ops.csr import Adjacency
from augcl.ops.diffuse import diffuse


@pytest.fixture
def graphs():
    return references.random_graphs([1, 9, 14, 2], 0.3, 0)


def dense_diffusion(graphs, alpha):
    """α (I − (1 − α) Â)^{-1}, by the inverse of the whole block-diagonal matrix."""
    n = graphs.num_nodes
    a = torch.eye(n, dtype=torch.float64)
    for u, v in graphs.edge_index.t().tolist():
        a[v, u] += 1
    root = a.sum(1).rsqrt()
    normal = root[:, None] * a * root
    return alpha * torch.linalg.inv(torch.eye(n, dtype=torch.float64) - (1 - alpha) * normal)


@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.7])
def test_many_steps_are_the_personalised_pagerank_of_every_graph(graphs, alpha):
    x = graphs.x.double()
    found = diffuse(x, graphs.adjacency, alpha=alpha, steps=400)
    assert found.allclose(dense_diffusion(graphs, alpha) @ x)


@pytest.mark.parametrize("steps", [1, 4, 16])
def test_few_steps_are_off_by_what_the_series_leaves_out(graphs, steps):
    unit = torch.eye(graphs.num_nodes, dtype=torch.float64)
    error = diffuse(unit, graphs.adjacency, steps=steps) - dense_diffusion(graphs, 0.2)
    assert torch.linalg.matrix_norm(error, 2) <= 0.8**steps + 1e-12


def test_full_teleport_changes_nothing(graphs):
    assert diffuse(graphs.x, graphs.adjacency, alpha=1.0).equal(graphs.x)


def test_gradients_are_right_for_directed_edges_too():
    edges = Adjacency.from_edges(torch.tensor([[0, 0, 2, 3], [1, 2, 1, 0]]), 4)
    x = torch.randn(
        4, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True
    )
    assert torch.autograd.gradcheck(lambda x: diffuse(x, edges, steps=3), (x,))
