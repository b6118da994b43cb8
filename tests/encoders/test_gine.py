"""GINE against PyG's layer and against a loop."""

import pytest
import torch
from torch import nn
from torch_geometric.nn import GINEConv

from augcl.encoders.gine import GINE, FeaturedEdges, GINELayer

GENERATOR = torch.Generator().manual_seed(0)


def random_graph(nodes=30, edges=90, width=5, kinds=3):
    edge_index = torch.randint(nodes, (2, edges), generator=GENERATOR)
    attr = torch.randn(edges, kinds, generator=GENERATOR)
    return torch.randn(nodes, width, generator=GENERATOR), edge_index, attr


def test_messages_are_those_of_pyg():
    x, edge_index, attr = random_graph()
    layer = GINELayer(5, 3, 8, GENERATOR)
    theirs = GINEConv(nn.Sequential(layer.first, nn.ReLU(), layer.second), edge_dim=3)
    theirs.lin.load_state_dict(layer.edge.state_dict())
    edges = FeaturedEdges.from_edges(edge_index, attr, len(x))
    ours = layer.second(torch.relu(layer.first(x + layer.messages(x, edges))))
    torch.testing.assert_close(ours, theirs(x, edge_index, attr), rtol=1e-5, atol=1e-5)


def test_gradients_are_those_of_a_loop():
    x, edge_index, attr = random_graph(nodes=6, edges=12, width=4)
    layer = GINELayer(4, 3, 8, GENERATOR)
    x.requires_grad_()
    edges = FeaturedEdges.from_edges(edge_index, attr, len(x))
    ours = torch.autograd.grad(
        layer.messages(x, edges).square().sum(), [x, layer.edge.weight, layer.edge.bias]
    )
    sums = [torch.zeros(4) for _ in range(6)]
    for (u, v), e in zip(edge_index.t().tolist(), attr, strict=True):
        sums[v] = sums[v] + torch.relu(x[u] + layer.edge(e))
    slow = torch.autograd.grad(
        torch.stack(sums).square().sum(), [x, layer.edge.weight, layer.edge.bias]
    )
    for one, other in zip(ours, slow, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("training", [True, False])
def test_a_graph_of_one_node_and_one_without_edges(training):
    gine = GINE(2, 3, width=4, layers=2, generator=GENERATOR).train(training)
    none = torch.zeros(2, 0).long(), torch.zeros(0, 3)
    for nodes in (1, 3):
        edges = FeaturedEdges.from_edges(*none, nodes)
        assert gine(torch.ones(nodes, 2), edges).isfinite().all()
