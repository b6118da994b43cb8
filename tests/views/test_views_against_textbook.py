"""Whole batches of views have the sizes that one graph at a time gives."""

import numpy as np
import pytest
import torch

from augcl.views import named_view
from benchmarks import textbook

SWEEPS = 6


@pytest.fixture(scope="module")
def molecules(mutag):
    return [textbook.Graph(graph.x, graph.edge_index) for graph in mutag]


def sizes(views):
    return np.array([[len(v.x), v.edge_index.shape[1]] for v in views], dtype=float)


@pytest.mark.parametrize(
    ("mode", "one"),
    [
        ("node-drop", textbook.drop_nodes),
        ("edge-perturb", textbook.perturb_edges),
        ("subgraph", textbook.star),
        ("random2", textbook.random_view),
    ],
)
def test_views_of_mutag_are_as_large_as_the_textbook_ones(mutag, molecules, mode, one):
    rng, generator = np.random.default_rng(0), torch.Generator().manual_seed(0)
    view = named_view(mode)
    slow = np.concatenate([sizes([one(g, rng) for g in molecules]) for _ in range(SWEEPS)])
    made = [view(mutag, generator) for _ in range(SWEEPS)]
    fast = torch.cat([torch.stack([v.node_ptr.diff(), v.edge_ptr.diff()], 1) for v in made])
    fast = fast.double().numpy()
    error = np.sqrt((slow.var(0) + fast.var(0)) / len(slow))
    assert (np.abs(slow.mean(0) - fast.mean(0)) <= 4 * error + 1e-9).all()


def test_a_star_keeps_about_three_of_eighteen_atoms(mutag):
    generator = torch.Generator().manual_seed(0)
    view = named_view("subgraph")
    kept = torch.stack([view(mutag, generator).node_ptr.diff() for _ in range(10)]).double()
    # The bound min(degree + 1, ⌊0.2 n⌋ + 1), averaged over the seeds of each graph.
    degree = mutag.adjacency.outgoing.ptr.diff()
    most = (0.2 * mutag.node_ptr.diff().double()).floor()[mutag.graph_of_node] + 1
    bound = torch.minimum(degree + 1, most).double()
    assert bound.mean().item() == pytest.approx(3.1, abs=0.05)
    assert 2.8 < kept.mean() <= bound.mean() + 0.05
