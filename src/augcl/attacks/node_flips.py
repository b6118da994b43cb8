"""Evasion at node level: a few edges of one node changed, so that it is misclassified."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator
from torch import Tensor

from augcl.attacks.node_victim import NodeVictim
from augcl.attacks.rules import CHANGES
from augcl.checks import whole_number
from augcl.errors import InputError, one_of
from augcl.training.method import seeded_generator


@dataclass(frozen=True)
class NodeAttackResult:
    """(T, K) partners whose edge to each target was changed, −1 for none; accuracies on targets."""

    partners: Tensor
    clean: float
    attacked: float


class NodeAttack(BaseEstimator, ABC):  # type: ignore[misc]
    """Changes edges at one node at a time; every target is attacked in its own copy of the graph.

    The last edge of a target stays. A subclass says in `_scores` which change is best.
    """

    def __init__(
        self, *, budget: int = 1, changes: str = "both", random_state: int | None = 0
    ) -> None:
        self.budget = budget
        self.changes = changes
        self.random_state = random_state

    @abstractmethod
    def _scores(
        self, joined: Tensor, slopes: Callable[[], Tensor], draws: torch.Generator
    ) -> Tensor:
        """(T, N) what a change of the edge to each node promises; the highest is taken.

        `joined` (T, N) are the neighbours of each target; `slopes` gives (T, N), how the loss of
        its true class rises with an edge to each node.
        """

    def attack(self, victim: NodeVictim, graph: Any, targets: Any) -> NodeAttackResult:
        """Attack each of the targets (numbers or a mask) with at most `budget` changes."""
        whole_number("budget", self.budget, least=1)
        one_of(self.changes, CHANGES, "kind of changes")
        if not isinstance(victim, NodeVictim):
            raise InputError(
                f"{type(victim).__name__} is no victim: give NodeVictim(method).fit(graph, train)"
            )
        data, chosen = victim.read(graph, targets)
        truth = victim.classes_[victim.truth(data, chosen)]
        draws = seeded_generator(self.random_state)
        partners = chosen.new_empty(len(chosen), 0)
        for _ in range(self.budget):
            joined = _joined(data, chosen, partners)
            slopes = partial(victim.slopes, graph, targets, partners)
            score = self._scores(joined, slopes, draws)
            score = torch.where(self._allowed(joined, chosen, partners), score, -torch.inf)
            best, node = score.max(1)
            found = torch.where(best > -torch.inf, node, -1)
            partners = torch.cat([partners, found[:, None]], 1)
        clean, attacked = (
            float(np.mean(victim.predict(graph, targets, changed) == truth))
            for changed in (None, partners)
        )
        return NodeAttackResult(partners, clean, attacked)

    def _allowed(self, joined: Tensor, targets: Tensor, partners: Tensor) -> Tensor:
        removable = joined & (joined.sum(1, keepdim=True) > 1)
        allowed = {"add": ~joined, "delete": removable, "both": ~joined | removable}[self.changes]
        allowed[torch.arange(len(targets)), targets] = False
        rows, columns = (partners >= 0).nonzero(as_tuple=True)
        allowed[rows, partners[rows, columns]] = False
        return allowed


class NodeRandomFlips(NodeAttack):
    """Changes edges of each target at random.

    Parameters
    ----------
    budget : int
        Edges changed at each target, at most.
    changes : {"add", "delete", "both"}
    random_state : int or None

    Examples
    --------
    >>> import augcl
    >>> graph = augcl.load("digits-knn")
    >>> victim = NodeVictim(augcl.GCA(epochs=2, width=16).fit(graph)).fit(graph, range(300))
    >>> NodeRandomFlips(budget=3).attack(victim, graph, [500, 501]).partners.shape
    torch.Size([2, 3])
    """

    def _scores(
        self, joined: Tensor, slopes: Callable[[], Tensor], draws: torch.Generator
    ) -> Tensor:
        return torch.rand(joined.shape, generator=draws).to(joined.device)


class NodeGradientFlips(NodeAttack):
    """Changes the edge by which the loss of the target's true class rises fastest.

    The gradient, taken anew after every change, counts both directions of an edge and the degrees
    in the normalisation.

    Parameters
    ----------
    budget : int
        Edges changed at each target, at most.
    changes : {"add", "delete", "both"}
    random_state : int or None
        Not used: nothing is drawn.

    Examples
    --------
    >>> import augcl
    >>> graph = augcl.load("digits-knn")
    >>> victim = NodeVictim(augcl.GCA(epochs=2, width=16).fit(graph)).fit(graph, range(300))
    >>> result = NodeGradientFlips().attack(victim, graph, range(500, 520))
    >>> result.attacked <= result.clean
    True
    """

    def _scores(
        self, joined: Tensor, slopes: Callable[[], Tensor], draws: torch.Generator
    ) -> Tensor:
        rises = slopes()
        return torch.where(joined, -rises, rises)


def _joined(data: Any, targets: Tensor, partners: Tensor) -> Tensor:
    """(T, N) bool: the neighbours of each target after its changes."""
    row = torch.full((data.num_nodes,), -1, device=targets.device)
    # A node may be a target more than once: look its row up, then copy.
    distinct, which = targets.unique(return_inverse=True)
    row[distinct] = torch.arange(len(distinct), device=targets.device)
    source, target = data.edge_index
    mine = row[source] >= 0
    base = torch.zeros(len(distinct), data.num_nodes, dtype=torch.bool, device=targets.device)
    base[row[source[mine]], target[mine]] = True
    joined = base[which]
    rows, columns = (partners >= 0).nonzero(as_tuple=True)
    changed = rows, partners[rows, columns]
    joined[changed] = ~joined[changed]
    return joined
