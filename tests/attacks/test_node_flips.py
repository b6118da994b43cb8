"""Evasion at node level: gradients against dense matrices, budgets, and that it hurts."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from augcl import GCA, InputError
from augcl.attacks import NodeGradientFlips, NodeRandomFlips, NodeVictim
from augcl.attacks.node_flips import Copies
from augcl.data.node_graph import NodeGraph
from augcl.encoders.gcn import GCN
from quick_nodes import quick
from references import communities

GRAPH = communities(90, seed=1)
TARGETS = np.arange(60, 90)


@pytest.fixture(scope="module")
def victim():
    method = quick(GCA, epochs=40, width=16, activation="rrelu", norm="none").fit(GRAPH)
    return NodeVictim(method).fit(GRAPH, np.arange(60))


def dense(graph):
    matrix = torch.zeros(graph.num_nodes, graph.num_nodes)
    matrix[tuple(graph.edge_index)] = 1
    return matrix


def slow_logits(victim, matrix):
    """The network with a dense adjacency, all nodes."""
    encoder: GCN = victim.encoder
    x = victim.method.read(GRAPH).x
    x = x.to_dense() if x.layout != torch.strided else x
    whole = matrix + torch.eye(len(matrix))
    root = whole.sum(1).rsqrt()
    mixing = root[:, None] * whole * root
    h = encoder.after[0](mixing @ (x @ encoder.first.weight.t()) + encoder.first.bias)
    h = encoder.after[-1](mixing @ (h @ encoder.second.weight.t()) + encoder.second.bias)
    return h @ victim.weight.t() + victim.bias


def flipped(matrix, target, partners):
    out = matrix.clone()
    for v in partners:
        if v >= 0:
            out[target, v] = out[v, target] = 1 - out[target, v]
    return out


def test_predictions_are_those_of_each_changed_graph(victim):
    partners = torch.randint(0, 60, (30, 2), generator=torch.Generator().manual_seed(0))
    partners[3, 1] = -1
    partners[partners[:, 0] == partners[:, 1], 1] = -1
    with torch.no_grad():
        expected = [
            int(slow_logits(victim, flipped(dense(GRAPH), t, p.tolist()))[t].argmax())
            for t, p in zip(TARGETS, partners, strict=True)
        ]
    assert victim.predict(GRAPH, TARGETS, partners).tolist() == expected


def test_clean_predictions_are_the_regressions_own(victim):
    with torch.no_grad():
        expected = slow_logits(victim, dense(GRAPH)).argmax(1)[TARGETS]
    assert victim.predict(GRAPH, TARGETS).tolist() == expected.tolist()


@pytest.mark.parametrize("partners", [torch.empty(30, 0).long(), torch.arange(30)[:, None]])
def test_slopes_are_the_gradient_by_both_entries_of_an_edge(victim, partners):
    slopes = victim.slopes(GRAPH, TARGETS, partners)
    for row in (0, 7, 29):
        target = int(TARGETS[row])
        matrix = flipped(dense(GRAPH), target, partners[row].tolist()).requires_grad_()
        loss = torch.nn.functional.cross_entropy(
            slow_logits(victim, matrix)[[target]], GRAPH.y[[target]]
        )
        (slope,) = torch.autograd.grad(loss, matrix)
        # The dense network counts degrees by rows: a symmetric change moves both.
        expected = slope[target] + slope[:, target]
        others = torch.arange(90) != target
        torch.testing.assert_close(slopes[row][others], expected[others], rtol=1e-3, atol=1e-5)


def test_copies_change_the_edges_of_their_own_target_only():
    copies = Copies.of(GRAPH, torch.tensor([3, 5]), torch.tensor([[4, -1], [6, 7]]))
    matrix = dense(GRAPH)
    for b, (target, partners) in enumerate([(3, [4]), (5, [6, 7])]):
        one = copies.union.select([b])
        expected = flipped(matrix, target, partners)
        assert torch.equal(dense(NodeGraph(one.x, one.edge_index)), expected)


@pytest.mark.parametrize("kind", [NodeRandomFlips, NodeGradientFlips])
@pytest.mark.parametrize("changes", ["add", "delete", "both"])
def test_changes_are_within_the_budget_and_of_the_wanted_kind(victim, kind, changes):
    result = kind(budget=3, changes=changes).attack(victim, GRAPH, TARGETS)
    matrix = dense(GRAPH)
    assert result.partners.shape == (30, 3)
    for target, partners in zip(TARGETS, result.partners.tolist(), strict=True):
        real = [v for v in partners if v >= 0]
        assert len(set(real)) == len(real)
        assert target not in real
        joined = [bool(matrix[target, v]) for v in real]
        if changes != "both":
            assert all(j == (changes == "delete") for j in joined)
        assert flipped(matrix, target, real)[target].sum() >= 1


def test_gradients_hurt_more_than_chance(victim):
    random = NodeRandomFlips(budget=3).attack(victim, GRAPH, TARGETS)
    steep = NodeGradientFlips(budget=3).attack(victim, GRAPH, TARGETS)
    assert steep.clean == random.clean
    assert steep.clean > 0.8
    assert steep.attacked < random.attacked
    assert steep.attacked < steep.clean - 0.2


def test_a_mask_and_numbers_mean_the_same(victim):
    mask = np.zeros(90, dtype=bool)
    mask[TARGETS] = True
    one, two = (NodeGradientFlips().attack(victim, GRAPH, t) for t in (mask, TARGETS))
    assert torch.equal(one.partners, two.partners)


def test_two_classes_are_no_special_case():
    y = (GRAPH.y > 0).long()
    graph = NodeGraph(GRAPH.x, GRAPH.edge_index, y=y)
    victim = NodeVictim(quick(GCA, epochs=5).fit(graph)).fit(graph, range(60))
    assert set(victim.predict(graph, range(90))) <= {0, 1}
    assert NodeGradientFlips().attack(victim, graph, [70]).partners.shape == (1, 1)


@pytest.mark.parametrize("kind", [NodeRandomFlips, NodeGradientFlips])
def test_targets_need_a_class_that_the_victim_knows(victim, kind):
    unlabelled = communities(90, seed=1, labels=False)
    with pytest.raises(InputError, match="no labels"):
        kind().attack(victim, unlabelled, TARGETS)
    for missing in GRAPH.y.unique().tolist():
        known = np.flatnonzero(GRAPH.y.numpy()[:60] != missing)
        ignorant = NodeVictim(victim.method).fit(GRAPH, known)
        strange = int(np.flatnonzero(GRAPH.y.numpy() == missing)[0])
        with pytest.raises(InputError, match=f"node {strange} has class {missing}"):
            kind().attack(ignorant, GRAPH, [int(known[0]), strange])


@pytest.mark.parametrize("targets", [[1.5], ["a"], [True, False], 5, [], [-1]])
def test_targets_are_numbers_of_nodes_or_a_mask_of_all(victim, targets):
    with pytest.raises(InputError, match="numbers from 0 to 89"):
        NodeRandomFlips().attack(victim, GRAPH, targets)


def test_wrong_victims_and_targets_are_refused(victim, molecules):
    with pytest.raises(InputError, match=r"fit\(graph, train\) first"):
        NodeRandomFlips().attack(NodeVictim(victim.method), GRAPH, TARGETS)
    with pytest.raises(InputError, match="victim is a GCA"):
        NodeRandomFlips().attack(victim.method, GRAPH, TARGETS)
    with pytest.raises(InputError, match="one class"):
        NodeVictim(victim.method).fit(GRAPH, [0])
    with pytest.raises(InputError, match="fitted node method"):
        NodeVictim(GCA())
    with pytest.raises(InputError, match="numbers from 0 to 89"):
        victim.predict(GRAPH, [90])
    with pytest.raises(InputError, match="budget"):
        NodeRandomFlips(budget=0).attack(victim, GRAPH, TARGETS)
    with pytest.raises(InputError, match="no labels"):
        NodeVictim(victim.method).fit(communities(90, labels=False), [0, 1])


def test_edge_weights_are_refused(victim):
    weight = 1.0 + GRAPH.edge_index.sum(0) % 2
    weighted = replace(GRAPH, edge_weight=weight)
    for act in (
        lambda: victim.predict(weighted, TARGETS),
        lambda: NodeVictim(victim.method).fit(weighted, np.arange(60)),
    ):
        with pytest.raises(InputError, match="has edge weights, and a flipped edge has none"):
            act()
