"""The learner inside RL-S2V: games against a model, and Q-learning from those remembered."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from augcl.attacks.episodes import Game
from augcl.attacks.q_network import QNetwork
from augcl.attacks.replay import Replay
from augcl.attacks.rules import Rules
from augcl.attacks.victim import predicted
from augcl.data.graph import GraphSet
from augcl.ops.adam import Adam
from augcl.training.best_epoch import BestEpoch
from augcl.training.checkpoint import (
    Snapshot,
    load_module,
    load_optimizer,
    optimizer_tensors,
    prefixed,
)


class Agent:
    """A Q-network, its slower twin, and what it remembers; all that a checkpoint holds.

    Parameters
    ----------
    network : QNetwork
    rules : Rules
    graphs, labels :
        Where it plays.
    decisions : int
        T of a game.
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
        """One batch of games on random graphs, with the model's verdict at the end."""
        ids = torch.randint(len(self.graphs), (self.batch_size,), generator=self.generator)
        game = Game(self.graphs.select(ids), self.rules)
        choices = game.play(self.network, self.decisions, epsilon=epsilon, generator=self.generator)
        right = predicted(model, game.after(choices)[0]) == self.labels[ids.numpy()]
        self.replay.add(ids, choices, torch.from_numpy(np.where(right, -1.0, 1.0)).float())

    def learn(self) -> Tensor:
        """One step on remembered games; the squared error of one decision, drawn uniformly.

        The last decision is worth the reward; one before it what the best next one is worth, or
        the reward where there was no next one.
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
        for parameter in self.network.parameters():  # the heads of other decisions rest
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        self.optimizer.step()
        return loss.detach()

    def copy_target(self) -> None:
        """Bring the twin up to date."""
        self.target.load_state_dict(self.network.state_dict())

    def snapshot(self, settings: dict[str, Any]) -> Snapshot:
        """All that changes."""
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
        """Take back what `snapshot` gave."""
        load_module(self.network, snapshot.part("network"))
        load_module(self.target, snapshot.part("target"))
        load_optimizer(self.optimizer, snapshot.part("optimizer"))
        self.replay.load(snapshot.part("replay"))
        self.best.load(snapshot.part("best"))
        self.generator.set_state(snapshot.tensors["generator"])
        self.history = list(snapshot.facts["history"])
        self.updates = int(snapshot.facts["updates"])
