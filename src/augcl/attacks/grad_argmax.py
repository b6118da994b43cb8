"""The white-box attack: the edge that the gradient points at."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from augcl.attacks.base import Attack
from augcl.attacks.rules import Candidates
from augcl.attacks.semantics import Semantics
from augcl.attacks.victim import HasEdgeFactors, HasEdgeGradients, predicted
from augcl.data.flips import flip_edges
from augcl.data.graph import GraphSet
from augcl.errors import InputError
from augcl.ops.blocks import least_of_each


class GradArgmax(Attack):
    """For each wrong class, changes the edge by which its loss falls fastest; keeps what works.

    The first wrong class that the model then gives a graph ends the attack on it. A graph that no
    change misleads, or that is misclassified from the start, stays as it is.

    Parameters
    ----------
    budget : int
        Edges changed in each graph, at most, one after the other.
    changes : {"add", "delete", "both"}
        Published is "add".
    semantics : Semantics, optional
        What must not change; the number of components if None.
    recipe : {"default", "authors"}
        "authors": targets are compared with labels counted from 1, so that the true class is
        tried and a wrong one may be left out; the gradient of one direction of an edge counts
        alone; pairs that are joined already are candidates too.
    batch_size : int
        Graphs at a time; decides memory only.
    random_state : int or None
        Not used: nothing is drawn.

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
        batch_size: int = 500,
        random_state: int | None = 0,
    ) -> None:
        self.budget = budget
        self.changes = changes
        self.semantics = semantics
        self.recipe = recipe
        self.batch_size = batch_size
        self.random_state = random_state

    def _flips(
        self, model: Any, graphs: GraphSet, labels: NDArray[Any], generator: torch.Generator
    ) -> Tensor:
        if not isinstance(model, HasEdgeFactors | HasEdgeGradients):
            raise InputError(
                f"{type(model).__name__} gives no gradients by edges: take "
                "Structure2VecClassifier, WeightedEdges, or another attack"
            )
        standing = np.flatnonzero(predicted(model, graphs) == labels)
        targets = target_classes(_numbers(model, labels), len(model.classes_), self._authors)
        flips = [graphs.edge_index.new_empty(2, 0)]
        for target in targets.T:
            tried = standing[target[standing] >= 0]
            if not len(tried):
                continue
            part = graphs.select(tried)
            found, fallen = self._towards(
                model, part, labels[tried], torch.from_numpy(target[tried]).to(graphs.device)
            )
            fallen_graph = fallen[part.graph_of_node[found[0]].cpu().numpy()]
            kept = found[:, torch.from_numpy(fallen_graph).to(graphs.device)]
            starts = graphs.node_ptr[torch.from_numpy(tried).to(graphs.device)]
            shift = (starts - part.node_ptr[:-1])[part.graph_of_node[kept[0]]]
            flips.append(kept + shift)
            standing = np.setdiff1d(standing, tried[fallen])
        return torch.cat(flips, 1)

    def _towards(
        self, model: Any, graphs: GraphSet, labels: NDArray[Any], target: Tensor
    ) -> tuple[Tensor, NDArray[np.bool_]]:
        """The changes of each graph towards its target class, and which graphs fell to them."""
        flips = graphs.edge_index.new_empty(2, 0)
        fallen = np.zeros(len(graphs), dtype=bool)
        for _ in range(self.budget):
            found = self._rules.candidates(graphs, flips)
            score = self._score(found, self._gradients(model, graphs, found, target))
            graph = graphs.graph_of_node[found.pairs[0]]
            best = least_of_each(score, graph, len(graphs))
            best = best[(best >= 0) & torch.from_numpy(~fallen).to(best.device)]
            best = best[score[best] <= 0]
            if self.changes == "add":
                best = best[~found.joined[best]]
            if not len(best):
                break
            new = found.pairs[:, best]
            flips, graphs = torch.cat([flips, new], 1), flip_edges(graphs, new)
            fallen |= predicted(model, graphs) != labels
        return flips, fallen

    def _gradients(self, model: Any, graphs: GraphSet, found: Candidates, target: Tensor) -> Tensor:
        """(2, P) by the weights of both directions of each pair."""
        if isinstance(model, HasEdgeFactors):
            return found.gradients(*model.edge_factors(graphs, target))
        return model.edge_gradients(graphs, found.pairs, target)  # type: ignore[no-any-return]

    def _score(self, found: Candidates, gradients: Tensor) -> Tensor:
        """(P,) how the loss of the target class changes, to first order."""
        if self._authors:
            return gradients.min(0).values
        slope = gradients.sum(0)
        return torch.where(found.joined, -slope, slope)


def target_classes(number: NDArray[np.int64], classes: int, authors: bool) -> NDArray[np.int64]:
    """(G, C) the classes that each graph is pushed to, in turn; −1 for none.

    >>> target_classes(np.array([0, 1, 2]), 3, authors=False).tolist()
    [[-1, 1, 2], [0, -1, 2], [0, 1, -1]]
    >>> target_classes(np.array([0, 1, 2]), 3, authors=True).tolist()
    [[0, -1, 2], [0, 1, -1], [0, 1, 2]]
    """
    every = np.tile(np.arange(classes), (len(number), 1))
    left_out = number[:, None] + (1 if authors else 0)
    return np.where(every == left_out, -1, every)


def _numbers(model: Any, labels: NDArray[Any]) -> NDArray[np.int64]:
    classes = np.asarray(model.classes_)
    if not np.isin(labels, classes).all():
        raise InputError("a graph has a class that the model does not know: leave it out")
    return np.searchsorted(classes, labels)
