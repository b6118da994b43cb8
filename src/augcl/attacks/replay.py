"""The memory of RL-S2V's agent: games and what came of them."""

from __future__ import annotations

import torch
from torch import Tensor


class Replay:
    """The last `capacity` games: graph, choices and what came of them.

    Every game is one experience of each of its decisions.
    """

    def __init__(self, capacity: int, decisions: int) -> None:
        self.graph = torch.zeros(capacity, dtype=torch.int64)
        self.choices = torch.zeros(capacity, decisions, dtype=torch.int64)
        self.reward = torch.zeros(capacity)
        self.seen = 0

    def __len__(self) -> int:
        return min(self.seen, len(self.graph))

    def add(self, graph: Tensor, choices: Tensor, reward: Tensor) -> None:
        """Remember games; the oldest make room."""
        place = (self.seen + torch.arange(len(graph))) % len(self.graph)
        self.graph[place], self.choices[place] = graph.cpu(), choices.cpu()
        self.reward[place] = reward.cpu()
        self.seen += len(graph)

    def sample(self, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
        """Games drawn uniformly."""
        some = torch.randint(len(self), (count,), generator=generator)
        return self.graph[some], self.choices[some], self.reward[some]

    def tensors(self) -> dict[str, Tensor]:
        """All of it, for a checkpoint."""
        n = len(self)
        return {
            "graph": self.graph[:n],
            "choices": self.choices[:n],
            "reward": self.reward[:n],
            "seen": torch.tensor(self.seen),
        }

    def load(self, tensors: dict[str, Tensor]) -> None:
        """Take back what `tensors` gave."""
        n = len(tensors["graph"])
        self.graph[:n], self.choices[:n] = tensors["graph"], tensors["choices"]
        self.reward[:n] = tensors["reward"]
        self.seen = int(tensors["seen"])
