"""RandSampling and GradArgmax: what they may change, and that they find what they should."""

import networkx as nx
import numpy as np
import pytest
import torch
from benchmarks.textbook import attacks as textbook
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from torch_geometric.utils import to_networkx

from augcl import GradArgmax, GraphCL, InputError, RandSampling, Structure2VecClassifier
from augcl.attacks import RLS2V, SameComponents, Semantics, WeightedEdges, accuracy_under
from augcl.attacks.grad_argmax import target_classes
from augcl.data import GraphSet, as_graphset, components
from augcl.data.generators import component_sets
from references import component_counts, random_graphs

TRAIN, TEST = component_sets(per_class=150, seed=0)


@pytest.fixture(scope="module")
def victim():
    return Structure2VecClassifier(epochs=40, lr=0.003, width=32).fit(TRAIN)


def changed_edges(before, after):
    """(G,) how many undirected edges differ."""
    both = torch.cat([before.edge_index, after.edge_index], dim=1)
    edges, times = both.unique(dim=1, return_counts=True)
    u, v = edges[:, times == 1]
    return torch.bincount(before.graph_of_node[u[u < v]], minlength=len(before))


def one_by_one(graphs):
    return [to_networkx(graph, to_undirected=True) for graph in graphs]


def thousand_graphs():
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 13, 1000).tolist()
    graphs = random_graphs(sizes, 0.25, seed=1)
    return GraphSet(
        torch.ones(graphs.num_nodes, 1), graphs.edge_index, graphs.node_ptr, graphs.edge_ptr
    )


def attacks(victim):
    for budget in (1, 3):
        for changes in ("add", "delete", "both"):
            yield RandSampling(budget=budget, changes=changes)
            yield GradArgmax(budget=budget, changes=changes)
            agent = RLS2V(
                budget=budget,
                changes=changes,
                updates=2,
                burn_in=1,
                width=4,
                depth=2,
                validation=0.5,
            )
            yield agent.fit(victim, TEST)
    yield RandSampling(recipe="authors")
    yield GradArgmax(recipe="authors")
    yield RLS2V(recipe="authors", updates=2, burn_in=1, width=4, depth=2, budget=2).fit(
        victim, TEST
    )


def test_no_attack_changes_the_number_of_components_or_more_edges_than_it_may(victim):
    graphs = thousand_graphs()
    components_before = component_counts(graphs)
    rng = np.random.default_rng(1)
    for attack in attacks(victim):
        y = rng.integers(0, 3, len(graphs))
        after = attack.perturb(victim, graphs, y)
        assert torch.equal(component_counts(after), components_before), attack
        differ = changed_edges(graphs, after)
        assert int(differ.max()) <= attack.budget, attack
        growth = (after.edge_ptr.diff() - graphs.edge_ptr.diff()) // 2
        if attack.changes == "add":
            assert torch.equal(growth, differ), attack
        if attack.changes == "delete":
            assert torch.equal(-growth, differ), attack
        assert int(differ.sum()) > 0, attack


def test_random_pairs_are_uniform_among_those_allowed():
    pairs = torch.tensor([[0, 1, 2, 4, 6], [1, 2, 3, 5, 7]])  # a path of 4, an edge, an edge
    one = torch.cat([pairs + 8 * g for g in range(6000)], 1)
    graphs = GraphSet.from_arrays(
        pairs=one, graph_of_node=torch.arange(6000).repeat_interleave(8), num_graphs=6000
    )
    after = RandSampling(random_state=3).perturb(None, graphs)
    new = {tuple(e) for e in after.edge_index.t().tolist()} - {
        tuple(e) for e in graphs.edge_index.t().tolist()
    }
    found = np.unique([(u % 8, v % 8) for u, v in new if u < v], axis=0, return_counts=True)
    assert found[0].tolist() == [[0, 2], [0, 3], [1, 3]]
    assert found[1] / 6000 == pytest.approx(np.full(3, 1 / 3), abs=0.025)


def test_the_authors_draw_pairs_that_are_joined_too():
    graphs = components(per_class=200)
    drawn = changed_edges(graphs, RandSampling(recipe="authors").perturb(None, graphs))
    always = changed_edges(graphs, RandSampling().perturb(None, graphs))
    assert 0.6 < drawn.float().mean() < 0.9
    assert always.float().mean() == 1


def test_a_graph_in_which_nothing_may_be_added_stays_as_it_is():
    triangle = GraphSet.from_arrays(
        pairs=torch.tensor([[0, 0, 1], [1, 2, 2]]),
        graph_of_node=torch.tensor([0, 0, 0, 1]),
        num_graphs=2,
    )
    after = RandSampling(budget=2).perturb(None, triangle)
    assert torch.equal(after.edge_index, triangle.edge_index)
    fewer = RandSampling(budget=3, changes="delete").perturb(None, triangle)
    assert fewer.num_edges == 4


def test_the_gradient_attack_is_the_textbooks_graph_by_graph(victim):
    single = one_by_one(TEST)
    expected = [
        textbook.gradient_edge(victim.network_, graph, y, 3)
        for graph, y in zip(single, TEST.y.tolist(), strict=True)
    ]
    after = one_by_one(GradArgmax().perturb(victim, TEST))
    same = [nx.utils.graphs_equal(a, b) for a, b in zip(after, expected, strict=True)]
    assert np.mean(same) >= 0.95  # ties of equal gradients may fall either way


def test_attacks_lower_the_accuracy_and_gradients_more_than_chance(victim):
    clean = victim.score(TEST)
    random = accuracy_under(RandSampling(), victim, TEST)
    steep = accuracy_under(GradArgmax(), victim, TEST)
    steeper = accuracy_under(GradArgmax(budget=3), victim, TEST)
    assert clean > 0.7
    assert random < clean
    assert steep < clean
    assert steeper < steep
    assert steep <= random + 0.05


def test_an_unsuccessful_gradient_attack_leaves_the_graph(victim):
    after = GradArgmax().perturb(victim, TEST)
    still = victim.predict(after) == TEST.y.numpy()
    assert not changed_edges(TEST, after)[torch.from_numpy(still)].any()
    wrong = torch.from_numpy(victim.predict(TEST) != TEST.y.numpy())
    assert not changed_edges(TEST, after)[wrong].any()


def test_the_authors_targets_are_off_by_one():
    right = target_classes(np.array([0, 1, 2]), 3)
    theirs = target_classes(np.array([0, 1, 2]), 3, first=1)
    assert [[t for t in row if t >= 0] for row in right.T.tolist()] == [[1, 2], [0, 2], [0, 1]]
    assert [[t for t in row if t >= 0] for row in theirs.T.tolist()] == [[0, 2], [0, 1], [0, 1, 2]]


def test_batches_do_not_change_the_result(victim, monkeypatch):
    whole = GradArgmax(budget=2).perturb(victim, TEST)
    monkeypatch.setattr(GradArgmax, "pairs_at_once", 2000)
    parts = GradArgmax(budget=2).perturb(victim, TEST)
    assert torch.equal(changed_edges(whole, parts), torch.zeros(len(TEST), dtype=torch.long))


class OnlyFirstNode(Semantics):
    """Meaning of its own: only edges of the first node of a graph may change."""

    def may_add(self, graphs, pairs):
        return pairs[0] == graphs.node_ptr[graphs.graph_of_node[pairs[0]]]

    may_delete = may_add


@pytest.mark.parametrize("kind", [RandSampling, GradArgmax, RLS2V])
def test_semantics_of_ones_own_are_kept(victim, kind):
    attack = kind(semantics=OnlyFirstNode(), changes="both", budget=2)
    if kind is RLS2V:
        attack.set_params(updates=2, burn_in=1, width=4, depth=2).fit(victim, TEST)
    after = attack.perturb(victim, TEST)
    one, two = ({tuple(e) for e in g.edge_index.t().tolist()} for g in (TEST, after))
    first = set(TEST.node_ptr.tolist())
    assert one ^ two
    assert all(min(pair) in first for pair in one ^ two)


def test_components_are_one_semantics_among_others():
    groups = SameComponents().groups(TEST)
    assert len(groups.unique()) == int(component_counts(TEST).sum())
    assert torch.equal(Semantics().groups(TEST), TEST.graph_of_node)
    assert Semantics().may_add(TEST, TEST.edge_index) is None


class Weighted(torch.nn.Module):
    """The victim's network written with edge weights, as PyG's layers are."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, x, edge_index, edge_weight, batch):
        encoder = self.network.encoder
        own = encoder.first(x)
        values = torch.relu(own)
        for _ in range(encoder.depth):
            messages = values[edge_index[0]] * edge_weight[:, None]
            sums = torch.zeros_like(values).index_add(0, edge_index[1], messages)
            values = torch.relu(encoder.shared(sums) + own)
        pooled = values.new_zeros(int(batch.max()) + 1, values.shape[1]).index_add(0, batch, values)
        return self.network.head(pooled)


@pytest.mark.parametrize("changes", ["add", "both"])
def test_any_classifier_with_edge_weights_is_attacked_by_autograd(victim, changes):
    general = WeightedEdges(Weighted(victim.network_), classes=3)
    assert np.array_equal(general.predict(TEST), victim.predict(TEST))
    ours, theirs = (GradArgmax(changes=changes).perturb(m, TEST) for m in (victim, general))
    assert changed_edges(ours, theirs).count_nonzero() <= 1  # ties may fall either way


def test_a_function_is_a_victim_too(victim):
    by_scores = accuracy_under(RandSampling(), victim.logits, TEST)
    assert by_scores == accuracy_under(RandSampling(), victim, TEST)


@pytest.mark.parametrize("kind", [RandSampling, RLS2V])
def test_a_pipeline_of_scikit_learn_is_a_victim_too(kind):
    pipeline = make_pipeline(GraphCL(epochs=1), SVC()).fit(TRAIN, TRAIN.y.numpy())
    attack = kind()
    if kind is RLS2V:
        attack.set_params(updates=2, burn_in=1, width=4, depth=2).fit(pipeline, TEST)
    assert changed_edges(TEST, attack.perturb(pipeline, TEST)).any()
    assert 0 <= accuracy_under(attack, pipeline, TEST) <= 1


def test_without_labels_the_models_answers_count(victim):
    unlabelled = GraphSet(TEST.x, TEST.edge_index, TEST.node_ptr, TEST.edge_ptr)
    after = GradArgmax().perturb(victim, unlabelled)
    before = victim.predict(TEST)
    assert (victim.predict(after) != before).any()


def test_the_same_seed_gives_the_same_graphs():
    one, two, other = (RandSampling(random_state=s).perturb(None, TEST) for s in (1, 1, 2))
    assert torch.equal(one.edge_index, two.edge_index)
    assert not torch.equal(one.edge_index, other.edge_index)


def test_attacks_are_cloned_with_their_settings():
    copy = clone(GradArgmax(budget=4, semantics=OnlyFirstNode()))
    assert copy.budget == 4
    assert isinstance(copy.semantics, OnlyFirstNode)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 0}, "budget"),
        ({"changes": "swap"}, "changes"),
        ({"recipe": "paper"}, "recipe"),
        ({"recipe": "authors", "changes": "delete"}, "only adds"),
    ],
)
def test_settings_that_cannot_be_are_refused(victim, options, message):
    with pytest.raises(InputError, match=message):
        GradArgmax(**options).perturb(victim, TEST)


def test_victims_that_cannot_be_attacked_are_refused(victim):
    with pytest.raises(InputError, match="no gradients by edges"):
        GradArgmax().perturb(victim.logits, TEST)
    with pytest.raises(InputError, match="fit it first"):
        GradArgmax().perturb(Structure2VecClassifier(), TEST)
    with pytest.raises(InputError, match=r"lambda g: model\(g.x, g.edge_index, g.graph_of_node\)"):
        accuracy_under(RandSampling(), torch.nn.Bilinear(2, 2, 1), TEST)
    with pytest.raises(InputError, match="cannot be attacked"):
        accuracy_under(RandSampling(), 3, TEST)
    with pytest.raises(InputError, match="a class that the model does not know"):
        GradArgmax().perturb(_AlwaysRight(victim), TEST, np.full(len(TEST), 7))


class _AlwaysRight:
    def __init__(self, model):
        self.classes_ = model.classes_
        self.edge_factors = model.edge_factors

    def predict(self, graphs):
        return np.full(len(graphs), 7)


def test_rand_sampling_finds_the_only_pair_of_a_nearly_complete_graph():
    """Its draws hardly ever hit the pair, so that it must be listed, behind other graphs."""
    graphs = [nx.path_graph(5), nx.complete_graph(60), nx.path_graph(7), nx.complete_graph(50)]
    graphs[1].remove_edge(13, 41)
    graphs[3].remove_edge(7, 30)
    data = as_graphset(graphs)
    for seed in range(3):
        changed = RandSampling(random_state=seed).perturb(None, data)
        assert changed.node_ptr.equal(data.node_ptr)
        assert (changed.edge_ptr.diff() - data.edge_ptr.diff()).tolist() == [2, 2, 2, 2]
        for number, nodes in ((1, 60), (3, 50)):
            assert changed[number].edge_index.shape[1] == nodes * (nodes - 1)


def test_defaults_of_the_attacks_are_pinned():
    usual = {"budget": 1, "changes": "add"}
    for kind in (RandSampling, GradArgmax, RLS2V):
        found = kind().get_params(deep=False)
        assert {name: found[name] for name in usual} == usual
    agent = RLS2V().get_params(deep=False)
    pinned = {"replay": 50_000, "width": 64, "depth": 5, "batch_size": 50, "lr": 0.001}
    assert {name: agent[name] for name in pinned} == pinned
