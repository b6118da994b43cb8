"""Evasion at node level: a few edges of one node changed, so that it is misclassified."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from torch import Tensor
from torch.nn.functional import cross_entropy

from augcl.attacks.rules import CHANGES, flip_edges
from augcl.checks import whole_number
from augcl.data import GraphSet
from augcl.data.node_graph import NodeGraph
from augcl.encoders.gcn import GCN
from augcl.errors import InputError, one_of
from augcl.ops.gcn import propagate
from augcl.ops.segments import pointer
from augcl.training.method import seeded_generator
from augcl.views.nodes import NodeViews

NODES_AT_ONCE = 50_000


@dataclass(frozen=True)
class Copies:
    """B copies of one graph, each with the edges of its own target changed."""

    union: GraphSet
    targets: Tensor
    nodes: int

    @classmethod
    def of(cls, graph: NodeGraph, targets: Tensor, partners: Tensor) -> Copies:
        """Join `targets[b]` with `partners[b]` in copy b, or part them; −1 is nobody."""
        count, nodes, edges = len(targets), graph.num_nodes, graph.num_edges
        start = torch.arange(count, device=targets.device) * nodes
        union = GraphSet(
            x=graph.edge_index.new_empty(count * nodes, 0, dtype=torch.float32),
            edge_index=(graph.edge_index[:, None] + start[:, None]).reshape(2, -1),
            node_ptr=pointer(torch.full_like(start, nodes)),
            edge_ptr=pointer(torch.full_like(start, edges)),
        )
        ends = (targets + start)[:, None].expand_as(partners), partners + start[:, None]
        flips = torch.stack(ends)[:, partners >= 0]
        return cls(flip_edges(union, flips), targets, nodes)

    @property
    def rows(self) -> Tensor:
        """(B,) where the targets stand among all nodes."""
        return self.union.node_ptr[:-1] + self.targets

    def degrees(self) -> Tensor:
        """(B, N) edges of every node, and one for itself."""
        incoming = self.union.adjacency.incoming.ptr.diff()
        return (incoming + 1).view(-1, self.nodes)


class NodeVictim:
    """Softmax regression on the embeddings of a trained node method, such as GCA.

    Parameters
    ----------
    method : NodeEstimator
        Fitted, and with its own encoder `GCN`.

    Examples
    --------
    >>> import augcl
    >>> graph = augcl.load("digits-knn")
    >>> method = augcl.GCA(epochs=2, width=16).fit(graph)
    >>> victim = NodeVictim(method).fit(graph, range(300))
    >>> victim.predict(graph, [500, 501]).shape
    (2,)
    """

    def __init__(self, method: Any) -> None:
        encoder = getattr(getattr(method, "network_", None), "encoder", None)
        if not isinstance(encoder, GCN):
            raise InputError("the victim must be a fitted node method with its own GCN, as GCA is")
        self.method = method
        self.encoder = encoder

    def fit(self, graph: Any, train: Any) -> NodeVictim:
        """Learn the classes of the nodes `train`, numbers or a mask."""
        from sklearn.linear_model import LogisticRegression

        data = self.method.read(graph)
        if data.y is None:
            raise InputError(f"{data.name} has no labels: a victim learns them")
        nodes = node_numbers(train, data.num_nodes)
        if len(data.y[nodes].unique()) < 2:
            raise InputError("the nodes of train are of one class: a victim needs two or more")
        head = LogisticRegression(max_iter=1000)
        head.fit(self.method.transform(graph)[nodes], data.y.numpy()[nodes])
        self.classes_ = head.classes_
        weight, bias = head.coef_, head.intercept_
        if len(weight) == 1:  # of two classes scikit-learn keeps one
            weight, bias = np.concatenate([0 * weight, weight]), np.concatenate([0 * bias, bias])
        device = self.encoder.first.weight.device
        self.weight = torch.from_numpy(weight).float().to(device)
        self.bias = torch.from_numpy(bias).float().to(device)
        return self

    def read(self, graph: Any, targets: Any) -> tuple[NodeGraph, Tensor]:
        """The graph, and the (T,) numbers of the targets, where the victim computes."""
        if not hasattr(self, "classes_"):
            raise InputError("the victim knows no classes yet: call fit(graph, train) first")
        data: NodeGraph = self.method.read(graph).to(self.weight.device)
        chosen = torch.from_numpy(node_numbers(targets, data.num_nodes))
        return data, chosen.to(self.weight.device)

    def truth(self, data: NodeGraph, targets: Tensor) -> NDArray[np.int64]:
        """(T,) the true classes of targets, as numbers of the victim's classes."""
        if data.y is None:
            raise InputError(f"{data.name} has no labels: an attack makes a node leave its class")
        labels = data.y.cpu().numpy()[targets.cpu().numpy()]
        known = np.isin(labels, self.classes_)
        if not known.all():
            raise InputError(
                f"node {int(targets[int((~known).argmax())])} is of class {labels[~known][0]}, "
                "which the victim never saw: leave it out, or fit the victim on nodes of it too"
            )
        numbers: NDArray[np.int64] = np.searchsorted(self.classes_, labels)
        return numbers

    def predict(self, graph: Any, targets: Any, partners: Tensor | None = None) -> NDArray[Any]:
        """(T,) classes of the targets, each in its own copy of the graph.

        Parameters
        ----------
        graph : Data, NodeGraph or networkx graph
        targets : (T,) numbers of nodes, or a mask
        partners : (T, K), optional
            Nodes whose edge to the target is changed; −1 for none.
        """
        data, chosen = self.read(graph, targets)
        if partners is None:
            partners = chosen.new_empty(len(chosen), 0)
        with torch.no_grad():
            numbers = [
                self._forward(copies, h1)[1].argmax(1)
                for copies, h1 in self._inputs(data, chosen, partners)
            ]
        found: NDArray[Any] = self.classes_[torch.cat(numbers).cpu().numpy()]
        return found

    @torch.enable_grad()
    def slopes(self, graph: Any, targets: Any, partners: Tensor) -> Tensor:
        """(T, N) how the loss of each target's true class rises with an edge to each node.

        Parameters are those of `predict`.
        """
        data, chosen = self.read(graph, targets)
        found = []
        for copies, inputs in self._inputs(data, chosen, partners):
            values, logits = self._forward(copies, inputs.requires_grad_())
            labels = torch.from_numpy(self.truth(data, copies.targets)).to(logits.device)
            loss = cross_entropy(logits, labels, reduction="sum")
            by_h1, by_p1, by_h2, by_p2 = torch.autograd.grad(loss, values)
            h1, p1, h2, p2 = (value.detach() for value in values)
            first = _edge_slopes(copies, h1, p1, by_h1, by_p1)
            found.append(first + _edge_slopes(copies, h2, p2, by_h2, by_p2))
        return torch.cat(found)

    def _inputs(
        self, data: NodeGraph, targets: Tensor, partners: Tensor
    ) -> Iterator[tuple[Copies, Tensor]]:
        """Many copies of the graph at a time, and what their first propagation mixes."""
        with torch.no_grad():
            mapped = NodeViews(data).clean.times(self.encoder.first.weight.t())
        size = max(1, NODES_AT_ONCE // data.num_nodes)
        for some, changed in zip(targets.split(size), partners.split(size), strict=True):
            yield Copies.of(data, some, changed), mapped.repeat(len(some), 1)

    def _forward(self, copies: Copies, h1: Tensor) -> tuple[tuple[Tensor, ...], Tensor]:
        """What goes into both propagations and comes out, and the (B, C) logits of the targets."""
        encoder, edges = self.encoder, copies.union.adjacency
        p1 = propagate(h1, edges)
        h2 = encoder.activation(p1 + encoder.first.bias) @ encoder.second.weight.t()
        p2 = propagate(h2, edges)
        out = encoder.activation(p2[copies.rows] + encoder.second.bias)
        return (h1, p1, h2, p2), out @ self.weight.t() + self.bias


def _edge_slopes(copies: Copies, h: Tensor, p: Tensor, by_h: Tensor, by_p: Tensor) -> Tensor:
    """(B, N): the part of one propagation p_i = Σ_j h_j / √(d_i d_j), with degrees d."""
    count, nodes = len(copies.targets), copies.nodes
    degree = copies.degrees().to(h.dtype)
    root = degree.rsqrt()
    own = torch.arange(count, device=h.device), copies.targets
    into_target = (by_p[copies.rows][:, None] * h.view(count, nodes, -1)).sum(2)
    out_of_target = (by_p.view(count, nodes, -1) * h[copies.rows][:, None]).sum(2)
    by_degree = -((by_p * p).sum(1) + (by_h * h).sum(1)).view(count, nodes) / (2 * degree)
    at_target = root[own][:, None]
    return (into_target + out_of_target) * root * at_target + by_degree + by_degree[own][:, None]


def node_numbers(nodes: Any, count: int) -> NDArray[np.int64]:
    """Numbers of nodes from numbers or a mask."""
    found = np.asarray(nodes)
    if found.dtype == bool and found.shape == (count,):
        found = np.flatnonzero(found)
    if (
        found.dtype.kind not in "iu"
        or found.ndim != 1
        or not len(found)
        or found.min() < 0
        or found.max() >= count
    ):
        raise InputError(f"give one or more of the nodes 0 to {count - 1}, or a mask of them")
    return found.astype(np.int64)


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
