import torch
from torch import nn
from torch_geometric.nn import GCNConv

from augcl.data import NodeGraph
from augcl.data.sparse import compact
from augcl.encoders.gcn import GCN, NodeNetwork
from augcl.views.nodes import NodeViews

PAIRS = torch.tensor([[0, 1, 2], [1, 2, 3]])


def seeded():
    return torch.Generator().manual_seed(0)


def views(x):
    return NodeViews(NodeGraph.from_arrays(pairs=PAIRS, num_nodes=5, x=x))


def test_it_is_two_convolutions_of_pyg():
    x = torch.rand(5, 4, generator=seeded())
    ours = GCN(4, width=3, activation="rrelu", generator=seeded())
    first, second = GCNConv(4, 6), GCNConv(6, 3)
    for theirs, mine in ((first, ours.first), (second, ours.second)):
        theirs.lin.weight.data.copy_(mine.weight.data)
    act = nn.LeakyReLU(11 / 48)
    view = views(x).clean
    expected = act(second(act(first(x, view.edge_index)), view.edge_index))
    assert torch.allclose(ours(view), expected, atol=1e-6)


def test_sparse_features_give_the_same():
    x = torch.zeros(5, 200)
    x[torch.arange(5), torch.arange(5) * 30] = 1.0
    gcn = GCN(200, width=3, generator=seeded())
    sparse = views(compact(x)).clean
    assert torch.allclose(gcn(sparse), gcn(views(x).clean), atol=1e-6)


def test_prelu_has_one_slope_for_both_layers():
    gcn = GCN(4, width=3, activation="prelu")
    slopes = [p for p in gcn.parameters() if p.numel() == 1]
    assert len(slopes) == 1
    assert slopes[0].item() == 0.25


def test_an_encoder_of_pyg_sees_the_masked_features():
    x = torch.rand(5, 4, generator=seeded())
    columns = torch.tensor([True, False, True, True])
    network = NodeNetwork(GCNConv(4, 3), nn.Identity())
    view = views(x).view(columns=columns)
    assert torch.allclose(network(view), network.encoder(x * columns, view.edge_index))
