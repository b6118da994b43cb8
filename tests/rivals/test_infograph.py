import math

import pytest
import torch
from torch import nn

from augcl import InfoGraph, MVGRLGraphs
from augcl.encoders import inputs
from augcl.encoders.heads import discriminator
from augcl.errors import InputError
from augcl.rivals.infograph import jensen_shannon, own_graph, prior_matching
from augcl.training.batches import batch_statistics
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
    nodes = network.encoder(molecules.x, molecules.edge_index, molecules.edge_attr)
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


def slow(scores, positive):
    """The sums as they are written, pair by pair; what is masked is not in the sum."""
    gained, lost = [], []
    for row, kinds in zip(scores.tolist(), positive.tolist(), strict=True):
        for t, together in zip(row, kinds, strict=True):
            if together:
                gained.append(math.log(2) - math.log1p(math.exp(-t)))
            else:
                lost.append(math.log1p(math.exp(t)) - math.log(2))
    return sum(lost) / len(lost) - sum(gained) / len(gained)


@pytest.fixture
def scored():
    """Scores of 7 nodes in 3 graphs, and which graph each is in."""
    scores = torch.randn(7, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    graph = torch.tensor([0, 0, 0, 1, 1, 2, 2])
    return 3 * scores, graph[:, None] == torch.arange(3)


def test_it_is_the_sum_over_all_pairs(scored):
    assert jensen_shannon(*scored).item() == pytest.approx(slow(*scored))
    single = jensen_shannon(scored[0].float(), scored[1])
    assert single.item() == pytest.approx(slow(*scored), rel=1e-5)


def test_a_masked_score_contributes_nothing_to_the_other_term(scored):
    scores, positive = scored
    gain = math.log(2) - torch.nn.functional.softplus(-scores[positive]).mean()
    for masked in (0.0, 1e4):
        changed = scores.masked_fill(~positive, masked)
        loss = jensen_shannon(changed, positive)
        lost = torch.nn.functional.softplus(changed[~positive]).mean() - math.log(2)
        assert loss.item() == pytest.approx((lost - gain).item())


def test_scores_of_zero_give_zero_and_perfect_ones_the_least(scored):
    _, positive = scored
    assert jensen_shannon(torch.zeros(7, 3), positive).item() == pytest.approx(0, abs=1e-7)
    perfect = torch.where(positive, 100.0, -100.0)
    assert jensen_shannon(perfect, positive).item() == pytest.approx(-2 * math.log(2))


def test_gradients_are_right(scored):
    scores, positive = scored
    scores.requires_grad_()
    assert torch.autograd.gradcheck(lambda s: jensen_shannon(s, positive), (scores,))


@pytest.mark.parametrize("size", [1e10, 1e30, -1e30])
def test_huge_scores_stay_finite(scored, size):
    _, positive = scored
    scores = torch.full((7, 3), size, requires_grad=True)
    loss = jensen_shannon(scores, positive)
    loss.backward()
    assert loss.isfinite()
    assert scores.grad.isfinite().all()


@pytest.mark.parametrize("kind", [True, False])
def test_nothing_to_tell_apart_gives_zero(kind):
    scores = torch.ones(4, 1, requires_grad=True)
    loss = jensen_shannon(scores, torch.full((4, 1), kind))
    loss.backward()
    assert loss.item() == 0
    assert not scores.grad.any()


def test_other_shapes_are_named():
    with pytest.raises(InputError, match=r"the same shape, got \(2, 2\) and \(2,\)"):
        jensen_shannon(torch.zeros(2, 2), torch.ones(2, dtype=torch.bool))


def test_the_loss_with_a_prior_is_that_without_and_the_weighted_prior(molecules):
    model = InfoGraph(prior=0.3, **QUICK).fit(molecules)
    assert losses(model) != losses(InfoGraph(prior=0.1, **QUICK).fit(molecules))
    network = model.network_.train()
    found = model._loss(molecules, generator(4))
    with batch_statistics(network):
        scores, z = network(*inputs(network.encoder, molecules))
    noise = torch.rand(z.shape, generator=generator(4))
    real, fake = (network.discriminator(part).sigmoid() for part in (noise, z))
    prior = -(real.log().mean() + (1 - fake).log().mean())
    expected = jensen_shannon(scores, own_graph(molecules)) + 0.3 * prior
    assert found.item() == pytest.approx(expected.item(), rel=1e-4)
