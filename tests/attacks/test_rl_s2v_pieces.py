"""The pieces of RL-S2V beside slow and obvious versions: games, rewards, steps, schedule."""

import copy
import itertools
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from augcl import RLS2V
from augcl.attacks.agent import Agent, Game, QNetwork, Schedule, train_agent
from augcl.attacks.rules import Rules, SameComponents
from augcl.data import as_graphset
from augcl.data.generators import component_sets
from augcl.training.loop import BestEpoch

GRAPHS = component_sets(per_class=8, seed=3)[0]
RULES = Rules(SameComponents())


def network(decisions=2, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return QNetwork(1, decisions, width=6, depth=2, generator=generator)


def agent_on(graphs, labels, decisions=2, batch_size=64, lr=0.01):
    return Agent(
        network(decisions),
        RULES,
        graphs=graphs,
        labels=np.asarray(labels),
        decisions=decisions,
        batch_size=batch_size,
        replay=200,
        lr=lr,
        generator=torch.Generator().manual_seed(1),
    )


def edges_of(graphs, g):
    """The edges of one graph, each once, with nodes numbered within it."""
    start, end = graphs.node_ptr[g : g + 2].tolist()
    pairs = graphs.edge_index.t().tolist()
    return {(u - start, v - start) for u, v in pairs if start <= u < end and u < v}


def many_edges(graphs):
    """A victim: the class of a graph is whether it has more than so many edges."""
    counts = [len(edges_of(graphs, g)) for g in range(len(graphs))]
    return torch.tensor([int(count > 20) for count in counts])


def test_the_flips_of_choices_are_their_pairs_in_which_both_ends_exist():
    choices = torch.tensor([[0, 2, 3, -1], [1, 4, -1, 0], [2, 0, 1, 3]])
    game = Game(GRAPHS.select([0, 1, 2]), RULES)
    start = game.graphs.node_ptr.tolist()
    for taken in (2, 3, 4):
        expected = [
            (start[g] + row[s], start[g] + row[s + 1])
            for g, row in enumerate(choices[:, :taken].tolist())
            for s in range(0, taken // 2 * 2, 2)
            if min(row[s], row[s + 1]) >= 0
        ]
        if RULES.changes == "add" and RULES.idle:
            edges = [edges_of(game.graphs, g) for g in range(3)]
            every = {(start[g] + u, start[g] + v) for g in range(3) for u, v in edges[g]}
            expected = [(u, v) for u, v in expected if tuple(sorted((u, v))) not in every]
        assert [tuple(pair) for pair in game.flips(choices[:, :taken]).t().tolist()] == expected
        graphs, picked = game.after(choices[:, :taken])
        waiting = [start[g] + choices[g, 2] if choices[g, 2] >= 0 else -1 for g in range(3)]
        assert picked.tolist() == (waiting if taken == 3 else [-1] * 3)
        assert graphs.num_edges == game.graphs.num_edges + 2 * len(expected)


def test_a_game_is_won_if_the_model_errs_on_the_changed_graph():
    labels = many_edges(GRAPHS).numpy()
    agent = agent_on(GRAPHS, labels)
    agent.play(many_edges, epsilon=1.0)
    assert len(agent.replay) == 64
    rewards = set()
    for graph, choices, reward in zip(
        agent.replay.graph[:64].tolist(),
        agent.replay.choices[:64].tolist(),
        agent.replay.reward[:64].tolist(),
        strict=True,
    ):
        edges = edges_of(GRAPHS, graph)
        if min(choices) >= 0:
            edges |= {tuple(sorted(choices))}
        assert reward == (1 if int(len(edges) > 20) != labels[graph] else -1)
        rewards.add(reward)
    labels = 1 - labels  # now the model errs unless it is misled
    agent = agent_on(GRAPHS, labels)
    agent.play(many_edges, epsilon=1.0)
    rewards |= set(agent.replay.reward[:64].tolist())
    assert rewards == {-1, 1}


def test_random_choices_are_uniform_among_the_legal_nodes():
    one = GRAPHS.select([0] * 6000)
    nodes = int(one.node_ptr[1])
    game, generator = Game(one, RULES), torch.Generator().manual_seed(2)
    first = game.play(network(), 1, epsilon=1.0, generator=generator)
    counts = torch.bincount(first[:, 0], minlength=nodes)
    assert (counts - 6000 / nodes).abs().max() < 5 * (6000 / nodes) ** 0.5
    fixed = torch.zeros(6000, 1, dtype=torch.int64)
    legal = game.legal(fixed, *game.after(fixed))[:nodes].nonzero().squeeze(1)
    second = game._random(fixed, generator)
    assert set(second.tolist()) == set(legal.tolist())
    counts = torch.bincount(second)[legal]
    assert (counts - 6000 / len(legal)).abs().max() < 5 * (6000 / len(legal)) ** 0.5


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_the_share_of_random_choices_is_epsilon(epsilon):
    game = Game(GRAPHS.select([1] * 4000), RULES)
    nodes, q = int(game.graphs.node_ptr[1]), network()
    best, _ = game.best(q, torch.zeros(4000, 0, dtype=torch.int64))
    found = game.play(q, 1, epsilon=epsilon, generator=torch.Generator().manual_seed(0))[:, 0]
    share = float((found != best).float().mean())
    assert share == pytest.approx(epsilon * (1 - 1 / nodes), abs=0.03)


@pytest.mark.parametrize("t", [0, 1])
def test_a_step_of_learning_is_adam_on_the_squared_error(monkeypatch, t):
    agent = agent_on(GRAPHS, many_edges(GRAPHS), batch_size=5)
    with torch.no_grad():
        for bias in (agent.target.out[0].bias, agent.target.out[1].bias):
            bias += 0.5  # another network than the one that learns
    graph = torch.tensor([0, 3, 5, 9, 11])
    game = Game(GRAPHS.select(graph), RULES)
    choices = game.play(network(seed=5), 2)
    choices[3, 1] = -1  # no second end was legal
    reward = torch.tensor([1.0, -1.0, 1.0, -1.0, 1.0])
    slow = copy.deepcopy(agent.network)
    optimizer = torch.optim.Adam(slow.parameters(), lr=0.01)
    errors = []
    for i in range(5):
        alone = Game(GRAPHS.select([int(graph[i])]), RULES)
        made = choices[i : i + 1]
        if made[0, t] < 0:
            continue
        wanted = reward[i]
        if t == 0:
            with torch.no_grad():
                worth = agent.target(*alone.after(made[:, :1]), 1)
            legal = alone.legal(made[:, :1], *alone.after(made[:, :1]))
            if legal.any():
                wanted = worth[legal].max()
        errors.append((slow(*alone.after(made[:, :t]), t)[made[0, t]] - wanted) ** 2)
    loss = torch.stack(errors).mean()
    loss.backward()
    optimizer.step()
    monkeypatch.setattr(agent.replay, "sample", lambda *_: (graph, choices, reward))
    monkeypatch.setattr(torch, "randint", lambda *_, **__: torch.tensor([t]))
    target = copy.deepcopy(agent.target.state_dict())
    torch.testing.assert_close(agent.learn(), loss.detach())
    for found, expected in zip(agent.network.parameters(), slow.parameters(), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4)
    for name, tensor in agent.target.state_dict().items():
        assert torch.equal(tensor, target[name])  # it waits for the next copy
    agent.copy_target()
    assert torch.equal(agent.target.out[t].weight, agent.network.out[t].weight)


def test_where_no_second_end_is_legal_the_reward_is_the_target(monkeypatch):
    complete = as_graphset([torch_complete(4)])  # no edge can be added
    agent = agent_on(complete, [0], batch_size=2)
    graph, choices = torch.tensor([0, 0]), torch.tensor([[1, -1], [2, -1]])
    reward = torch.tensor([1.0, -1.0])
    game = Game(complete.select(graph), RULES)
    with torch.no_grad():
        worth = agent.network(*game.after(choices[:, :0]), 0)[choices[:, 0] + torch.tensor([0, 4])]
    monkeypatch.setattr(agent.replay, "sample", lambda *_: (graph, choices, reward))
    monkeypatch.setattr(torch, "randint", lambda *_, **__: torch.tensor([0]))
    torch.testing.assert_close(agent.learn(), (worth - reward).square().mean())
    monkeypatch.setattr(torch, "randint", lambda *_, **__: torch.tensor([1]))
    before = copy.deepcopy(agent.network.state_dict())
    assert agent.learn() == 0  # nobody made this decision
    assert all(torch.equal(before[k], v) for k, v in agent.network.state_dict().items())


def torch_complete(nodes):
    from torch_geometric.data import Data

    pairs = list(itertools.permutations(range(nodes), 2))
    return Data(edge_index=torch.tensor(pairs).t(), num_nodes=nodes)


def test_the_schedule_of_a_training():
    said = []
    losses, accuracies = iter(range(1, 8)), iter([0.5, 0.25, 0.25, 0.75])
    weight = torch.nn.Linear(1, 1)
    agent = SimpleNamespace(
        replay=SimpleNamespace(seen=0),
        updates=0,
        history=[],
        best=BestEpoch(),
        network=weight,
        play=lambda model, epsilon: said.append(("play", model, round(epsilon, 3))),
        learn=lambda: torch.tensor(float(next(losses))),
        copy_target=lambda: said.append("copy"),
    )
    schedule = Schedule(7, 2, 3, 2, epsilon=(1.0, 0.2), epsilon_share=0.5)
    train_agent(agent, "model", schedule, accuracy=lambda: next(accuracies), settings={})
    falls = [1.0 - 0.8 * min(1, update / 3.5) for update in range(7)]
    expected = [("play", "model", 1.0)] * 2
    for update, epsilon in enumerate(falls, 1):
        expected += [("play", "model", round(epsilon, 3))] + ["copy"] * (update % 3 == 0)
    assert said == expected
    assert [(h["update"], h["loss"], h["accuracy"]) for h in agent.history] == [
        (2, 1.5, 0.5),
        (4, 3.5, 0.25),
        (6, 5.5, 0.25),
        (7, 7.0, 0.75),
    ]
    assert agent.best.loss == 0.25
    assert agent.best.epoch == 4  # the first of two that are equal


@pytest.mark.parametrize(("validation", "held"), [(0.1, 3), (0.5, 15), (0.01, 1)])
def test_the_graphs_that_judge_the_agent_do_not_teach_it(validation, held):
    generator = torch.Generator().manual_seed(0)
    watched, kept = RLS2V(validation=validation)._held_out(30, generator)
    assert len(watched) == held
    assert sorted([*watched, *kept]) == list(range(30))
    same = RLS2V(recipe="authors")._held_out(30, generator)
    assert all(np.array_equal(part, np.arange(30)) for part in same)


@pytest.mark.parametrize("attack_all", [False, True])
def test_graphs_that_are_misclassified_are_left_alone_unless_all_are_attacked(attack_all):
    labels = many_edges(GRAPHS).numpy()
    labels[::2] = 1 - labels[::2]
    attack = RLS2V(attack_all=attack_all)
    q = network()
    flips = attack._greedy(many_edges, q, GRAPHS, labels)
    graph = GRAPHS.graph_of_node[flips[0]]
    game = Game(GRAPHS, attack._rules)
    every = game.flips(game.play(q, 2))
    if attack_all:
        assert torch.equal(flips, every)
    else:
        assert (graph % 2 == 1).all()
        assert set(graph.tolist()) == {
            g for g in GRAPHS.graph_of_node[every[0]].tolist() if g % 2 == 1
        }
