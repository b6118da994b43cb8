import math

import pytest
import torch
from torch.nn.functional import binary_cross_entropy_with_logits

import references
from augcl.rivals.convolution import BilinearDiscriminator, Convolution, discrimination, shuffled
from augcl.rivals.gmi import other_nodes
from augcl.views.nodes import NodeViews


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def test_a_score_is_the_bilinear_form():
    judge = BilinearDiscriminator(3, 2, seeded())
    judge.bias.data.fill_(0.5)
    left, right = torch.randn(4, 3, generator=seeded(1)), torch.randn(4, 2, generator=seeded(2))
    expected = [(u @ judge.weight @ v + 0.5).item() for u, v in zip(left, right, strict=True)]
    torch.testing.assert_close(judge(left, right), torch.tensor(expected))
    torch.testing.assert_close(judge(left, right[0])[0], torch.tensor(expected[0]))


def test_no_node_is_its_own_negative_and_all_others_are_drawn():
    drawn = other_nodes(5, 400, seeded())
    for node, others in enumerate(drawn):
        assert set(others.tolist()) == set(range(5)) - {node}
    assert drawn.equal(other_nodes(5, 400, seeded()))


def test_shuffled_features_may_be_mapped_before_or_after():
    x, w = torch.randn(6, 4, generator=seeded()), torch.randn(4, 2, generator=seeded(1))
    torch.testing.assert_close(shuffled(x, seeded(2)) @ w, shuffled(x @ w, seeded(2)))
    assert not shuffled(x, seeded(2)).equal(x)


def test_a_convolution_is_the_formula():
    graph = references.communities(30)
    view = NodeViews(graph).clean
    layer = Convolution(24, 5, seeded(), activation="relu")
    layer.bias.data.fill_(-0.1)
    a = torch.eye(30)
    a[graph.edge_index[0], graph.edge_index[1]] = 1
    root = a.sum(1).rsqrt()
    mixing = root[:, None] * a * root
    expected = torch.relu(mixing @ graph.x @ layer.weight - 0.1)
    torch.testing.assert_close(layer(view, view.edges), expected)
    torch.testing.assert_close(layer(graph.x, view.edges), expected)


def test_it_is_binary_cross_entropy_of_the_logits():
    true, false = torch.randn(2, 7, generator=torch.Generator().manual_seed(0))
    expected = binary_cross_entropy_with_logits(
        torch.cat([true, false]), torch.cat([torch.ones(7), torch.zeros(7)])
    )
    torch.testing.assert_close(discrimination(true, false), expected)


def test_as_many_false_scores_as_one_likes_count_as_the_true_ones():
    found = discrimination(torch.tensor([2.0]), torch.tensor([1.0, -1.0]))
    false = (math.log1p(math.e) + math.log1p(1 / math.e)) / 2
    assert found.item() == pytest.approx((math.log1p(math.exp(-2)) + false) / 2)


def test_huge_scores_stay_finite():
    assert discrimination(torch.tensor([-1e30]), torch.tensor([1e30])).isfinite()
