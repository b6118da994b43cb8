import pytest
import torch
from torch import nn

from augcl.encoders import GIN
from augcl.encoders.heads import FeedForward, ManyHeads, discriminator, glorot_linear, output_basis
from augcl.errors import InputError
from augcl.ops.csr import propagate
from augcl.rivals.mvgrl import PropagationNetwork
from augcl.rivals.simgrace import perturbed


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
    with pytest.raises(InputError, match="layers is 0"):
        PropagationNetwork(7, propagate, width=4, layers=0, generator=generator())


def narrow_head(hidden, outputs, *, seed=0):
    """4 → hidden → outputs, in double precision, with a bias that matters."""
    draw = generator(seed)
    last = glorot_linear(hidden, outputs, draw)
    nn.init.normal_(last.bias, generator=draw)
    return nn.Sequential(glorot_linear(4, hidden, draw), nn.ELU(), last).double()


@pytest.mark.parametrize(("hidden", "fills"), [(2, 3), (3, 4), (6, 7)])
def test_a_basis_keeps_all_products_of_what_a_narrow_head_gives_and_their_gradients(hidden, fills):
    head, rows = narrow_head(hidden, 9), torch.randn(6, 4, generator=generator(1)).double()
    basis = output_basis(head)
    assert basis.shape == (9, fills)
    assert not basis.requires_grad
    factors = torch.randn(6, 6, generator=generator(2)).double()
    gradients = []
    for z in (head(rows), head(rows) @ basis):
        products = z @ z.T
        gradients.append(torch.autograd.grad((products.exp() * factors).sum(), head.parameters()))
    torch.testing.assert_close(products, head(rows) @ head(rows).T)
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("hidden", [8, 9, 12])
def test_a_head_that_fills_its_output_has_no_smaller_basis(hidden):
    assert output_basis(narrow_head(hidden, 9)) is None
    assert output_basis(nn.Sequential(*narrow_head(2, 9), nn.ReLU())) is None


def test_a_basis_also_covers_a_last_layer_of_low_rank(rows):
    head = narrow_head(3, 9)
    with torch.no_grad():
        head[-1].weight[:, 1:] = head[-1].weight[:, :1]
        head[-1].bias.zero_()
    z = head(rows.double())
    torch.testing.assert_close(z @ output_basis(head) @ output_basis(head).T, z)
