"""The textbook pieces do what the fact sheet says: they are the oracle of other tests."""

import numpy as np
import pytest
import torch

from benchmarks import textbook

RNG = np.random.default_rng


@pytest.fixture
def graph():
    """A wheel: node 0 in the middle of a ring of 29, features that name the node."""
    ring = np.arange(1, 30)
    source = np.concatenate([np.zeros(29, dtype=int), ring])
    target = np.concatenate([ring, np.roll(ring, 1)])
    edges = torch.from_numpy(np.stack([np.r_[source, target], np.r_[target, source]]))
    return textbook.Graph(torch.arange(1.0, 31.0)[:, None], edges)


def named_edges(view):
    """Edges as pairs of original node numbers."""
    nodes = view.x[:, 0].long() - 1
    return {tuple(pair) for pair in nodes[view.edge_index].T.tolist()}


def test_node_drop_keeps_the_induced_subgraph(graph):
    view = textbook.drop_nodes(graph, RNG(0))
    kept = set((view.x[:, 0].long() - 1).tolist())
    expected = {(u, v) for u, v in graph.edge_index.T.tolist() if u in kept and v in kept}
    assert len(view.x) == 27
    assert named_edges(view) == expected


def test_edge_perturbation_keeps_the_number_of_entries(graph):
    view = textbook.perturb_edges(graph, RNG(0))
    m = graph.edge_index.shape[1]
    assert view.edge_index.shape[1] == m
    before, after = named_edges(graph), [tuple(e) for e in view.edge_index.T.tolist()]
    assert len(set(after[: m - m // 10]) & before) == m - m // 10


def test_star_stays_within_one_hop_of_its_seed(graph):
    neighbours = {u: {v for w, v in graph.edge_index.T.tolist() if w == u} for u in range(30)}
    for seed in range(50):
        view = textbook.star(graph, RNG(seed))
        nodes = (view.x[:, 0].long() - 1).tolist()
        assert set(nodes[1:]) <= neighbours[nodes[0]]
        assert len(nodes) == len(set(nodes)) <= 7
        assert {(u, u) for u in nodes} <= named_edges(view)
        assert all(v in neighbours[u] for u, v in named_edges(view) if u != v)


def test_star_of_an_isolated_node_is_that_node():
    alone = textbook.Graph(torch.ones(9, 1), torch.empty(2, 0, dtype=torch.long))
    view = textbook.star(alone, RNG(0))
    assert view.x.shape == (1, 1)
    assert view.edge_index.tolist() == [[0], [0]]


def test_attribute_mask_zeroes_a_tenth(graph):
    view = textbook.mask_nodes(graph, RNG(0))
    assert int((view.x == 0).sum()) == 3
    assert view.edge_index is graph.edge_index


def test_random_view_uses_every_kind(graph):
    sizes = {len(textbook.random_view(graph, RNG(seed), "random4").x) for seed in range(40)}
    assert {27, 30} < sizes


def test_kmeans_separates_clear_groups():
    rows = torch.tensor([[0.9, 0.8, -0.5, -0.6], [0.9, -0.5, 0.8, -0.6]])
    assert textbook.kmeans_labels(rows).tolist() == [[1, 1, 0, 0], [0, 1, 0, 1]]
    larger = textbook.kmeans_labels(rows, group="larger")
    assert larger.tolist() == [[1, 1, 0, 0], [1, 0, 1, 0]]
    assert textbook.kmeans_labels(torch.full((2, 3), 0.5)).tolist() == [[1, 1, 1]] * 2


def test_pairs_are_all_concatenations():
    a, b = torch.randn(2, 3), torch.randn(4, 3)
    pairs = textbook.pair_inputs(a, b, affinity=a @ b.T)
    assert pairs.shape == (8, 7)
    assert torch.allclose(pairs[6], torch.cat([a[1], b[2], (a[1] @ b[2])[None]]))


def test_gamblers_loss_of_always_abstaining_is_log_reward():
    logits = torch.tensor([[-50.0, -50.0, 50.0]] * 4)
    labels = torch.tensor([0, 1, 0, 1])
    assert float(textbook.gamblers_loss(logits, labels, 1.9)) == pytest.approx(np.log(1.9))


def test_constant_uncertainty_is_plain_info_nce():
    a, b = torch.randn(5, 4), torch.randn(5, 4)
    weights = textbook.row_weights(torch.full((5, 5), 0.3))
    assert torch.allclose(textbook.weighted_info_nce(a, b, weights), textbook.info_nce(a, b))


def test_encoder_sums_over_neighbours(graph):
    torch.manual_seed(0)
    encoder = textbook.Encoder(1, width=4, layers=1).eval()
    x, edges, _ = textbook.collate([graph, graph])
    adjacency = torch.zeros(60, 60)
    adjacency[edges[1], edges[0]] = 1
    h = encoder.norms[0](torch.relu(encoder.mlps[0](x + adjacency @ x)))
    expected = torch.stack([h[:30].sum(0), h[30:].sum(0)])
    assert torch.allclose(encoder.embed(*textbook.collate([graph, graph])), expected, rtol=1e-4)


def test_whole_training_stays_finite():
    rng = RNG(0)
    graphs = []
    for _ in range(12):
        n = int(rng.integers(10, 20))
        adjacency = torch.from_numpy(np.triu(rng.random((n, n)) < 0.3, 1))
        graphs.append(textbook.Graph(torch.ones(n, 2), (adjacency | adjacency.T).nonzero().T))
    trained = textbook.train(graphs, plain_epochs=2, passes=1, weighted_epochs=2, batch_size=6)
    assert set(trained.seconds) == {"plain", "gambler", "weighted"}
    assert all(torch.isfinite(p).all() for p in trained.encoder.parameters())
