"""Base of the attacks on graph classifiers, and the interface of the attacked model."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import nll_loss

from augcl.attacks.rules import CHANGES, Rules, SameComponents, Semantics, flip_edges
from augcl.attacks.victim_network import EdgeFactors
from augcl.checks import whole_number
from augcl.contract import Parametric
from augcl.data.convert import as_graphset
from augcl.data.graph import GraphSet
from augcl.data.labels import class_labels
from augcl.errors import InputError, one_of
from augcl.methods.recipes import by_recipe
from augcl.training.method import plain_settings, seeded_generator


@runtime_checkable
class HasEdgeFactors(Protocol):
    """A classifier whose gradient by the adjacency is a product of two node matrices."""

    classes_: Any

    def predict(self, graphs: Any) -> Any: ...

    def edge_factors(self, graphs: GraphSet, targets: Tensor) -> list[EdgeFactors]:
        """Return the factors of the gradient of Σ_g −log P(class targets[r, g]) for each row r.

        `targets` is (R, G); graphs with target −1 are left out.
        """
        ...


@runtime_checkable
class HasEdgeGradients(Protocol):
    """Any other classifier that returns gradients by the edge weights of given pairs."""

    classes_: Any

    def predict(self, graphs: Any) -> Any: ...

    def edge_gradients(self, graphs: GraphSet, pairs: Tensor, targets: Tensor) -> Tensor:
        """Return the gradient (2, P) by the weights of j → i and of i → j for pairs (i, j) (2, P).

        The loss is Σ_g −log P(class targets[g]); graphs with target −1 are left out.
        """
        ...


def predicted(model: Any, graphs: GraphSet) -> NDArray[Any]:
    """Return (G,) classes by ``model.predict`` or ``model(graphs)`` (classes or scores (G, C))."""
    if hasattr(model, "predict"):
        answer = model.predict(graphs)
    elif callable(model):
        _takes_graphs_alone(model, graphs)
        with torch.no_grad():
            answer = model(graphs)
    else:
        raise InputError(
            f"{type(model).__name__} cannot be attacked: give a model with predict(graphs), or a "
            "function of graphs"
        )
    found = answer.cpu().numpy() if isinstance(answer, Tensor) else np.asarray(answer)
    if found.ndim == 2:
        found = found.argmax(1)
    if found.shape != (len(graphs),):
        raise InputError(
            f"the model returned shape {found.shape} for {len(graphs)} graphs: expected one class "
            "per graph"
        )
    return found


def _takes_graphs_alone(model: Any, graphs: GraphSet) -> None:
    """Raise `InputError` if ``model(graphs)`` would fail, as it does for a PyG module."""
    try:
        inspect.signature(getattr(model, "forward", model)).bind(graphs)
    except TypeError as error:
        raise InputError(
            f"{type(model).__name__} cannot be called with the graphs alone ({error}): give a "
            "function of them, such as lambda g: model(g.x, g.edge_index, g.graph_of_node)"
        ) from None
    except ValueError:  # written in C: no signature
        return


class WeightedEdges:
    """Wrap a classifier that uses edge weights, so that `GradArgmax` can attack it.

    Parameters
    ----------
    module : callable
        ``module(x, edge_index, edge_weight, batch)`` returns (G, C) logits, like a network of PyG
        layers; sums over edges must be linear in the weights.
    classes : int
        Number of classes C.

    Examples
    --------
    >>> from torch_geometric.nn import GraphConv, global_add_pool
    >>> from augcl.attacks import GradArgmax
    >>> from augcl.data import components
    >>> conv = GraphConv(1, 3)
    >>> def module(x, edge_index, edge_weight, batch):
    ...     return global_add_pool(conv(x, edge_index, edge_weight), batch)
    >>> len(GradArgmax().perturb(WeightedEdges(module, classes=3), components(per_class=5)))
    15
    """

    def __init__(self, module: nn.Module, classes: int) -> None:
        self.module = module
        self.classes_ = np.arange(classes)

    @torch.no_grad()
    def predict(self, graphs: GraphSet) -> NDArray[Any]:
        """Return (G,) the most probable classes."""
        weight = torch.ones(graphs.num_edges, device=graphs.device)
        logits: Tensor = self.module(graphs.x, graphs.edge_index, weight, graphs.graph_of_node)
        found: NDArray[Any] = logits.argmax(1).cpu().numpy()
        return found

    def edge_gradients(self, graphs: GraphSet, pairs: Tensor, targets: Tensor) -> Tensor:
        """Return gradients by autograd: every pair is added as two edges of weight 0."""
        more = torch.zeros(2 * pairs.shape[1], device=graphs.device, requires_grad=True)
        there = torch.ones(graphs.num_edges, device=graphs.device)
        edges = torch.cat([graphs.edge_index, pairs.flip(0), pairs], 1)  # j → i, then i → j
        with torch.enable_grad():
            weight = torch.cat([there, more])
            logits = self.module(graphs.x, edges, weight, graphs.graph_of_node)
            loss = nll_loss(logits.log_softmax(1), targets, reduction="sum", ignore_index=-1)
            (slopes,) = torch.autograd.grad(loss, more)
        return slopes.view(2, -1)


class Attack(Parametric, ABC):
    """Change few edges of each graph so that a classifier errs, while the true class stays.

    A subclass finds the changes in `_flips`; many graphs are attacked at once.

    Parameters
    ----------
    budget : int
        Largest number of edges changed in each graph.
    changes : {"add", "delete", "both"}
        Allowed kinds of changes; published: "add".
    semantics : Semantics, optional
        What must not change; the number of components if None.
    recipe : {"default", "authors"}
        Decides every option that names the recipe.
    idle : bool, optional
        Pairs that are already connected may be chosen, which changes nothing. Decided by the recipe
        if None: True in the released code ("authors"), else False.
    random_state : int or None
        Seed of the random draws.
    """

    pairs_at_once = 1 << 17
    """Ordered pairs of nodes of the graphs that are attacked together: they fit in the cache."""

    def __init__(
        self,
        *,
        budget: int = 1,
        changes: str = "add",
        semantics: Semantics | None = None,
        recipe: str = "default",
        idle: bool | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.budget = budget
        self.changes = changes
        self.semantics = semantics
        self.recipe = recipe
        self.idle = idle
        self.random_state = random_state

    @abstractmethod
    def _flips(
        self, model: Any, graphs: GraphSet, labels: NDArray[Any], generator: torch.Generator
    ) -> Tensor:
        """Return (2, P) different pairs to connect or disconnect, at most `budget` per graph."""

    def perturb(self, model: Any, graphs: Any, y: Any = None) -> GraphSet:
        """Return the graphs with at most `budget` edges changed in each.

        Parameters
        ----------
        model :
            The victim: ``predict(graphs)`` returns classes, or ``model(graphs)`` returns classes or
            (G, C) scores. Both get a GraphSet. Wrap a PyG module as
            ``lambda g: module(g.x, g.edge_index, g.graph_of_node)``.
        graphs : GraphSet, list of PyG Data or networkx graphs, PyG dataset
        y : (G,) array, optional
            True classes; if None, the labels of the graphs, or the model's predictions if they
            have none.
        """
        self.check()
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

    def settings(self) -> dict[str, Any]:
        """Return the hyper-parameters as plain JSON values."""
        return {
            name: type(value).__name__ if name == "semantics" and value else plain_settings(value)
            for name, value in self.get_params(deep=False).items()
            if name != "progress"
        }

    def check(self) -> None:
        """Raise `InputError` for settings with which an attack would not start."""
        whole_number("budget", self.budget, least=1)
        one_of(self.changes, CHANGES, "kind of changes")
        one_of(self.recipe, ("default", "authors"), "recipe")
        if by_recipe(self, "idle") and self.changes != "add":
            raise InputError('idle=True (recipe "authors") only adds edges: leave changes at "add"')
        given, asked = self.semantics, ("groups", "may_add", "may_delete")
        if isinstance(given, type) or not (
            given is None or all(hasattr(given, name) for name in asked)
        ):
            raise InputError(
                f"semantics is {given!r}: give an object with groups, may_add and may_delete, such "
                "as an instance of a subclass of augcl.attacks.Semantics"
            )

    @property
    def _rules(self) -> Rules:
        semantics = SameComponents() if self.semantics is None else self.semantics
        return Rules(semantics, self.changes, idle=by_recipe(self, "idle"))

    def _labels(self, model: Any, graphs: GraphSet, y: Any) -> NDArray[Any]:
        if y is None and graphs.y is None:
            return predicted(model, graphs)
        return class_labels(graphs, y)


def changed_edges(before: GraphSet, after: GraphSet) -> list[tuple[int, int, int, str]]:
    """Return graph, source, target and "add" or "delete" of every undirected edge that differs.

    Nodes are numbered within their graph.
    """
    nodes = before.num_nodes
    keys = [g.edge_index[0].numpy() * nodes + g.edge_index[1].numpy() for g in (before, after)]
    ptr = before.node_ptr.numpy()
    rows: list[tuple[int, int, int, str]] = []
    for change, (here, there) in {"add": (1, 0), "delete": (0, 1)}.items():
        pair = np.setdiff1d(keys[here], keys[there])
        source, target = pair // nodes, pair % nodes
        once = source < target
        source, target = source[once], target[once]
        graph = np.searchsorted(ptr, source, side="right") - 1
        each = zip(graph, source - ptr[graph], target - ptr[graph], strict=True)
        rows += [(int(g), int(s), int(t), change) for g, s, t in each]
    return rows


def _batches(graphs: GraphSet, limit: int) -> list[Tensor]:
    """Group consecutive graphs into batches with about `limit` ordered pairs of nodes."""
    pairs = graphs.node_ptr.diff().cpu().square().cumsum(0)
    batch = pairs.div(limit, rounding_mode="floor")
    sizes = batch.unique_consecutive(return_counts=True)[1]
    return list(torch.arange(len(graphs)).split(sizes.tolist()))


def accuracy_under(attack: Attack, model: Any, graphs: GraphSet, y: Any = None) -> float:
    """Return the share of graphs that the model still classifies correctly after the attack.

    Parameters
    ----------
    attack : Attack
    model, graphs, y :
        As in `Attack.perturb`.

    Examples
    --------
    >>> import augcl
    >>> from augcl.data import components
    >>> graphs = components(per_class=4)
    >>> accuracy_under(augcl.RandSampling(random_state=0), lambda g: g.y, graphs)
    1.0
    """
    after = predicted(model, attack.perturb(model, graphs, y))
    return float(np.mean(after == class_labels(as_graphset(graphs), y)))
