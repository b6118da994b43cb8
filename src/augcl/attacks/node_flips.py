"""Attacks on node classifiers: change a few edges of one node so that it is misclassified."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from augcl.attacks.rules import CHANGES, flip_edges
from augcl.checks import whole_number
from augcl.contract import Parametric
from augcl.data.graph import GraphSet
from augcl.data.node_graph import NodeGraph
from augcl.encoders.gcn import GCN
from augcl.errors import InputError, one_of
from augcl.ops.csr import propagate
from augcl.ops.segments import pointer
from augcl.training.method import seeded_generator
from augcl.views.nodes import NodeViews, edge_weights

NODES_AT_ONCE = 50_000


@dataclass(frozen=True)
class Copies:
    """B copies of one graph; copy b has changed edges at its own target."""

    union: GraphSet
    targets: Tensor
    nodes: int

    @classmethod
    def of(cls, graph: NodeGraph, targets: Tensor, partners: Tensor) -> Copies:
        """Flip the edges between `targets[b]` and `partners[b]` in copy b; −1 means no partner."""
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
        """Return (B,) the numbers of the targets among all nodes."""
        return self.union.node_ptr[:-1] + self.targets

    def degrees(self) -> Tensor:
        """Return (B, N) the degree of every node plus 1."""
        incoming = self.union.adjacency.incoming.ptr.diff()
        return (incoming + 1).view(-1, self.nodes)


class NodeVictim:
    """Softmax regression on the embeddings of a trained node method, such as GCA.

    Parameters
    ----------
    method : NodeEstimator
        A fitted method with the encoder `GCN`.

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
            raise InputError("the victim must be a fitted node method with a GCN, such as GCA")
        self.method = method
        self.encoder = encoder

    def fit(self, graph: Any, train: Any) -> NodeVictim:
        """Learn the classes of the nodes `train`, numbers or a mask."""
        from sklearn.linear_model import LogisticRegression

        data = _unweighted(self.method.read(graph))
        if data.y is None:
            raise InputError(f"{data.name} has no labels: a victim needs them for training")
        nodes = node_numbers(train, data.num_nodes)
        if len(data.y[nodes].unique()) < 2:
            raise InputError("the nodes of train have one class: a victim needs at least two")
        head = LogisticRegression(max_iter=1000)
        head.fit(self.method.transform(graph)[nodes], data.y.numpy()[nodes])
        self.classes_ = head.classes_
        weight, bias = head.coef_, head.intercept_
        if len(weight) == 1:  # for two classes scikit-learn stores one row
            weight, bias = np.concatenate([0 * weight, weight]), np.concatenate([0 * bias, bias])
        device = self.encoder.first.weight.device
        self.weight = torch.from_numpy(weight).float().to(device)
        self.bias = torch.from_numpy(bias).float().to(device)
        return self

    def read(self, graph: Any, targets: Any) -> tuple[NodeGraph, Tensor]:
        """Return the graph and the numbers (T,) of the targets, on the victim's device."""
        if not hasattr(self, "classes_"):
            raise InputError("the victim is not fitted: call fit(graph, train) first")
        data = _unweighted(self.method.read(graph)).to(self.weight.device)
        chosen = torch.from_numpy(node_numbers(targets, data.num_nodes))
        return data, chosen.to(self.weight.device)

    def truth(self, data: NodeGraph, targets: Tensor) -> NDArray[np.int64]:
        """Return (T,) the true classes of the targets, as indices into the victim's classes."""
        if data.y is None:
            raise InputError(f"{data.name} has no labels: an attack needs the true classes")
        labels = data.y.cpu().numpy()[targets.cpu().numpy()]
        known = np.isin(labels, self.classes_)
        if not known.all():
            raise InputError(
                f"node {int(targets[int((~known).argmax())])} has class {labels[~known][0]}, which "
                "the victim never saw: leave it out, or fit the victim on nodes of this class too"
            )
        numbers: NDArray[np.int64] = np.searchsorted(self.classes_, labels)
        return numbers

    def predict(self, graph: Any, targets: Any, partners: Tensor | None = None) -> NDArray[Any]:
        """Return (T,) classes of the targets, each in its own copy of the graph.

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
        """Return (T, N) the slope of the loss of each target's true class by an edge to each node.

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
        """Yield batches of copies of the graph, and the input of their first propagation."""
        with torch.no_grad():
            mapped = NodeViews(data).clean.times(self.encoder.first.weight.t())
        size = max(1, NODES_AT_ONCE // data.num_nodes)
        for some, changed in zip(targets.split(size), partners.split(size), strict=True):
            yield Copies.of(data, some, changed), mapped.repeat(len(some), 1)

    def _forward(self, copies: Copies, h1: Tensor) -> tuple[tuple[Tensor, ...], Tensor]:
        """Return inputs and outputs of both propagations, and the (B, C) logits of the targets."""
        encoder, edges = self.encoder, copies.union.adjacency
        p1 = propagate(h1, edges)
        h2 = encoder.after[0](p1 + encoder.first.bias) @ encoder.second.weight.t()
        p2 = propagate(h2, edges)
        out = encoder.after[-1](p2[copies.rows] + encoder.second.bias)
        return (h1, p1, h2, p2), out @ self.weight.t() + self.bias


def _unweighted(graph: NodeGraph) -> NodeGraph:
    """Return the graph; raise `InputError` if its edges have weights, which no flip here knows."""
    if edge_weights(graph) is not None:
        raise InputError(
            f"{graph.name} has edge weights, and a flipped edge has none: leave them out, also for "
            "the training of the method"
        )
    return graph


def _edge_slopes(copies: Copies, h: Tensor, p: Tensor, by_h: Tensor, by_p: Tensor) -> Tensor:
    """Return (B, N) the slopes through one propagation p_i = Σ_j h_j / √(d_i d_j), d degrees."""
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
    """Return the numbers of nodes given as numbers or as a mask."""
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
        raise InputError(f"nodes must be one or more numbers from 0 to {count - 1}, or a mask")
    return found.astype(np.int64)


@dataclass(frozen=True)
class NodeAttackResult:
    """The changed edges and the accuracies on the targets before and after.

    `partners` (T, K) are the nodes whose edge to each target was changed; −1 means none.
    """

    partners: Tensor
    clean: float
    attacked: float


class NodeAttack(Parametric, ABC):
    """Change edges of one node at a time; every target is attacked in its own copy of the graph.

    The last edge of a target is never removed. A subclass rates the changes in `_scores`.
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
        """Return (T, N) the score of changing the edge to each node; the highest is taken.

        `joined` (T, N) marks the neighbours of each target; `slopes` returns (T, N) the slope of
        the loss of its true class by an edge to each node.
        """

    def attack(self, victim: NodeVictim, graph: Any, targets: Any) -> NodeAttackResult:
        """Attack each of the targets (numbers or a mask) with at most `budget` changes."""
        whole_number("budget", self.budget, least=1)
        one_of(self.changes, CHANGES, "kind of changes")
        if not isinstance(victim, NodeVictim):
            raise InputError(
                f"victim is a {type(victim).__name__}: give NodeVictim(method).fit(graph, train)"
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
    """Change random edges of each target.

    Parameters
    ----------
    budget : int
        Largest number of edges changed at each target.
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
    """Change the edge that raises the loss of the target's true class fastest.

    The gradient is computed again after every change; it includes both directions of an edge and
    the degrees in the normalisation.

    Parameters
    ----------
    budget : int
        Largest number of edges changed at each target.
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
    """Return (T, N) bool: the neighbours of each target after its changes."""
    row = torch.full((data.num_nodes,), -1, device=targets.device)
    # A node may be a target several times: find its row once, then copy.
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
