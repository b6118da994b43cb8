"""RL-S2V: its network, its targets, its memory, and that it learns, saves and resumes."""

import io
import sys

import numpy as np
import pytest
import torch
from sklearn.exceptions import NotFittedError

from augcl import RLS2V, InputError, RandSampling
from augcl.attacks import accuracy_under
from augcl.attacks import agent as module
from augcl.attacks.agent import Agent, Game, QNetwork, Replay
from augcl.attacks.rules import Rules, SameComponents
from augcl.data import components
from augcl.data.generators import component_sets
from references import random_graphs

TRAIN, TEST = component_sets(per_class=60, seed=0)
QUICK = {"updates": 6, "burn_in": 2, "width": 8, "depth": 2, "evaluate_every": 2, "copy_every": 3}


def by_first_node(graphs):
    """A victim that anyone can fool: it calls graphs by the degree of their first node."""
    degree = torch.bincount(graphs.edge_index[0], minlength=graphs.num_nodes)
    return (degree[graphs.node_ptr[:-1]] > 2).long()


def quick(**options):
    return RLS2V(**{**QUICK, **options})


def weights(attack):
    return torch.cat([p.detach().flatten() for p in attack.network_.parameters()])


def network(features=1, decisions=2, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return QNetwork(features, decisions, width=6, depth=2, generator=generator)


def test_the_worth_of_a_node_is_the_formula():
    graphs, q = random_graphs([5, 7], 0.4, seed=0), network(features=3)
    picked = torch.tensor([2, -1])
    worth = q(graphs, picked, 1)
    chosen = torch.zeros(12)
    chosen[2] = 1
    mu = q.encoder(torch.cat([1 - chosen[:, None], chosen[:, None], graphs.x], 1), graphs.adjacency)
    for v in range(12):
        g = 0 if v < 5 else 1
        whole = mu[:5].sum(0) if g == 0 else mu[5:].sum(0)
        expected = q.out[1](torch.relu(q.hidden[1](torch.cat([mu[v], whole]))))
        torch.testing.assert_close(worth[v], expected[0])


def test_second_ends_are_legal_and_first_ends_are_free():
    game = Game(TEST, Rules(SameComponents()))
    generator = torch.Generator().manual_seed(0)
    choices = game.play(network(), 2, epsilon=1.0, generator=generator)
    flips = game.flips(choices)
    component = SameComponents().groups(TEST)
    edges = {tuple(e) for e in TEST.edge_index.t().tolist()}
    assert torch.equal(component[flips[0]], component[flips[1]])
    assert all(tuple(p) not in edges for p in flips.t().tolist())
    assert (flips[0] != flips[1]).all()
    assert (choices[:, 0] >= 0).all()


def test_the_greedy_choice_is_the_legal_node_of_most_worth():
    game, q = Game(TEST, Rules(SameComponents())), network()
    first = torch.zeros(len(TEST), 1, dtype=torch.long)
    q.requires_grad_(False)
    node, worth = game.best(q, first)
    graphs, picked = game.after(first)
    legal = game.legal(first, graphs, picked)
    every = q(graphs, picked, 1)
    for g in range(len(TEST)):
        start, end = TEST.node_ptr[g : g + 2].tolist()
        among = [v for v in range(start, end) if legal[v]]
        if not among:
            assert node[g] == -1
            continue
        best = max(among, key=lambda v: float(every[v]))
        assert float(every[start + node[g]]) == float(every[best])
        assert float(worth[g]) == float(every[best])


def test_targets_are_the_reward_at_the_end_and_the_best_next_worth_before(monkeypatch):
    rules = Rules(SameComponents())
    agent = Agent(
        network(),
        rules,
        graphs=TEST,
        labels=np.zeros(len(TEST)),
        decisions=2,
        batch_size=4,
        replay=10,
        lr=0.0,
        generator=torch.Generator().manual_seed(0),
    )
    graph = torch.tensor([0, 7, 13, 17])
    game = Game(TEST.select(graph), rules)
    choices = game.play(agent.network, 2)
    reward = torch.tensor([1.0, -1.0, 1.0, -1.0])
    with torch.no_grad():
        agent.target.out[1].bias += 1
        start = game.graphs.node_ptr[:-1]
        first = agent.network(*game.after(choices[:, :0]), 0)[choices[:, 0] + start]
        second = agent.network(*game.after(choices[:, :1]), 1)[choices[:, 1] + start]
        _, best = game.best(agent.target, choices[:, :1])
    expected = {0: (first - best).square().mean(), 1: (second - reward).square().mean()}
    for t, value in expected.items():
        monkeypatch.setattr(agent.replay, "sample", lambda *_: (graph, choices, reward))
        monkeypatch.setattr(torch, "randint", lambda *_, t=t, **__: torch.tensor([t]))
        torch.testing.assert_close(agent.learn(), value)


def test_the_memory_forgets_the_oldest():
    replay = Replay(5, 2)
    for start in (0, 3, 6):
        ids = torch.arange(start, start + 3)
        replay.add(ids, torch.stack([ids, ids], 1), ids.float())
    assert len(replay) == 5
    assert sorted(replay.graph.tolist()) == [4, 5, 6, 7, 8]
    again = Replay(5, 2)
    again.load(replay.tensors())
    assert torch.equal(again.choices, replay.choices)
    assert again.seen == 9


def test_curiosity_falls_by_default_and_never_for_the_authors():
    ours, theirs = (RLS2V(updates=100, recipe=r)._schedule for r in ("default", "authors"))
    assert [round(ours.epsilon_at(u), 3) for u in (0, 25, 50, 99)] == [1, 0.525, 0.05, 0.05]
    assert [theirs.epsilon_at(u) for u in (0, 50, 99)] == [1, 1, 1]
    assert RLS2V(epsilon=(0.5, 0.1), epsilon_share=0)._schedule.epsilon_at(0) == 0.1


def test_it_learns_to_fool_a_victim_whose_weakness_is_one_node():
    train, test = components(per_class=100, seed=1), components(per_class=30, seed=2)
    y, truth = (by_first_node(g).numpy() for g in (train, test))
    agent = RLS2V(updates=250, burn_in=30, width=16, depth=2, lr=0.003, budget=2)
    agent.fit(by_first_node, train, y)
    random = accuracy_under(RandSampling(budget=2), by_first_node, test, truth)
    assert accuracy_under(agent, by_first_node, test, truth) < random - 0.1
    assert agent.history_[-1]["update"] == 250


def test_the_model_is_asked_for_classes_only(monkeypatch):
    asked = []

    def victim(graphs):
        asked.append(len(graphs))
        return by_first_node(graphs).numpy()

    quick().fit(victim, TRAIN).perturb(victim, TEST)
    assert asked


def test_the_bar_shows_the_accuracy_of_the_victim(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes that for a terminal
    attack = quick().fit(by_first_node, TRAIN)
    told = f"accuracy of the victim {100 * attack.history_[-1]['accuracy']:.1f} %"
    for part in ("RL-S2V", "6/6", told):
        assert part in screen.getvalue()


def test_authors_learn_on_the_graphs_that_they_attack():
    attack = quick(recipe="authors")
    after = attack.perturb(by_first_node, TEST)
    assert not hasattr(attack, "network_")
    assert len(after) == len(TEST)
    with pytest.raises(NotFittedError, match="fit"):
        quick().perturb(by_first_node, TEST)


def test_the_state_with_the_lowest_accuracy_is_kept():
    attack = quick(recipe="authors", updates=20).fit(by_first_node, TEST)
    lowest = min(entry["accuracy"] for entry in attack.history_)
    assert accuracy_under(attack, by_first_node, TEST) == pytest.approx(lowest)


def test_the_same_seed_gives_the_same_bits():
    one, two, other = (quick(random_state=s).fit(by_first_node, TRAIN) for s in (1, 1, 2))
    assert torch.equal(weights(one), weights(two))
    assert not torch.equal(weights(one), weights(other))


@pytest.mark.parametrize("budget", [1, 2])
def test_a_stopped_training_goes_on_to_the_same_bits(tmp_path, monkeypatch, budget):
    whole = quick(budget=budget).fit(by_first_node, TRAIN)

    class StopError(Exception):
        pass

    write = module.Snapshot.write

    def write_and_stop(snapshot, path):
        write(snapshot, path)
        if snapshot.facts.get("updates") == 4:
            raise StopError

    with monkeypatch.context() as patch:
        patch.setattr(module.Snapshot, "write", write_and_stop)
        with pytest.raises(StopError):
            quick(budget=budget).fit(by_first_node, TRAIN, folder=tmp_path)
    rest = quick(budget=budget).fit(by_first_node, TRAIN, folder=tmp_path, resume=True)
    assert torch.equal(weights(rest), weights(whole))
    assert rest.history_ == whole.history_
    with pytest.raises(InputError, match="budget"):
        quick(budget=3).fit(by_first_node, TRAIN, folder=tmp_path, resume=True)


def test_a_saved_agent_is_the_same(tmp_path):
    attack = quick(epsilon=(1.0, 0.2)).fit(by_first_node, TRAIN)
    attack.save(tmp_path)
    again = RLS2V.load(tmp_path)
    one, two = (a.perturb(by_first_node, TEST) for a in (attack, again))
    assert torch.equal(one.edge_index, two.edge_index)
    assert again.history_ == attack.history_
    with pytest.raises(InputError, match="no attack"):
        RLS2V.load(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("epsilon", [(2, 0), 0.5, (1,), (1, 0.5, 0.1), "ab", (float("nan"), 1)]),
        ("epsilon_share", [-1, 2, "x"]),
        ("updates", [0, 2.5, "x"]),
        ("lr", [0, -1, "x", float("inf")]),
        ("width", [0, 2.5]),
        ("depth", [0, "x"]),
        ("validation", [1, -0.1, "x"]),
        ("semantics", [3, "components", SameComponents]),
    ],
)
def test_wrong_settings_are_refused_by_name(name, values):
    for value in values:
        with pytest.raises(InputError, match=rf"^{name}(\[\d\])? is"):
            quick(**{name: value}).fit(by_first_node, TRAIN)


def test_graphs_with_other_features_are_refused(molecules):
    with pytest.raises(InputError, match="7 node features"):
        quick().fit(by_first_node, TRAIN).perturb(by_first_node, molecules)
