import math

import pytest
import torch

from augcl.data import NodeGraph
from augcl.data.sparse import compact
from augcl.ops.csr import SparseMatrix
from augcl.views.nodes import (
    CENTRALITIES,
    EDGE_ENDS,
    EMPTY_COLUMNS,
    MOST,
    NodeViews,
    drop_probability,
    importance,
)

# A star around node 0 with one more edge, and node 5 alone.
PAIRS = torch.tensor([[0, 0, 0, 3], [1, 2, 3, 4]])
X = torch.tensor([[1, 0, 0.0], [1, 2, 0], [0, 2, 0], [0, 0, 0], [1, 0, 0], [5, 0, 0]])


def star(x=X):
    return NodeViews(NodeGraph.from_arrays(pairs=PAIRS, num_nodes=6, x=x))


def slowly(values, rate):
    """METHODS' formula, one value after the other."""
    mean = sum(values) / len(values)
    return [min((max(values) - s) / (max(values) - mean) * rate, 0.7) for s in values]


def test_an_edge_counts_by_the_node_that_it_points_to():
    views = star()
    degree = {0: 3, 1: 1, 2: 1, 3: 2, 4: 1}
    expected = [math.log(degree[int(v)]) for v in views.edge_index[1]]
    found = importance(views, "degree").edges
    assert found.tolist() == pytest.approx(expected)
    rates = drop_probability(found, 0.3).tolist()
    assert rates == pytest.approx(slowly(expected, 0.3))


def test_in_the_paper_it_counts_by_both_ends():
    views = star()
    degree = {0: 3, 1: 1, 2: 1, 3: 2, 4: 1}
    expected = [math.log((degree[u] + degree[v]) / 2) for u, v in views.edge_index.t().tolist()]
    found = importance(views, "degree", edge_ends="both").edges
    assert found.tolist() == pytest.approx(expected)
    assert torch.equal(found.sort().values[::2], found.sort().values[1::2])  # both directions alike


def test_a_column_counts_by_the_nodes_that_have_it():
    found = importance(star(), "degree").columns
    assert found[:2].exp().tolist() == pytest.approx([3 + 1 + 1 + 0, 1 + 1])
    assert found[2] == -math.inf


def test_signed_features_count_by_their_size():
    found = importance(
        star(torch.tensor([[1.0, -2], [0, 3], [0, 0], [0, 0], [0, 0], [0, 0]])), "degree"
    )
    assert found.columns.exp().tolist() == pytest.approx([3, 2 * 3 + 3 * 1])


def test_an_empty_column_spoils_nothing_but_in_the_released_code():
    found = importance(star(), "degree").columns
    rates = drop_probability(found, 0.2).tolist()
    assert rates[:2] == pytest.approx(slowly(found[:2].tolist(), 0.2))
    assert rates[2] == pytest.approx(0.7)
    spoiled = drop_probability(found, 0.2, empty_columns="mask-all").tolist()
    assert spoiled == pytest.approx([0.7] * 3)


def test_all_alike_are_dropped_at_the_plain_rate():
    assert drop_probability(torch.zeros(4), 0.3).tolist() == pytest.approx([0.3] * 4)
    assert drop_probability(torch.full((3,), -math.inf), 0.3).tolist() == pytest.approx([0.3] * 3)


def test_the_mean_is_the_rate_where_nothing_is_capped():
    spread = torch.linspace(0, 1, 50)
    assert drop_probability(spread, 0.2).mean() == pytest.approx(0.2)
    assert drop_probability(spread, 0.6).max() == pytest.approx(0.7)


@pytest.mark.parametrize("edge_ends", EDGE_ENDS)
@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("empty_columns", EMPTY_COLUMNS)
@pytest.mark.parametrize("centrality", CENTRALITIES)
def test_probabilities_are_probabilities(centrality, edge_ends, restart, empty_columns):
    matter = importance(star(), centrality, edge_ends=edge_ends, pagerank_restart=restart)
    for part in matter:
        rates = drop_probability(part, 0.4, empty_columns=empty_columns)
        assert bool(((rates >= 0) & (rates <= 0.7 + 1e-6)).all())


def test_sparse_features_count_as_dense_ones():
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(6, 150, generator=generator) * (torch.rand(6, 150, generator=generator) < 0.03)
    edges = star().edge_index
    for features in (x, x * torch.randn(6, 150, generator=generator)):
        dense = NodeViews(NodeGraph(features, edges))
        sparse = NodeViews(NodeGraph(compact(features), edges))
        assert isinstance(sparse.features, SparseMatrix)
        one, other = (importance(views, "pagerank").columns for views in (dense, sparse))
        assert 0 < one.isinf().sum() < 150
        assert torch.allclose(one, other)


@pytest.mark.parametrize("centrality", CENTRALITIES)
def test_in_a_regular_graph_all_edges_are_dropped_at_the_plain_rate(centrality):
    ring = torch.stack([torch.arange(8), (torch.arange(8) + 1) % 8])
    views = NodeViews(NodeGraph.from_arrays(pairs=ring, num_nodes=8))
    rates = drop_probability(importance(views, centrality).edges, 0.3)
    assert rates.tolist() == pytest.approx([0.3] * 16)


@pytest.mark.parametrize("values", [[0.0, 1.0, -math.inf], [1.0, 1.0, -math.inf], [-math.inf] * 3])
@pytest.mark.parametrize("rate", [0.0, 0.3])
def test_an_empty_column_never_makes_a_probability_that_is_none(values, rate):
    rates = drop_probability(torch.tensor(values), rate)
    assert ((rates >= 0) & (rates <= MOST)).all()
    assert rate > 0 or not rates.any()


def test_on_a_graph_in_pieces_the_eigenvector_still_gives_probabilities():
    pairs = torch.tensor([[0, 0, 0, 1, 1, 2, 4, 5], [1, 2, 3, 2, 3, 3, 5, 6]])
    views = NodeViews(NodeGraph.from_arrays(pairs=pairs, num_nodes=9))
    rates = drop_probability(importance(views, "eigenvector").edges, 0.3)
    inside = views.edge_index[1] < 4
    assert rates[inside].max() < 1e-3
    assert rates[~inside].min() == pytest.approx(0.7)
