import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv
from torch_geometric.transforms import HalfHop

from augcl.data import NodeGraph
from augcl.data.sparse import compact
from augcl.encoders.gcn import GCN, NodeNetwork
from augcl.ops.csr import propagate
from augcl.views.nodes import NodeViews, TwoViews, draw, half_hop


def random_graph(nodes, seed, *, width=3):
    generator = torch.Generator().manual_seed(seed)
    return NodeGraph.from_arrays(
        pairs=torch.randint(nodes, (2, 2 * nodes), generator=generator),
        num_nodes=nodes,
        x=torch.rand(nodes, width, generator=generator),
    )


@given(st.integers(2, 12), st.integers(0, 1000), st.floats(0, 1))
def test_a_view_has_the_edges_that_were_kept(nodes, seed, rate):
    graph = random_graph(nodes, seed)
    kept = draw(torch.full((graph.edge_index.shape[1],), rate), torch.Generator().manual_seed(seed))
    view = NodeViews(graph).view(edges=kept)
    assert torch.equal(view.edge_index, graph.edge_index[:, kept])
    matrix = torch.zeros(nodes, nodes)  # row v: where its messages come from
    matrix[view.edge_index[1], view.edge_index[0]] = 1
    assert torch.equal(view.edges.incoming.times(torch.eye(nodes)), matrix)
    assert torch.equal(view.edges.outgoing.times(torch.eye(nodes)), matrix.t())


def test_the_clean_view_has_everything():
    graph = random_graph(9, 0)
    clean = NodeViews(graph).clean
    assert torch.equal(clean.edge_index, graph.edge_index)
    assert torch.equal(clean.x(), graph.x)


def test_masked_columns_are_zero_for_all_nodes_dense_or_sparse():
    x = torch.zeros(6, 150)
    x[torch.arange(6), torch.arange(6) * 20] = 2.0
    columns = torch.arange(150) % 40 != 0
    weight = torch.arange(300.0).reshape(150, 2)
    for features in (x, compact(x)):
        graph = NodeGraph(features, torch.empty(2, 0, dtype=torch.long))
        view = NodeViews(graph).view(columns=columns)
        assert torch.equal(view.x(), x * columns)
        assert torch.equal(view.times(weight), (x * columns) @ weight)
    assert compact(x).layout == torch.sparse_csr


def test_what_is_drawn_is_dropped_as_often_as_it_should():
    drop = torch.tensor([0.0, 0.25, 0.7, 1.0]).repeat_interleave(4000)
    kept = draw(drop, torch.Generator().manual_seed(0)).float().reshape(4, -1).mean(1)
    assert torch.allclose(kept, torch.tensor([1.0, 0.75, 0.3, 0.0]), atol=0.03)


# Half-Hop


def half_hopped(graph, targets, **options):
    return half_hop(NodeViews(graph).clean, targets, **options)


@given(st.integers(2, 12), st.integers(0, 1000), st.floats(0, 1))
def test_every_edge_into_a_slowed_node_gets_a_slow_node(nodes, seed, rate):
    graph = random_graph(nodes, seed)
    targets = ~draw(torch.full((nodes,), rate), torch.Generator().manual_seed(seed))
    view = half_hopped(graph, targets)
    edges, slowed = graph.num_edges, int(targets[graph.edge_index[1]].sum())
    assert view.nodes == nodes
    assert len(view.x()) == nodes + slowed
    assert view.edge_index.shape[1] == edges + 2 * slowed
    into = torch.bincount(view.edge_index[1], minlength=nodes + slowed)
    out = torch.bincount(view.edge_index[0], minlength=nodes + slowed)
    assert torch.equal(into[:nodes], torch.bincount(graph.edge_index[1], minlength=nodes))
    assert (into[nodes:] == 2).all()
    assert (out[nodes:] == 1).all()
    dense = torch.zeros(nodes + slowed, nodes + slowed)
    dense[view.edge_index[1], view.edge_index[0]] = 1
    every = torch.eye(nodes + slowed)
    assert torch.equal(view.edges.incoming.times(every), dense)
    assert torch.equal(view.edges.outgoing.times(every), dense.t())


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_slow_nodes_are_those_of_pyg(share):
    graph = random_graph(9, 0)
    view = half_hopped(graph, torch.ones(9, dtype=torch.bool), source_share=share)
    theirs = HalfHop(alpha=share, p=1.0)(Data(x=graph.x, edge_index=graph.edge_index))
    assert torch.equal(view.edge_index, theirs.edge_index)
    torch.testing.assert_close(view.x(), theirs.x)
    if share == 1:
        assert torch.equal(view.x()[9:], graph.x[graph.edge_index[0]])


def test_a_convolution_over_slow_nodes_is_that_of_pyg():
    graph = random_graph(9, 0)
    targets = torch.arange(9) % 2 == 0
    ours, theirs = GCN(3, width=4, generator=torch.Generator().manual_seed(0)), GCNConv(3, 8)
    view = half_hopped(graph, targets)
    theirs.lin.weight.data, theirs.bias.data = ours.first.weight.data, ours.first.bias.data
    expected = theirs(view.x(), view.edge_index)
    found = propagate(view.times(ours.first.weight.t()), view.edges)
    torch.testing.assert_close(found, expected)
    embeddings = NodeNetwork(ours, torch.nn.Identity())(view)
    torch.testing.assert_close(embeddings, ours(view)[:9])


def test_slow_nodes_have_masked_features_sparse_or_dense_and_the_weight_of_their_edge():
    x = torch.zeros(6, 150)
    x[torch.arange(6), torch.arange(6) * 20] = 2.0
    edges = random_graph(6, 3).edge_index
    weight = 1.0 + (edges.sum(0) % 3)
    columns = torch.arange(150) % 40 == 0
    weights = torch.randn(150, 4, generator=torch.Generator().manual_seed(0))
    targets = torch.tensor([True, False, True, True, False, True])
    found = []
    for features in (x, compact(x)):
        views = NodeViews(NodeGraph(features, edges, edge_weight=weight))
        view = half_hop(views.view(columns=columns), targets)
        torch.testing.assert_close(view.times(weights), view.x() @ weights)
        assert not view.x()[:, ~columns].any()
        found.append(view.x())
    assert torch.equal(*found)
    slow = view.edge_index[1] >= 6
    pairs = {(int(u), int(v)): float(w) for (u, v), w in zip(edges.t(), weight, strict=True)}
    into = view.edge_index[:, ~slow]
    for (u, v), w in zip(into.t().tolist(), view.edge_weight[~slow].tolist(), strict=True):
        if u >= 6:
            (first, second) = view.edge_index[0][view.edge_index[1] == u].tolist()
            u = first if second == v else second
        assert pairs[u, v] == w


def test_where_no_node_is_slowed_nothing_changes():
    graph = random_graph(9, 0)
    clean = NodeViews(graph).clean
    assert half_hop(clean, torch.zeros(9, dtype=torch.bool)) is clean
    rates = {"edge_drop": (0.2, 0.4), "feature_drop": (0.3, 0.3)}
    without, with_0 = (
        list(TwoViews(NodeViews(graph), **rates, slowed=slowed).draw(torch.Generator()))
        for slowed in (None, (0.0, 0.0))
    )
    for one, other in zip(without, with_0, strict=True):
        assert torch.equal(one.edge_index, other.edge_index)
        assert torch.equal(one.x(), other.x())


def test_gradients_pass_through_slow_nodes():
    view = half_hopped(random_graph(5, 1), torch.ones(5, dtype=torch.bool))
    weight = torch.randn(3, 2, generator=torch.Generator().manual_seed(0)).requires_grad_()
    view.times(weight).square().sum().backward()
    grad, weight.grad = weight.grad, None
    (view.x() @ weight).square().sum().backward()
    torch.testing.assert_close(grad, weight.grad)
