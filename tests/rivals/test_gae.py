"""The logistic loss of all pairs in tiles against the whole matrix at once, in double precision."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import binary_cross_entropy_with_logits

from augcl.ops.csr import Adjacency
from augcl.rivals import gae as module
from augcl.rivals.gae import edge_reconstruction, pair_logistic


def some_graph(nodes, seed, density=0.3):
    generator = torch.Generator().manual_seed(seed)
    linked = (torch.rand(nodes, nodes, generator=generator) < density).triu(1)
    linked = linked | linked.t()
    z = torch.randn(nodes, 3, generator=generator, dtype=torch.float64)
    return z, linked, Adjacency.from_edges(linked.nonzero().t(), nodes, symmetric=True)


def dense(z, linked, weight):
    target = (linked | torch.eye(len(z), dtype=torch.bool)).to(z.dtype)
    return binary_cross_entropy_with_logits(
        z @ z.t(), target, pos_weight=torch.tensor(weight, dtype=z.dtype), reduction="sum"
    )


@given(st.integers(1, 30), st.integers(1, 40), st.integers(0, 5), st.sampled_from([1.0, 7.5]))
def test_tiles_have_the_value_and_the_gradient_of_the_whole_matrix(nodes, tile, seed, weight):
    z, linked, edges = some_graph(nodes, seed)
    one, other = (z.clone().requires_grad_() for _ in range(2))
    found = pair_logistic(one, edges.incoming, positive_weight=weight, tile=tile)
    expected = dense(other, linked, weight)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(
        torch.autograd.grad(found * 3, one)[0], torch.autograd.grad(expected * 3, other)[0]
    )


def test_edges_in_pieces_are_all_edges(monkeypatch):
    z, linked, edges = some_graph(12, seed=1)
    monkeypatch.setattr(module, "EDGES", 5)
    torch.testing.assert_close(
        pair_logistic(z, edges.incoming, positive_weight=2.0), dense(z, linked, 2.0)
    )


def test_huge_products_stay_finite():
    z = torch.tensor([[1e4], [-1e4], [1e4]], requires_grad=True)
    edges = Adjacency.from_edges(torch.tensor([[0, 1], [1, 0]]), 3, symmetric=True)
    loss = pair_logistic(z, edges.incoming, positive_weight=3.0)
    loss.backward()
    assert loss.isfinite()
    assert z.grad.isfinite().all()


def test_a_graph_without_edges_still_has_its_nodes():
    z, linked, edges = some_graph(6, seed=0, density=0.0)
    loss = edge_reconstruction(z, edges, positive_weight=5.0, scale=0.5)
    assert loss.item() == pytest.approx(dense(z, linked, 5.0).item() * 0.5 / 36)
