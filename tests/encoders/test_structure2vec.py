"""structure2vec against dense matrices, one graph at a time."""

import pytest
import torch

from augcl import GraphCL
from augcl.attacks.victim_network import GraphClassifier
from augcl.encoders import Structure2Vec
from augcl.errors import InputError
from references import random_graphs


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def dense(graphs, g):
    one = graphs.select([g])
    matrix = torch.zeros(one.num_nodes, one.num_nodes)
    matrix[one.edge_index[1], one.edge_index[0]] = 1
    return matrix, one.x


def slow(encoder, matrix, x):
    """The equations as they are written, and the graph embedding with its ReLU."""
    m = x @ encoder.first.weight.t() + encoder.first.bias
    mu = torch.relu(m)
    for _ in range(encoder.depth):
        mu = torch.relu((matrix @ mu) @ encoder.shared.weight.t() + encoder.shared.bias + m)
    return mu, torch.relu(mu.sum(0))


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_a_batch_is_its_graphs_one_by_one(depth):
    graphs = random_graphs([5, 9, 1, 7], 0.4, seed=depth)
    encoder = Structure2Vec(3, width=8, depth=depth, generator=seeded())
    torch.nn.init.normal_(encoder.shared.bias, generator=seeded(1))
    network = GraphClassifier(encoder, hidden=4, classes=3, generator=seeded())
    nodes, whole = encoder(graphs.x, graphs.adjacency), network.embed(graphs)
    for g in range(len(graphs)):
        expected, pooled = slow(encoder, *dense(graphs, g))
        start, end = graphs.node_ptr[g : g + 2]
        torch.testing.assert_close(nodes[start:end], expected)
        torch.testing.assert_close(whole[g], pooled)
    torch.testing.assert_close(encoder(graphs.x, graphs.edge_index), nodes)


def test_weights_are_glorot_and_biases_zero():
    encoder = Structure2Vec(2, width=50, generator=seeded())
    bound = (6 / 100) ** 0.5
    assert encoder.shared.weight.abs().max() <= bound
    assert float(encoder.shared.weight.detach().std()) == pytest.approx(bound / 3**0.5, rel=0.05)
    assert not encoder.shared.bias.any()
    assert not encoder.first.bias.any()


@pytest.mark.parametrize("frozen", [False, True])
def test_factors_give_the_gradient_by_every_entry_of_the_adjacency(frozen):
    graphs = random_graphs([5, 8], 0.4, seed=2)
    encoder = Structure2Vec(3, width=6, depth=3, generator=seeded())
    network = GraphClassifier(encoder, hidden=4, classes=3, generator=seeded())
    network.requires_grad_(not frozen)
    targets = torch.tensor([[0, 2], [1, -1]])
    for target, (receiver, sender) in zip(
        targets, network.edge_factors(graphs, targets), strict=True
    ):
        found = sum(r @ s.t() for r, s in zip(receiver, sender, strict=True))
        for g in range(2):
            matrix, x = dense(graphs, g)
            start, end = graphs.node_ptr[g : g + 2]
            block = found[start:end, start:end]
            if target[g] < 0:
                assert not block.any()
                continue
            matrix.requires_grad_()
            _, pooled = slow(encoder, matrix, x)
            loss = -network.head(pooled).log_softmax(0)[target[g]]
            (expected,) = torch.autograd.grad(loss, matrix)
            torch.testing.assert_close(block, expected, rtol=1e-4, atol=1e-5)


def test_graphcl_takes_it_as_an_encoder(molecules):
    encoder = Structure2Vec(7, width=8, depth=2, generator=seeded())
    model = GraphCL(encoder=encoder, epochs=2, lr=0.001).fit(molecules)
    assert model.transform(molecules).shape == (40, 8)


def test_widths_and_depths_below_one_are_refused():
    with pytest.raises(InputError, match="depth is 0"):
        Structure2Vec(1, depth=0)
