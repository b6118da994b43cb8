import pytest
import torch
from torch import nn

from augcl.encoders import GIN
from augcl.encoders.heads import FeedForward, ManyHeads, discriminator
from augcl.encoders.perturbed import perturbed
from augcl.encoders.propagation import PropagationNetwork
from augcl.errors import InputError
from augcl.ops.gcn import propagate


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def rows():
    return torch.randn(6, 4, generator=generator(1))


def test_a_feed_forward_head_is_three_activated_layers_and_a_shortcut(rows):
    head = FeedForward(4, 5, generator())
    linear = [part for part in head.layers if isinstance(part, nn.Linear)]
    assert len(linear) == 3
    hidden = rows
    for part in linear:
        hidden = torch.relu(hidden @ part.weight.T + part.bias)
    shortcut = rows @ head.shortcut.weight.T + head.shortcut.bias
    assert head(rows).allclose(hidden + shortcut, atol=1e-6)


def test_every_row_goes_through_the_head_it_names(rows):
    heads = ManyHeads(3, 4, generator())
    which = torch.tensor([2, 0, 2, 1, 0, 2])
    out = heads(rows, which)
    for row, number, found in zip(rows, which.tolist(), out, strict=True):
        assert heads.heads[number](row).allclose(found, atol=1e-6)


def test_only_heads_that_were_named_get_gradients(rows):
    heads = ManyHeads(3, 4, generator())
    heads(rows, torch.tensor([2, 0, 2, 2, 0, 2])).square().sum().backward()
    moved = [any(bool(p.grad.any()) for p in head.parameters()) for head in heads.heads]
    assert moved == [True, False, True]


def test_a_discriminator_gives_one_logit_a_row(rows):
    assert discriminator(4, generator())(rows).shape == (6, 1)


# Perturbed weights


def test_weights_move_by_eta_times_their_own_spread():
    layer = nn.Linear(300, 200)
    moved = perturbed(layer, 0.5, generator()).weight - layer.weight
    assert moved.std().item() == pytest.approx(0.5 * layer.weight.std().item(), rel=0.02)
    assert abs(moved.mean().item()) < 0.01 * moved.std().item() + 1e-4


def test_tensors_whose_entries_are_alike_stay_as_they_are():
    network = GIN(3, width=4, layers=1, generator=generator())
    other = perturbed(network, 10.0, generator())
    for name, theta in network.named_parameters():
        same = theta.equal(other.get_parameter(name))
        assert same == (theta.numel() == 1 or bool((theta == theta.flatten()[0]).all())), name
    assert perturbed(nn.PReLU(), 1.0, generator()).weight.item() == 0.25


def test_the_network_itself_is_not_touched():
    network = GIN(3, width=4, layers=2, generator=generator())
    before = {name: value.clone() for name, value in network.state_dict().items()}
    edges = torch.tensor([[0, 1], [1, 0]])
    perturbed(network, 1.0, generator())(torch.randn(2, 3, generator=generator()), edges)
    assert all(value.equal(before[name]) for name, value in network.state_dict().items())
    assert all(p.requires_grad for p in network.parameters())


# Networks around a way to mix


def test_layers_mix_transform_and_activate(mutag):
    batch = mutag.select(range(5))
    network = PropagationNetwork(7, propagate, width=4, layers=3, generator=generator())
    x, outputs = batch.x, network(batch.x, batch.adjacency)
    assert len(outputs) == 3
    for layer, found in zip(network.layers, outputs, strict=True):
        x = layer.linear(propagate(x, batch.adjacency))
        x = torch.where(x > 0, x, 0.25 * x)
        assert found.allclose(x, atol=1e-5)


def test_every_layer_is_trained():
    network = PropagationNetwork(7, lambda x, _: x, width=4, layers=3, generator=generator())
    assert len(list(network.parameters())) == 3 * 3
    with pytest.raises(InputError, match="both must be 1 or more"):
        PropagationNetwork(7, propagate, width=4, layers=0, generator=generator())
