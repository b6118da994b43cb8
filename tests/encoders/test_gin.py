import copy

import pytest
import torch

import references
from augcl.encoders import GIN, ContrastiveNetwork, inputs, pool, projector
from augcl.encoders.gin import GINLayer
from augcl.encoders.heads import glorot_linear
from augcl.errors import InputError
from augcl.ops.csr import Adjacency
from benchmarks import textbook


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def graphs():
    return references.random_graphs([1, 12, 30, 5], 0.3, 0)


def make_gin(in_features=3, **options):
    return GIN(in_features, generator=generator(), **options)


@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
@pytest.mark.parametrize(("width", "layers"), [(8, 1), (8, 3), (2, 2)])
def test_gin_is_gather_scatter_mlp_and_batch_norm(graphs, width, layers, training):
    network = make_gin(width=width, layers=layers).double()
    for norm in (
        layer.norm for layer in network.layers
    ):  # running averages and scales that are not 0 and 1
        for values in (norm.running_mean, norm.running_var, norm.weight.data, norm.bias.data):
            values.uniform_(0.5, 2, generator=generator())
    network.train(training)
    x = graphs.x.double()
    expected = references.gin(network, x, graphs.edge_index, training=training)
    assert network(x, graphs.edge_index).allclose(expected)
    assert network(x, graphs.adjacency).allclose(expected)


def test_gin_with_the_textbook_weights_gives_the_textbook_embedding(mutag):
    batch = mutag.select(range(20))
    slow = textbook.Encoder(7, width=8, layers=2)
    fast = make_gin(7, width=8, layers=2)
    for mlp, layer in zip(slow.mlps, fast.layers, strict=True):
        layer.first.load_state_dict(mlp[0].state_dict())
        layer.second.load_state_dict(mlp[2].state_dict())
    network = ContrastiveNetwork(fast, slow.head)
    expected = slow.embed(batch.x, batch.edge_index, batch.graph_of_node)
    assert network.embed(batch).allclose(expected, atol=1e-3, rtol=1e-4)
    slow.eval()
    network.eval()
    collated = [textbook.Graph(g.x, g.edge_index) for g in batch]
    assert network(*inputs(fast, batch)).allclose(slow(collated), atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("inputs_", [3, 4, 8], ids="{}→4".format)
def test_the_fused_layer_has_the_values_gradients_and_averages_of_the_pieces(graphs, inputs_):
    edges = torch.cat([graphs.edge_index, torch.tensor([[0, 2, 2], [1, 3, 3]])], dim=1)  # directed
    adjacency = Adjacency.from_edges(edges, graphs.num_nodes)
    layer = GINLayer(inputs_, 4, generator()).double()
    for values in (layer.first.bias, layer.second.bias, layer.norm.weight, layer.norm.bias):
        values.data.uniform_(0.5, 2, generator=generator())
    pieces = copy.deepcopy(layer)
    x = torch.randn(graphs.num_nodes, inputs_, dtype=torch.float64, generator=generator())
    x, x_too = x.clone().requires_grad_(), x.clone().requires_grad_()
    upstream = torch.randn(graphs.num_nodes, 4, dtype=torch.float64, generator=generator(1))
    hidden = pieces.first(x_too + adjacency.sum_neighbours(x_too)).relu()
    expected = pieces.norm(pieces.second(hidden).relu())
    expected.backward(upstream)
    out = layer(x, adjacency)
    out.backward(upstream)
    assert out.allclose(expected)
    assert x.grad.allclose(x_too.grad)
    for one, other in zip(layer.parameters(), pieces.parameters(), strict=True):
        assert one.grad.allclose(other.grad)
    assert layer.norm.running_mean.allclose(pieces.norm.running_mean)
    assert layer.norm.running_var.allclose(pieces.norm.running_var)


def test_gradients_reach_features_and_every_weight(graphs):
    network = make_gin(width=4, layers=2).double()
    x = graphs.x[:8].double().requires_grad_()
    edges = torch.tensor([[0, 1, 2, 3, 3, 5], [1, 0, 3, 2, 4, 6]])
    assert torch.autograd.gradcheck(lambda x: network(x, edges), (x,))
    network(x, edges).square().sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in network.parameters())


def test_one_node_in_training_mode_is_finite():
    network = make_gin(width=4).train()
    before = copy.deepcopy(network.state_dict())
    out = network(torch.ones(1, 3), torch.empty(2, 0, dtype=torch.long))
    assert out.isfinite().all()
    assert all(value.equal(before[name]) for name, value in network.state_dict().items())


def test_same_generator_same_weights_and_another_seed_others():
    one, again = make_gin(), make_gin()
    other = GIN(3, generator=generator(1))
    assert all(a.equal(b) for a, b in zip(one.parameters(), again.parameters(), strict=True))
    assert not one.layers[0].first.weight.equal(other.layers[0].first.weight)


def test_building_and_running_networks_leaves_the_global_random_state_alone(graphs):
    before = torch.random.get_rng_state()
    encoder = make_gin()
    network = ContrastiveNetwork(encoder, projector(96, generator()))
    GIN(3)
    network(*inputs(encoder, graphs))
    assert torch.random.get_rng_state().equal(before)


def test_linear_layers_are_glorot_uniform_without_bias():
    layer = glorot_linear(300, 100, generator())
    bound = (6 / 400) ** 0.5
    assert layer.weight.abs().max() <= bound
    assert layer.weight.std().item() == pytest.approx(bound / 3**0.5, rel=0.02)
    assert not layer.bias.any()


def test_pooling_is_the_sum_or_mean_over_each_graph_or_both(graphs):
    parts = graphs.x.split(graphs.node_ptr.diff().tolist())
    total = torch.stack([part.sum(0) for part in parts])
    mean = torch.stack([part.mean(0) for part in parts])
    assert pool(graphs.x, graphs.node_ptr, "sum").allclose(total, atol=1e-6)
    assert pool(graphs.x, graphs.node_ptr, "mean").allclose(mean, atol=1e-6)
    both = torch.cat([total, mean], dim=1)
    assert pool(graphs.x, graphs.node_ptr, "both").allclose(both, atol=1e-6)


def test_an_encoder_that_does_not_give_one_row_per_node_is_named(graphs):
    with pytest.raises(InputError, match="one row per node"):
        pool(graphs.x[:-1], graphs.node_ptr, "sum")
    with pytest.raises(InputError, match="one row per node"):
        pool(graphs.x[:, 0], graphs.node_ptr, "sum")


def test_embeddings_of_a_graph_do_not_depend_on_the_batch_in_evaluation(graphs):
    network = ContrastiveNetwork(make_gin(), projector(96, generator())).eval()
    together = network.embed(graphs)
    alone = torch.cat([network.embed(graphs.select([g])) for g in range(len(graphs))])
    assert together.allclose(alone, atol=1e-5)


@pytest.mark.parametrize("option", ["width", "layers"])
def test_a_network_without_units_is_refused(option):
    with pytest.raises(InputError, match=f"{option} is 0: it must be a whole number, 1 or more"):
        GIN(3, **{option: 0})
