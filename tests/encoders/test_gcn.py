import pytest
import torch
from torch import nn
from torch_geometric.nn import GCNConv

from augcl.data import NodeGraph
from augcl.data.sparse import compact
from augcl.encoders.gcn import GCN, NodeNetwork
from augcl.errors import InputError
from augcl.ops.csr import SparseMatrix
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


@pytest.mark.parametrize("norm", ["batch", "layer"])
def test_a_norm_stands_between_layer_and_activation(norm):
    x = torch.rand(5, 4, generator=seeded())
    gcn = GCN(4, width=3, activation="prelu", norm=norm, generator=seeded())
    axis = 0 if norm == "batch" else 1
    dense = torch.eye(5)
    dense[views(x).edge_index[0], views(x).edge_index[1]] = 1.0
    root = dense.sum(1).rsqrt()
    mixing = root[:, None] * dense * root
    h = x
    for layer in (gcn.first, gcn.second):
        h = mixing @ (h @ layer.weight.t()) + layer.bias
        h = (h - h.mean(axis, keepdim=True)) / (h.var(axis, False, keepdim=True) + 1e-5).sqrt()
        h = torch.where(h > 0, h, 0.25 * h)
    torch.testing.assert_close(gcn(views(x).clean), h, atol=1e-5, rtol=1e-4)
    assert sum(p.numel() == 1 for p in gcn.parameters()) == 2  # a slope for each layer


def test_an_encoder_of_pyg_sees_the_masked_features():
    x = torch.rand(5, 4, generator=seeded())
    columns = torch.tensor([True, False, True, True])
    network = NodeNetwork(GCNConv(4, 3), nn.Identity())
    view = views(x).view(columns=columns)
    assert torch.allclose(network(view), network.encoder(x * columns, view.edge_index))


@pytest.mark.parametrize("sparse", [False, True])
def test_masking_columns_is_zeroing_them(sparse):
    x = torch.zeros(5, 200)
    x[torch.arange(5), torch.arange(5) * 30] = 1.0
    columns = torch.arange(200) % 60 != 0
    gcn = GCN(200, width=3, generator=seeded())
    masked = views(compact(x)) if sparse else NodeViews(NodeGraph(x, views(x).edge_index))
    assert isinstance(masked.features, SparseMatrix) == sparse
    zeroed = NodeViews(NodeGraph(x * columns, masked.edge_index))
    one, other = gcn(masked.view(columns=columns)), gcn(zeroed.clean)
    assert torch.allclose(one, other, atol=1e-6)
    gradients = (torch.autograd.grad(z.square().sum(), gcn.first.weight)[0] for z in (one, other))
    assert torch.allclose(*gradients, atol=1e-6)
    assert not torch.allclose(one, gcn(masked.clean), atol=1e-3)


def test_rrelu_is_leaky_and_not_random():
    gcn = GCN(4, activation="rrelu", generator=seeded())
    assert gcn.after[0](torch.tensor([-48.0, 2.0])).tolist() == pytest.approx([-11, 2])
    view = views(torch.rand(5, 4, generator=seeded())).clean
    assert gcn.train()(view).equal(gcn.eval()(view))


def test_an_unknown_activation_is_told():
    with pytest.raises(InputError, match="choose from relu, prelu, rrelu"):
        GCN(4, activation="gelu")


def test_weights_are_drawn_from_the_generator_alone():
    one, again = (GCN(4, width=3, generator=seeded()) for _ in range(2))
    assert all(a.equal(b) for a, b in zip(one.parameters(), again.parameters(), strict=True))


@pytest.mark.parametrize("dropped", [False, True])
def test_weighted_edges_are_those_of_pyg(dropped):
    weight = torch.tensor([0.2, 3.0, 0.0])
    x = torch.rand(5, 4, generator=seeded())
    every = NodeViews(NodeGraph.from_arrays(pairs=PAIRS, num_nodes=5, x=x, edge_weight=weight))
    kept = torch.tensor([True, True, False, True, True, False])
    view = every.view(edges=kept) if dropped else every.clean
    ours = GCN(4, width=3, activation="relu", generator=seeded())
    first, second = GCNConv(4, 6), GCNConv(6, 3)
    for theirs, mine in ((first, ours.first), (second, ours.second)):
        theirs.lin.weight.data.copy_(mine.weight.data)
    edges = (view.edge_index, view.edge_weight)
    expected = torch.relu(second(torch.relu(first(x, *edges)), *edges))
    torch.testing.assert_close(ours(view), expected, rtol=1e-5, atol=1e-5)
    assert view.edge_weight is not None
    ours(view).square().sum().backward()
    expected.square().sum().backward()
    for theirs, mine in ((first, ours.first), (second, ours.second)):
        torch.testing.assert_close(mine.weight.grad, theirs.lin.weight.grad, rtol=1e-4, atol=1e-5)
