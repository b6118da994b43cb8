"""What all attacks on classifiers of graphs share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from torch import Tensor

from augcl.attacks.rules import CHANGES, Rules
from augcl.attacks.semantics import SameComponents, Semantics
from augcl.attacks.victim import predicted
from augcl.checks import whole_number
from augcl.data import GraphSet, as_graphset
from augcl.data.class_labels import class_labels
from augcl.data.flips import flip_edges
from augcl.errors import InputError, one_of
from augcl.training.method import seeded_generator


class Attack(BaseEstimator, ABC):  # type: ignore[misc]
    """Changes few edges of each graph so that a classifier errs, and the meaning stays.

    A subclass finds the changes in `_flips`; many graphs are attacked at once.

    Parameters
    ----------
    budget : int
        Edges changed in each graph, at most.
    changes : {"add", "delete", "both"}
        Published is "add".
    semantics : Semantics, optional
        What must not change; the number of components if None.
    recipe : {"default", "authors"}
    random_state : int or None
    """

    pairs_at_once = 1 << 17
    """Ordered pairs of nodes of the graphs that are attacked together: what a cache can hold."""

    def __init__(
        self,
        *,
        budget: int = 1,
        changes: str = "add",
        semantics: Semantics | None = None,
        recipe: str = "default",
        random_state: int | None = 0,
    ) -> None:
        self.budget = budget
        self.changes = changes
        self.semantics = semantics
        self.recipe = recipe
        self.random_state = random_state

    @abstractmethod
    def _flips(
        self, model: Any, graphs: GraphSet, labels: NDArray[Any], generator: torch.Generator
    ) -> Tensor:
        """(2, P) different pairs to join or to part, at most `budget` of each graph."""

    def perturb(self, model: Any, graphs: Any, y: Any = None) -> GraphSet:
        """The graphs with at most `budget` edges changed in each.

        Parameters
        ----------
        model :
            The victim: ``predict(graphs)`` gives classes, or ``model(graphs)`` gives classes or
            (G, C) scores. Either gets a GraphSet. A PyG module goes in as
            ``lambda g: module(g.x, g.edge_index, g.graph_of_node)``.
        graphs : GraphSet, list of PyG Data or networkx graphs, PyG dataset
        y : (G,) array, optional
            True classes; those of the graphs if None, and if they have none what the model says
            of them.
        """
        self._check()
        data = as_graphset(graphs)
        labels = self._labels(model, data, y)
        generator = seeded_generator(self.random_state)
        parts = _batches(data, self.pairs_at_once)
        if len(parts) == 1:
            return flip_edges(data, self._flips(model, data, labels, generator))
        found = []
        for ids in parts:
            flips = self._flips(model, data.select(ids), labels[ids.numpy()], generator)
            found.append(flips + data.node_ptr[ids[0]])
        return flip_edges(data, torch.cat(found, 1))

    def _check(self) -> None:
        whole_number("budget", self.budget, least=1)
        one_of(self.changes, CHANGES, "kind of changes")
        one_of(self.recipe, ("default", "authors"), "recipe")
        if self._authors and self.changes != "add":
            raise InputError('recipe="authors" only adds edges: leave changes at "add"')
        given, asked = self.semantics, ("groups", "may_add", "may_delete")
        if isinstance(given, type) or not (
            given is None or all(hasattr(given, name) for name in asked)
        ):
            raise InputError(
                f"semantics is {given!r}: give an object with groups, may_add and may_delete, such "
                "as one of a subclass of augcl.attacks.Semantics"
            )

    @property
    def _authors(self) -> bool:
        return self.recipe == "authors"

    @property
    def _rules(self) -> Rules:
        semantics = SameComponents() if self.semantics is None else self.semantics
        return Rules(semantics, self.changes, idle=self._authors)

    def _labels(self, model: Any, graphs: GraphSet, y: Any) -> NDArray[Any]:
        if y is None and graphs.y is None:
            return predicted(model, graphs)
        return class_labels(graphs, y)


def _batches(graphs: GraphSet, limit: int) -> list[Tensor]:
    """Neighbouring graphs with about so many ordered pairs of nodes, numbers of them."""
    pairs = graphs.node_ptr.diff().cpu().square().cumsum(0)
    batch = pairs.div(limit, rounding_mode="floor")
    sizes = batch.unique_consecutive(return_counts=True)[1]
    return list(torch.arange(len(graphs)).split(sizes.tolist()))


def accuracy_under(attack: Attack, model: Any, graphs: GraphSet, y: Any = None) -> float:
    """Share of the graphs whose class the model still tells right after the attack."""
    after = predicted(model, attack.perturb(model, graphs, y))
    return float(np.mean(after == class_labels(as_graphset(graphs), y)))
