import pytest
import torch
from torch import nn

from augcl import InfoGraph, MVGRLGraphs
from augcl.encoders import inputs
from augcl.encoders.heads import discriminator
from augcl.rivals.infograph import own_graph, prior_matching
from quick_nodes import losses

QUICK = {"epochs": 3, "width": 8, "layers": 2}


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_own_graph_marks_one_graph_a_node(molecules):
    own = own_graph(molecules)
    assert own.shape == (molecules.num_nodes, 40)
    assert own.sum(0).equal(molecules.node_ptr.diff())
    assert own.int().argmax(1).equal(molecules.graph_of_node)


def test_scores_are_products_of_nodes_and_sums_over_nodes(molecules):
    network = InfoGraph(**QUICK).fit(molecules).network_.eval()
    scores, graphs = network(*inputs(network.encoder, molecules))
    nodes = network.encoder(molecules.x, molecules.edge_index)
    third = nodes[molecules.graph_of_node == 3]
    assert graphs[3].allclose(third.sum(0), rtol=1e-4, atol=1e-4)
    expected = network.of_nodes(nodes[7]) @ network.projector(third.sum(0))
    assert scores[7, 3].item() == pytest.approx(expected.item(), rel=1e-3)
    assert network.embed(molecules).allclose(graphs, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", [InfoGraph, MVGRLGraphs])
def test_training_raises_the_mutual_information(mutag, kind):
    found = losses(kind(epochs=10, width=16, lr=0.01).fit(mutag))
    assert min(found) == found[-1] < 0.2 * found[0]


# Matching a prior


def test_prior_matching_is_the_cross_entropy_of_the_discriminator():
    judge = discriminator(4, generator())
    z, noise = torch.randn(2, 6, 4, generator=generator(1))
    real, fake = torch.sigmoid(judge(noise)), torch.sigmoid(judge(z))
    expected = -(real.log().mean() + (1 - fake).log().mean())
    assert prior_matching(judge, z, noise).item() == pytest.approx(expected.item(), rel=1e-5)


def test_the_discriminator_lowers_it_and_the_embeddings_raise_it():
    judge = discriminator(4, generator())
    z, noise = torch.randn(2, 6, 4, generator=generator(1))
    z.requires_grad_()
    loss = prior_matching(judge, z, noise)
    loss.backward()
    with torch.no_grad():
        for theta in judge.parameters():
            theta -= 1e-3 * theta.grad
        lower = prior_matching(judge, z, noise)
        raised = prior_matching(judge, z - 1e-3 * z.grad, noise)
    assert lower < loss
    assert raised > lower


def test_the_prior_is_off_by_default(molecules):
    plain, matched = (InfoGraph(prior=prior, **QUICK).fit(molecules) for prior in (0.0, 0.1))
    assert plain.network_.discriminator is None
    assert isinstance(matched.network_.discriminator, nn.Module)
    assert losses(plain) != losses(matched)


# Two views


def test_nodes_of_either_view_meet_the_graphs_of_the_other(molecules):
    network = MVGRLGraphs(**QUICK).fit(molecules).network_
    x, edges, ptr = molecules.x, molecules.adjacency, molecules.node_ptr
    one, other = network(x, edges, ptr)
    by_edges, by_diffusion = network.of_edges(x, edges), network.of_diffusion(x, edges)

    def graph(view, g):
        inside = slice(int(ptr[g]), int(ptr[g + 1]))
        return network.of_graphs(torch.cat([layer[inside].sum(0) for layer in view]))

    for found, nodes, graphs in ((one, by_edges, by_diffusion), (other, by_diffusion, by_edges)):
        expected = network.of_nodes(nodes[-1][5]) @ graph(graphs, 9)
        assert found[5, 9].item() == pytest.approx(expected.item(), rel=1e-3, abs=1e-4)
    embedded = network.embed(molecules)[9]
    both = graph(by_edges, 9) + graph(by_diffusion, 9)
    assert embedded.allclose(both, rtol=1e-3, atol=1e-4)
