"""What the methods share that learn from walks by skip-gram."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from augcl.baselines.fitted_only import FittedOnly
from augcl.baselines.skip_gram import SkipGram
from augcl.checks import number, whole_number


class WalkMethod(FittedOnly):
    """What skip-gram on walks needs, whether nodes or graphs are embedded."""

    revision = 2
    dimensions: int
    walks: int
    length: int
    window: int
    negatives: int
    passes: int
    p: float = 1.0
    q: float = 1.0

    def _start(self) -> None:
        for name in ("dimensions", "walks", "window", "passes"):
            whole_number(name, getattr(self, name), least=1)
        whole_number("length", self.length, least=2)
        whole_number("negatives", self.negatives, least=0)
        for name in ("p", "q"):
            number(name, getattr(self, name), above=0)

    def _learn(self, data: Any, generator: torch.Generator) -> None:
        self._keep(data, self._node_vectors(data, generator))

    def _node_vectors(self, data: Any, generator: torch.Generator) -> Tensor:
        return SkipGram(
            dimensions=int(self.dimensions),
            walks=int(self.walks),
            length=int(self.length),
            window=int(self.window),
            negatives=int(self.negatives),
            p=float(self.p),
            q=float(self.q),
            passes=int(self.passes),
        ).fit(
            data.edge_index.cpu(),
            data.num_nodes,
            generator,
            title=f"{type(self).__name__} on {data.name}",
            progress=self.progress,
        )


class BiasedWalkMethod(WalkMethod):
    """Node2vec's parameters: a small `p` lets walks turn back, a small `q` lets them go far."""

    def __init__(
        self,
        *,
        dimensions: int = 128,
        walks: int = 10,
        length: int = 80,
        window: int = 10,
        negatives: int = 5,
        p: float = 1.0,
        q: float = 1.0,
        passes: int = 1,
        random_state: int | None = 0,
        progress: bool = True,
    ) -> None:
        self.dimensions = dimensions
        self.walks = walks
        self.length = length
        self.window = window
        self.negatives = negatives
        self.p = p
        self.q = q
        self.passes = passes
        self.random_state = random_state
        self.progress = progress
