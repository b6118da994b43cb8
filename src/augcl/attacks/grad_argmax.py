"""GradArgmax: the white-box attack, which changes the edge with the steepest gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from augcl.attacks.graph_attack import Attack, HasEdgeFactors, HasEdgeGradients, predicted
from augcl.attacks.rules import Candidates, Semantics, flip_edges, least_of_each
from augcl.data.graph import GraphSet
from augcl.errors import InputError
from augcl.methods.recipes import by_recipe

TIE = 1e-5
"""Gradients within this relative distance of the largest count as equal; the first pair wins.

Rounding differs between processors and must not decide which edge is changed.
"""


class GradArgmax(Attack):
    """Try for each wrong class the edge whose change lowers its loss fastest; keep what works.

    The attack on a graph ends when the model predicts a wrong class. A graph that no change
    misleads, or that is misclassified from the start, is not changed.

    Parameters
    ----------
    budget, changes, semantics :
        See `Attack`; edges are changed one after the other.
    recipe, idle :
        See `Attack`.
    labels_from_one : bool, optional
        Compare targets with labels counted from 1, so that the true class is tried and a wrong one
        may be left out. The recipe decides this and the next option if None: True in the released
        code ("authors"), else False.
    one_direction : bool, optional
        Use the gradient of only one direction of an edge, the smaller one.
    random_state : int or None
        Not used: nothing is drawn.

    References
    ----------
    H. Dai, H. Li, T. Tian, X. Huang, L. Wang, J. Zhu and L. Song. "Adversarial Attack on Graph
    Structured Data". ICML 2018. arXiv:1806.02371,
    doi:10.48550/arXiv.1806.02371.

    Examples
    --------
    >>> import augcl
    >>> from augcl.data import components
    >>> graphs = components(per_class=20)
    >>> victim = augcl.Structure2VecClassifier(epochs=5).fit(graphs)
    >>> changed = GradArgmax().perturb(victim, graphs)
    >>> victim.score(changed) <= victim.score(graphs)
    True
    """

    def __init__(
        self,
        *,
        budget: int = 1,
        changes: str = "add",
        semantics: Semantics | None = None,
        recipe: str = "default",
        idle: bool | None = None,
        labels_from_one: bool | None = None,
        one_direction: bool | None = None,
        random_state: int | None = 0,
    ) -> None:
        super().__init__(
            budget=budget,
            changes=changes,
            semantics=semantics,
            recipe=recipe,
            idle=idle,
            random_state=random_state,
        )
        self.labels_from_one = labels_from_one
        self.one_direction = one_direction

    def _flips(
        self, model: Any, graphs: GraphSet, labels: NDArray[Any], generator: torch.Generator
    ) -> Tensor:
        if not isinstance(model, HasEdgeFactors | HasEdgeGradients):
            if hasattr(model, "edge_factors") or hasattr(model, "edge_gradients"):
                raise InputError(f"{type(model).__name__} has no classes_ yet: fit it first")
            raise InputError(
                f"{type(model).__name__} has no gradients by edges: use Structure2VecClassifier, "
                "WeightedEdges, or another attack"
            )
        standing = np.flatnonzero(predicted(model, graphs) == labels)
        if not len(standing):
            return graphs.edge_index.new_empty(2, 0)
        part, labels = graphs.select(standing), labels[standing]
        first = 1 if by_recipe(self, "labels_from_one") else 0
        targets = target_classes(_numbers(model, labels), len(model.classes_), first=first)
        flips = self._on_standing(model, part, labels, torch.from_numpy(targets).to(graphs.device))
        starts = graphs.node_ptr[torch.from_numpy(standing).to(graphs.device)]
        return flips + (starts - part.node_ptr[:-1])[part.graph_of_node[flips[0]]]

    def _on_standing(
        self, model: Any, graphs: GraphSet, labels: NDArray[Any], targets: Tensor
    ) -> Tensor:
        """Return the changes that mislead the model; it classifies all these graphs correctly."""
        found = self._rules.candidates(graphs, graphs.edge_index[:, :0])
        gradients = self._gradients(model, graphs, found, targets)
        fallen = torch.zeros(len(graphs), dtype=torch.bool, device=graphs.device)
        kept = [graphs.edge_index[:, :0]]
        for target, slopes in zip(targets, gradients, strict=True):
            tried = (target >= 0) & ~fallen
            flips, fell = self._towards(model, graphs, labels, target, tried, found, slopes)
            kept.append(flips[:, fell[graphs.graph_of_node[flips[0]]]])
            fallen |= fell
        return torch.cat(kept, 1)

    def _towards(
        self,
        model: Any,
        graphs: GraphSet,
        labels: NDArray[Any],
        target: Tensor,
        active: Tensor,
        found: Candidates,
        slopes: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """Return changes of the active graphs towards their targets, and which graphs fell."""
        flips = graphs.edge_index[:, :0]
        fell = torch.zeros_like(active)
        for step in range(self.budget):
            if step:
                found = self._rules.candidates(graphs, flips)
                (slopes,) = self._gradients(model, graphs, found, target[None])
            new = self._steepest(graphs, active & ~fell, found, slopes)
            if not new.shape[1]:
                break
            flips, graphs = torch.cat([flips, new], 1), flip_edges(graphs, new)
            changed = graphs.graph_of_node[new[0]].unique()
            wrong = predicted(model, graphs.select(changed)) != labels[changed.cpu().numpy()]
            fell[changed] = torch.from_numpy(wrong).to(fell.device)
        return flips, fell

    def _steepest(
        self, graphs: GraphSet, active: Tensor, found: Candidates, slopes: Tensor
    ) -> Tensor:
        """Return (2, P) the most promising pair of each active graph, if there is one."""
        score = self._score(found, slopes)
        score = score.where(found.legal & (score <= 0), torch.inf)
        graph = graphs.graph_of_node[found.pairs[0]]
        best = least_of_each(score, graph, len(graphs), tolerance=TIE)
        best = best[(best >= 0) & active]
        if self.changes == "add":
            best = best[~found.joined[best]]
        return found.pairs[:, best]

    def _gradients(
        self, model: Any, graphs: GraphSet, found: Candidates, targets: Tensor
    ) -> list[Tensor]:
        """Return for each row of targets (2, P) gradients by both directions, or (1, P) sums."""
        if isinstance(model, HasEdgeFactors):
            factors = model.edge_factors(graphs, targets)
            summed = not by_recipe(self, "one_direction")
            return [found.gradients(f, summed=summed) for f in factors]
        return [model.edge_gradients(graphs, found.pairs, target) for target in targets]

    def _score(self, found: Candidates, gradients: Tensor) -> Tensor:
        """Return (P,) the first-order change of the loss of the target class."""
        if by_recipe(self, "one_direction"):
            return gradients.min(0).values
        slope = gradients.sum(0)
        return torch.where(found.joined, -slope, slope)


def target_classes(number: NDArray[np.int64], classes: int, *, first: int = 0) -> NDArray[np.int64]:
    """Return the (R, G) classes that each graph is pushed to, one after the other; −1 for none.

    `first` is the number that the labels of the graphs wrongly count from.

    >>> target_classes(np.array([0, 1, 2]), 3).T.tolist()
    [[1, 2], [0, 2], [0, 1]]
    >>> target_classes(np.array([0, 1, 2]), 3, first=1).T.tolist()
    [[0, 2, -1], [0, 1, -1], [0, 1, 2]]
    """
    every = np.arange(classes)[:, None]
    left_out = every == number + first
    order = np.argsort(left_out, axis=0, kind="stable")
    found = np.where(np.sort(left_out, axis=0), -1, order)
    return found[(found >= 0).any(axis=1)]


def _numbers(model: Any, labels: NDArray[Any]) -> NDArray[np.int64]:
    """Return (G,) the index of each label in the model's classes."""
    classes = np.asarray(model.classes_)
    if not np.isin(labels, classes).all():
        raise InputError("a graph has a class that the model does not know: leave it out")
    return np.searchsorted(classes, labels)
