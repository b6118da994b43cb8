"""The agent of RL-S2V: replay memory, Q-network, episodes against a model, and Q-learning."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import linear, relu

from augcl.attacks.graph_attack import predicted
from augcl.attacks.rules import Rules, flip_edges, is_edge, least_of_each
from augcl.data.graph import GraphSet
from augcl.encoders.heads import glorot_linear
from augcl.encoders.structure2vec import Structure2Vec
from augcl.errors import ours
from augcl.ops.adam import Adam
from augcl.ops.segments import segment_sum, uniform
from augcl.training.checkpoint import (
    Snapshot,
    load_module,
    load_optimizer,
    optimizer_tensors,
    prefixed,
    same_settings,
    weights_of,
)
from augcl.training.loop import BestEpoch
from augcl.training.progress import progress_bar


class Replay:
    """Memory of the last `capacity` games: graph, choices and reward.

    Every game gives one experience for each of its decisions.
    """

    def __init__(self, capacity: int, decisions: int) -> None:
        self.graph = torch.zeros(capacity, dtype=torch.int64)
        self.choices = torch.zeros(capacity, decisions, dtype=torch.int64)
        self.reward = torch.zeros(capacity)
        self.seen = 0

    def __len__(self) -> int:
        return min(self.seen, len(self.graph))

    def add(self, graph: Tensor, choices: Tensor, reward: Tensor) -> None:
        """Store games; they replace the oldest."""
        place = (self.seen + torch.arange(len(graph))) % len(self.graph)
        self.graph[place], self.choices[place] = graph.cpu(), choices.cpu()
        self.reward[place] = reward.cpu()
        self.seen += len(graph)

    def sample(self, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
        """Draw games uniformly; return their graphs, choices and rewards."""
        some = torch.randint(len(self), (count,), generator=generator)
        return self.graph[some], self.choices[some], self.reward[some]

    def tensors(self) -> dict[str, Tensor]:
        """Return the content, for a checkpoint."""
        n = len(self)
        return {
            "graph": self.graph[:n],
            "choices": self.choices[:n],
            "reward": self.reward[:n],
            "seen": torch.tensor(self.seen),
        }

    def load(self, tensors: dict[str, Tensor]) -> None:
        """Restore the content that `tensors` returned."""
        n = len(tensors["graph"])
        self.graph[:n], self.choices[:n] = tensors["graph"], tensors["choices"]
        self.reward[:n] = tensors["reward"]
        self.seen = int(tensors["seen"])


class QNetwork(nn.Module):
    """Q_t(s, a) = v_tᵀ ReLU(U_t [μ_a ; g]) for node a, with one structure2vec for all decisions t.

    The input of a node is whether it is picked, and its features unless they are constant.

    Parameters
    ----------
    features : int
        Number of node features.
    decisions : int
        T: two for each edge.
    width, depth : int
        Width and depth of structure2vec; the hidden layer has the same width.
    generator : torch.Generator
        Draws the weights.
    """

    def __init__(
        self,
        features: int,
        decisions: int,
        *,
        width: int,
        depth: int,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        inputs = 2 + (features if features > 1 else 0)
        self.encoder = Structure2Vec(inputs, width=width, depth=depth, generator=generator)
        self.hidden = nn.ModuleList(
            [glorot_linear(2 * width, width, generator) for _ in range(decisions)]
        )
        self.out = nn.ModuleList([glorot_linear(width, 1, generator) for _ in range(decisions)])

    def forward(self, graphs: GraphSet, picked: Tensor, decision: int) -> Tensor:
        """Return (V,) the value of every node; `picked` (G,) was chosen before, −1 means none."""
        chosen = torch.zeros(graphs.num_nodes, device=graphs.device)
        chosen[picked[picked >= 0]] = 1
        parts = [torch.stack([1 - chosen, chosen], 1)]
        if graphs.num_features > 1:
            parts.append(graphs.x)
        nodes = self.encoder(torch.cat(parts, 1), graphs.adjacency)
        whole = segment_sum(nodes, graphs.node_ptr)
        hidden = self.hidden[decision]
        assert isinstance(hidden, nn.Linear)
        # U [μ_a ; g] = U₁ μ_a + U₂ g; the second term is computed once per graph.
        of_node, of_graph = hidden.weight.chunk(2, dim=1)
        shared = linear(whole, of_graph, hidden.bias)
        worth = relu(linear(nodes, of_node) + shared[graphs.graph_of_node])
        return self.out[decision](worth).squeeze(1)  # type: ignore[no-any-return]


NOTHING = -1
"""Marks that no choice was possible."""


@dataclass(frozen=True)
class Game:
    """The game of an attack on some graphs, by the rules.

    A state holds the choices so far: (G, t) nodes, numbered within their graph. Choices 2s and
    2s + 1 are the ends of edge s.
    """

    graphs: GraphSet
    rules: Rules

    def flips(self, choices: Tensor) -> Tensor:
        """Return (2, P) the pairs that the choices connect or disconnect."""
        pairs = choices[:, : choices.shape[1] // 2 * 2].reshape(len(choices), -1, 2)
        complete = (pairs >= 0).all(2)
        found = (pairs + self.graphs.node_ptr[:-1, None, None])[complete].t()
        if self.rules.changes == "add" and self.rules.idle:
            found = found[:, ~is_edge(self.graphs, found)]
        return found

    def after(self, choices: Tensor) -> tuple[GraphSet, Tensor]:
        """Return the changed graphs, and the (G,) node that waits for its partner, or −1."""
        graphs, flips = self.graphs, self.flips(choices)
        if flips.shape[1]:
            graphs = flip_edges(graphs, flips)
        picked = torch.full_like(graphs.node_ptr[1:], NOTHING)
        if choices.shape[1] % 2:
            last = choices[:, -1]
            picked = torch.where(last >= 0, last + graphs.node_ptr[:-1], NOTHING)
        return graphs, picked

    def legal(self, choices: Tensor, graphs: GraphSet, picked: Tensor) -> Tensor:
        """Return (V,) bool: which nodes may be chosen next."""
        if choices.shape[1] % 2 == 0:
            return torch.ones(graphs.num_nodes, dtype=torch.bool, device=graphs.device)
        return self.rules.partners(graphs, picked, self.flips(choices))

    def best(self, network: QNetwork, choices: Tensor) -> tuple[Tensor, Tensor]:
        """Return (G,) the best node of each graph and its value; −1 and 0 if none is legal."""
        graphs, picked = self.after(choices)
        worth = network(graphs, picked, choices.shape[1])
        legal = self.legal(choices, graphs, picked).nonzero().squeeze(1)
        return self._pick(-worth, legal, worth)

    def _pick(self, score: Tensor, legal: Tensor, worth: Tensor) -> tuple[Tensor, Tensor]:
        graph = self.graphs.graph_of_node[legal]
        place = least_of_each(score[legal].detach(), graph, len(self.graphs))
        any_ = place >= 0
        node = legal[place.clamp_min(0)] if len(legal) else torch.zeros_like(place)
        chosen = torch.where(any_, node - self.graphs.node_ptr[:-1], NOTHING)
        return chosen, torch.where(any_, worth[node], torch.zeros_like(worth[node]))

    @torch.no_grad()
    def play(
        self,
        network: QNetwork,
        decisions: int,
        *,
        epsilon: float = 0.0,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Return (G, T) choices: the best, or with probability `epsilon` a random legal one."""
        choices = self.graphs.node_ptr.new_empty(len(self.graphs), 0)
        for _ in range(decisions):
            if epsilon < 1 or generator is None:
                node, _worth = self.best(network, choices)
            if generator is not None and epsilon > 0:
                drawn = self._random(choices, generator)
                curious = uniform(len(drawn), generator, drawn.device) < epsilon
                node = drawn if epsilon >= 1 else torch.where(curious, drawn, node)
            choices = torch.cat([choices, node[:, None]], 1)
        return choices

    def _random(self, choices: Tensor, generator: torch.Generator) -> Tensor:
        graphs, picked = self.after(choices)
        legal = self.legal(choices, graphs, picked).nonzero().squeeze(1)
        chance = uniform(graphs.num_nodes, generator, graphs.device)
        return self._pick(chance, legal, chance)[0]


class Agent:
    """A Q-network, its target network and its replay memory: the content of a checkpoint.

    Parameters
    ----------
    network : QNetwork
    rules : Rules
    graphs, labels :
        Graphs on which it plays, and their classes.
    decisions : int
        Decisions T of a game.
    batch_size, replay, lr, generator :
        See `RLS2V`.
    """

    def __init__(
        self,
        network: QNetwork,
        rules: Rules,
        *,
        graphs: GraphSet,
        labels: NDArray[Any],
        decisions: int,
        batch_size: int,
        replay: int,
        lr: float,
        generator: torch.Generator,
    ) -> None:
        self.network = network
        self.target = copy.deepcopy(network)
        self.rules = rules
        self.graphs = graphs
        self.labels = labels
        self.decisions = decisions
        self.batch_size = batch_size
        self.generator = generator
        self.replay = Replay(replay, decisions)
        self.optimizer = Adam(network.parameters(), lr=lr, fused=True)
        self.best = BestEpoch()
        self.history: list[dict[str, Any]] = []
        self.updates = 0

    def play(self, model: Any, *, epsilon: float) -> None:
        """Play a batch of games on random graphs; the model's predictions give the rewards."""
        ids = torch.randint(len(self.graphs), (self.batch_size,), generator=self.generator)
        game = Game(self.graphs.select(ids), self.rules)
        choices = game.play(self.network, self.decisions, epsilon=epsilon, generator=self.generator)
        right = predicted(model, game.after(choices)[0]) == self.labels[ids.numpy()]
        self.replay.add(ids, choices, torch.from_numpy(np.where(right, -1.0, 1.0)).float())

    def learn(self) -> Tensor:
        """Take a step on stored games; return the squared error of one decision, drawn uniformly.

        The target of the last decision is the reward; the target of an earlier one is the value of
        the best next decision, or the reward if there was no next decision.
        """
        graph, choices, reward = self.replay.sample(self.batch_size, self.generator)
        t = int(torch.randint(self.decisions, (1,), generator=self.generator))
        made = choices[:, t] >= 0
        if not bool(made.any()):
            return torch.zeros(())
        game = Game(self.graphs.select(graph[made]), self.rules)
        device = self.graphs.device
        choices, wanted = choices[made].to(device), reward[made].to(device)
        if t + 1 < self.decisions:
            with torch.no_grad():
                next_, worth = game.best(self.target, choices[:, : t + 1])
            wanted = torch.where(next_ >= 0, worth, wanted)
        board, picked = game.after(choices[:, :t])
        worth = self.network(board, picked, t)[choices[:, t] + board.node_ptr[:-1]]
        loss: Tensor = (worth - wanted).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        for parameter in self.network.parameters():  # heads of other decisions have no gradient
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        self.optimizer.step()
        return loss.detach()

    def copy_target(self) -> None:
        """Copy the weights to the target network."""
        self.target.load_state_dict(self.network.state_dict())

    def snapshot(self, settings: dict[str, Any]) -> Snapshot:
        """Return the whole state, for a checkpoint."""
        tensors = {
            **prefixed("network", self.network.state_dict()),
            **prefixed("target", self.target.state_dict()),
            **prefixed("optimizer", optimizer_tensors(self.optimizer)),
            **prefixed("replay", self.replay.tensors()),
            **prefixed("best", self.best.tensors()),
            "generator": self.generator.get_state(),
        }
        return Snapshot(
            tensors, {"settings": settings, "history": self.history, "updates": self.updates}
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Restore the state that `snapshot` returned."""
        load_module(self.network, snapshot.part("network"))
        load_module(self.target, snapshot.part("target"))
        load_optimizer(self.optimizer, snapshot.part("optimizer"))
        self.replay.load(snapshot.part("replay"))
        self.best.load(snapshot.part("best"))
        self.generator.set_state(snapshot.tensors["generator"])
        self.history = list(snapshot.facts["history"])
        self.updates = int(snapshot.facts["updates"])


CHECKPOINT = "checkpoint.safetensors"


@dataclass(frozen=True)
class Schedule:
    """The schedule of a training; see `RLS2V` for the parameters."""

    updates: int
    burn_in: int
    copy_every: int
    evaluate_every: int
    epsilon: tuple[float, float]
    epsilon_share: float

    def epsilon_at(self, update: int) -> float:
        """Return the probability of a random choice in an update, counted from 0.

        >>> schedule = Schedule(100, 1, 1, 1, epsilon=(1.0, 0.05), epsilon_share=0.5)
        >>> [schedule.epsilon_at(update) for update in (0, 25, 50, 99)]
        [1.0, 0.525, 0.05, 0.05]
        """
        start, end = self.epsilon
        falling = self.updates * self.epsilon_share
        done = min(1.0, update / falling) if falling else 1.0
        return start * (1 - done) + end * done


def train_agent(
    agent: Agent,
    model: Any,
    schedule: Schedule,
    *,
    accuracy: Callable[[], float],
    settings: dict[str, Any],
    folder: Path | None = None,
    resume: bool = False,
    progress: bool = True,
) -> None:
    """Let the agent play against the model and learn.

    At every evaluation `accuracy` returns the accuracy of the model under attack; the state with
    the lowest accuracy is kept. With a `folder`, write a checkpoint; with `resume`, continue from
    it if it has the same settings.
    """
    file = None if folder is None else folder / CHECKPOINT
    if file is not None and resume and file.exists():
        snapshot = Snapshot.read(file)
        with ours(file, "delete it"):
            same_settings(snapshot.facts["settings"], settings, file.parent)
            agent.restore(snapshot)
    with progress_bar("RL-S2V", schedule.updates, show=progress) as report:
        if not agent.replay.seen:
            for _ in range(schedule.burn_in):
                agent.play(model, epsilon=1.0)
        losses: list[Tensor] = []
        for update in range(agent.updates, schedule.updates):
            epsilon = schedule.epsilon_at(update)
            agent.play(model, epsilon=epsilon)
            losses.append(agent.learn())
            agent.updates = done = update + 1
            if done % schedule.copy_every == 0:
                agent.copy_target()
            if done % schedule.evaluate_every and done < schedule.updates:
                continue
            found = accuracy()
            if found < agent.best.loss:
                agent.best.keep(found, done, weights_of(agent.network))
            loss = float(torch.stack(losses).mean())
            losses.clear()
            agent.history.append(
                {"update": done, "loss": loss, "epsilon": epsilon, "accuracy": found}
            )
            report(done, f"accuracy of the victim {100 * found:.1f} %")
            if file is not None:
                agent.snapshot(settings).write(file)
