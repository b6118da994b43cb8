import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.nn import GATConv, GINConv

import augcl
from augcl import GraphMAE, GraphMAEGraphs, InputError
from augcl.data import GraphSet, NodeGraph
from augcl.encoders import pool
from augcl.methods.presets import GRAPHMAE, GRAPHMAE_GRAPHS, get_preset
from augcl.ops.csr import Adjacency, FeaturedEdges
from augcl.rivals import graphmae
from augcl.rivals.graphmae import (
    AttentionDecoder,
    AttentionEncoder,
    AttentionLayer,
    Hidden,
    MaskedAutoencoder,
    SumLayer,
    attention_edges,
    draw_hidden,
    dropout,
    reconstruction_error,
    softmax_by_target,
    weighted_sum,
)
from augcl.runs.run import Spec
from augcl.views.nodes import NodeViews
from quick_nodes import losses

CPU = torch.device("cpu")


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def random_graph(nodes=8, seed=0, width=3, weighted=False):
    generator = seeded(seed)
    pairs = torch.randint(nodes, (2, 2 * nodes), generator=generator)
    return NodeGraph.from_arrays(
        pairs=pairs,
        num_nodes=nodes,
        x=torch.randn(nodes, width, generator=generator),
        edge_weight=1 + pairs.sum(0).float() if weighted else None,
    )


def random_edges(nodes=8, seed=0):
    return attention_edges(NodeViews(random_graph(nodes, seed)).clean)


# The loss


@given(st.integers(1, 20), st.integers(1, 6), st.floats(1, 4), st.integers(0, 1000))
def test_the_loss_is_its_formula(nodes, width, gamma, seed):
    a, b = torch.randn(2, nodes, width, generator=seeded(seed)).double()
    errors = [
        max(1 - sum(p * q for p, q in zip(u, v, strict=True)) / math.hypot(*u) / math.hypot(*v), 0)
        for u, v in zip(a.tolist(), b.tolist(), strict=True)
    ]
    expected = sum(error**gamma for error in errors) / nodes
    found = reconstruction_error(a, b, gamma).item()
    assert found == pytest.approx(expected, abs=1e-6)
    assert 0 <= found <= 2**gamma + 1e-6


def test_rows_without_a_feature_have_loss_1_and_a_perfect_row_has_a_finite_gradient():
    x = torch.tensor([[0.0, 0.0], [0.1, 0.7]])
    found = x.clone().requires_grad_()
    loss = reconstruction_error(found, x, 1.5)
    assert loss.item() == pytest.approx(0.5)
    loss.backward()
    assert found.grad.isfinite().all()


# Which nodes are hidden


@given(st.integers(1, 60), st.floats(0.01, 1), st.floats(0, 1), st.integers(0, 100))
def test_hidden_nodes_are_distinct_and_as_many_as_asked(nodes, share, replaced, seed):
    hidden = draw_hidden(nodes, share, replaced, seeded(seed), CPU)
    assert len(hidden.nodes) == len(hidden.nodes.unique()) == max(1, int(share * nodes))
    assert len(hidden.replaced) == len(hidden.donors) == int(replaced * len(hidden.nodes))
    assert set(hidden.replaced.tolist()) <= set(hidden.nodes.tolist())
    assert all(0 <= donor < nodes for donor in hidden.donors.tolist())


def autoencoder(features=3, width=4):
    return MaskedAutoencoder(
        AttentionEncoder(features, width, 2, 2, seeded()),
        AttentionDecoder(width, features, seeded(1)),
        features,
        width,
        seeded(2),
    )


def test_a_hidden_node_says_nothing_about_itself_and_others_do():
    network, graph = autoencoder(), random_graph()
    network.token.data.fill_(0.3)
    x = graph.x.clone().requires_grad_()
    edges = attention_edges(NodeViews(graph).clean)
    none = torch.empty(0, dtype=torch.long)
    hidden = Hidden(torch.tensor([0, 3, 5]), none, none)
    network(x, edges, hidden, seeded()).sum().backward()
    assert not x.grad[[0, 3, 5]].any()
    assert x.grad[[1, 2, 4, 6, 7]].any()
    assert network.token.grad.any()


def test_replaced_nodes_show_the_features_of_their_donors():
    seen = []

    class Watched(AttentionEncoder):
        def forward(self, x, edges, generator=None):
            seen.append(x)
            return super().forward(x, edges, generator)

    network, graph = autoencoder(), random_graph()
    network.token.data.fill_(0.3)
    network.encoder = Watched(3, 4, 2, 2, seeded())
    hidden = Hidden(torch.tensor([0, 3, 5]), torch.tensor([0]), torch.tensor([7]))
    network(graph.x, random_edges(), hidden, seeded())
    expected = graph.x.clone()
    expected[[3, 5]] = 0.3
    expected[0] = graph.x[7]
    assert torch.equal(seen[0], expected)


def test_without_edges_hidden_nodes_are_all_reconstructed_alike():
    network, x = autoencoder(), random_graph().x
    edges = FeaturedEdges.from_edges(torch.arange(8).repeat(2, 1), torch.zeros(8, 1), 8)
    found = network(x, edges, draw_hidden(8, 1.0, 0.0, seeded(), CPU), seeded())
    assert torch.equal(found, found[:1].expand(8, 3))


# Attention


def test_a_layer_is_that_of_pyg():
    graph = random_graph()
    ours = AttentionLayer(3, 2, 5, seeded())
    theirs = GATConv(3, 5, heads=2)
    theirs.lin.weight.data = ours.weight.data.t()
    theirs.att_src.data, theirs.att_dst.data = ours.of_source.data, ours.of_target.data
    ours.bias.data.normal_(generator=seeded(1))
    theirs.bias.data = ours.bias.data
    found = ours(graph.x, attention_edges(NodeViews(graph).clean), None)
    torch.testing.assert_close(found, theirs(graph.x, graph.edge_index))


def test_a_decoder_gives_the_rows_of_its_layer():
    graph, edges = random_graph(), random_edges()
    decoder = AttentionDecoder(3, 7, seeded())
    some = torch.tensor([5, 0])
    every = decoder.layer(graph.x, edges, None)
    torch.testing.assert_close(decoder(graph.x, edges, some, None), every[some])


def test_the_weighted_sum_and_its_gradient():
    edges = random_edges(6, 1)
    h = torch.randn(6, 3, generator=seeded()).requires_grad_()
    weights = torch.rand(len(edges.source), generator=seeded(1)).requires_grad_()
    matrix = torch.zeros(6, 6).index_put(
        (torch.repeat_interleave(edges.ptr.diff()), edges.source), weights
    )
    found, expected = weighted_sum(h, weights, edges), matrix @ h
    torch.testing.assert_close(found, expected)
    noise = torch.randn(6, 3, generator=seeded(2))
    for one, other in zip(
        torch.autograd.grad(found, (h, weights), noise),
        torch.autograd.grad(expected, (h, weights), noise),
        strict=True,
    ):
        torch.testing.assert_close(one, other)


@given(st.integers(2, 12), st.integers(0, 100), st.sampled_from([1.0, 1e4]))
def test_attentions_sum_to_1_for_any_size_of_logits(nodes, seed, scale):
    edges = random_edges(nodes, seed)
    logits = scale * torch.randn(len(edges.source), 2, generator=seeded(seed))
    shares = softmax_by_target(logits, edges)
    assert shares.isfinite().all()
    for v in range(nodes):
        rows = slice(int(edges.ptr[v]), int(edges.ptr[v + 1]))
        torch.testing.assert_close(shares[rows], logits[rows].softmax(0))


def test_the_weight_of_an_edge_multiplies_its_attention_and_0_leaves_it_out():
    graph = random_graph(weighted=True)
    layer = AttentionLayer(3, 1, 4, seeded())
    weight = graph.edge_weight.clone()
    weight[graph.edge_index.sum(0) % 2 == 0] = 0
    kept = weight > 0
    found = []
    for edge_index, edge_weight in (
        (graph.edge_index, weight),
        (graph.edge_index[:, kept], weight[kept]),
    ):
        some = NodeGraph(graph.x, edge_index, edge_weight=edge_weight)
        found.append(layer(graph.x, attention_edges(NodeViews(some).clean), None))
    torch.testing.assert_close(*found)
    found[0].sum().backward()
    assert all(p.grad.isfinite().all() for p in layer.parameters())


def test_dropout_keeps_the_mean():
    x = torch.ones(400, 50)
    found = dropout(x, 0.2, seeded())
    assert set(found.unique().tolist()) == {0.0, 1.25}
    assert found.mean().item() == pytest.approx(1, abs=0.02)
    assert dropout(x, 0.2, None) is x


# Graphs


def test_a_sum_layer_is_pygs_gin_with_self_loops():
    graph = random_graph()
    layer = SumLayer(3, 5, 4, "batch", "prelu", seeded())
    loops = torch.arange(8).repeat(2, 1)
    mlp = torch.nn.Sequential(layer.first, *layer.between, layer.second)
    expected = GINConv(mlp)(graph.x, torch.cat([graph.edge_index, loops], dim=1))
    edges = Adjacency.from_edges(graph.edge_index, 8)
    torch.testing.assert_close(layer(graph.x, edges), expected)
    some = torch.tensor([6, 1])
    torch.testing.assert_close(layer(graph.x, edges, some), expected[some])


@pytest.mark.parametrize("pooling", ["sum", "mean", "max"])
def test_graphs_are_pooled(pooling):
    nodes = torch.randn(6, 3, generator=seeded())
    parts = nodes[:2], nodes[2:3], nodes[3:]
    expected = {
        "sum": [part.sum(0) for part in parts],
        "mean": [part.mean(0) for part in parts],
        "max": [part.amax(0) for part in parts],
    }[pooling]
    found = pool(nodes, torch.tensor([0, 2, 3, 6]), pooling)
    torch.testing.assert_close(found, torch.stack(expected))


@pytest.mark.parametrize("pooling", ["sum", "mean", "max"])
@pytest.mark.parametrize("norm", ["batch", "layer"])
def test_every_kind_of_network_learns(molecules, pooling, norm):
    model = GraphMAEGraphs(
        epochs=8, width=8, lr=0.01, pooling=pooling, norm=norm, activation="relu", progress=False
    ).fit(molecules)
    assert losses(model)[-1] < losses(model)[0]
    assert np.isfinite(model.transform(molecules)).all()


def test_graphs_without_features_reconstruct_degrees():
    graphs = augcl.load("components").select(range(20))
    bare = GraphSet.from_arrays(
        pairs=graphs.edge_index,
        graph_of_node=graphs.graph_of_node,
        num_graphs=len(graphs),
    )
    model = GraphMAEGraphs(epochs=2, width=8, progress=False).fit(bare)
    assert model.n_features_in_ == graphmae.LARGEST_DEGREE + 1
    assert model.transform(bare).shape == (20, 8)
    nodes = NodeGraph.from_arrays(pairs=torch.tensor([[0, 1], [1, 2]]), num_nodes=4)
    assert GraphMAE(epochs=1, width=8).fit(nodes).n_features_in_ == graphmae.LARGEST_DEGREE + 1


def test_one_node_in_all_is_refused():
    one = GraphSet.from_arrays(
        pairs=torch.empty(2, 0).long(), graph_of_node=torch.zeros(1).long(), num_graphs=1
    )
    with pytest.raises(InputError, match="has one node"):
        GraphMAEGraphs(epochs=1).fit(one)


def test_the_learning_rate_falls_where_it_should():
    nodes = GraphMAE(epochs=10, lr=0.1)
    assert nodes._lr(0) == 0.1
    assert nodes._lr(5) == pytest.approx(0.05)
    still, falls = (GraphMAEGraphs(epochs=10, lr=0.1, cosine=c) for c in (False, True))
    assert still._lr(5) == 0.1
    assert falls._lr(5) == pytest.approx(0.05)


def test_presets_are_as_published():
    cora = get_preset("Cora", GRAPHMAE)
    assert (cora["epochs"], cora["hidden"], cora["replaced"], cora["gamma"]) == (1500, 0.5, 0.05, 3)
    mutag = get_preset("MUTAG", GRAPHMAE_GRAPHS)
    assert (mutag["width"], mutag["layers"], mutag["pooling"]) == (32, 5, "sum")
    nci1, by_sum = (get_preset(name, GRAPHMAE_GRAPHS) for name in ("NCI1", "NCI1/sum"))
    assert {**nci1, "pooling": "sum"} == by_sum
    spec = Spec("MUTAG", "GraphMAEGraphs", hardness="none", epochs=None)
    assert spec.all_epochs == 20
