"""Decide which edges an attack may change: pairs of nodes, semantics, and legal changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from augcl.attacks.victim_network import EdgeFactors
from augcl.data.graph import GraphSet
from augcl.ops.components import bridges, component_of_node
from augcl.ops.segments import pointer


class GroupPairs:
    """All pairs of nodes within one group, arranged by the size of the group.

    Parameters
    ----------
    group : (V,) int64
        The group of each node, 0 or more; groups need not be contiguous.

    Attributes
    ----------
    nodes : list of (B, n)
        For each size n above 1, the nodes of the B groups of this size, in ascending order.
    pairs : (2, P)
        All pairs i < j of nodes of one group.

    Examples
    --------
    >>> GroupPairs(torch.tensor([0, 1, 0, 1, 0])).pairs.tolist()
    [[1, 0, 0, 2], [3, 2, 4, 4]]
    """

    def __init__(self, group: Tensor) -> None:
        self.group = group
        self._sizes = torch.bincount(group)
        order = torch.argsort(group, stable=True)
        size = self._sizes[group[order]]
        sizes = [n for n in self._sizes.unique().tolist() if n > 1]
        self.nodes = [order[size == n].view(-1, n) for n in sizes]
        self._corners = [torch.triu_indices(n, n, 1, device=group.device) for n in sizes]
        ends = [
            torch.stack([block[:, i].flatten(), block[:, j].flatten()])
            for block, (i, j) in zip(self.nodes, self._corners, strict=True)
        ]
        self.pairs = torch.cat(ends, 1) if ends else group.new_empty(2, 0)

    def products(
        self, left: Sequence[Tensor], right: Sequence[Tensor], *, summed: bool = False
    ) -> Tensor:
        """Return (2, P): Σ_k ⟨left_ki, right_kj⟩ and Σ_k ⟨left_kj, right_ki⟩ of every pair.

        With `summed`, return (1, P), the sum of both.

        Parameters
        ----------
        left, right : K times (V, D)
        """
        found = [left[0].new_empty(1 if summed else 2, 0)]
        for block, (i, j) in zip(self.nodes, self._corners, strict=True):
            groups, n = block.shape
            square = left[0].new_empty(groups, n, n)
            members = block.flatten()
            for k, pair in enumerate(zip(left, right, strict=True)):
                # index_select is the faster way to gather
                one, other = (m.index_select(0, members).view(groups, n, -1) for m in pair)
                square.baddbmm_(one, other.mT, beta=min(k, 1))
            places = [i * n + j, j * n + i]
            if summed:
                square, places = square + square.mT, places[:1]
            flat = square.view(groups, n * n)
            ways = [flat.index_select(1, at).flatten() for at in places]
            found.append(torch.stack(ways))
        return torch.cat(found, 1)

    def index_of(self, pairs: Tensor) -> Tensor:
        """Return (Q,) the position of each pair i < j in `self.pairs`.

        >>> blocks = GroupPairs(torch.tensor([0, 1, 0, 1, 0]))
        >>> blocks.index_of(torch.tensor([[2, 1], [4, 3]])).tolist()
        [3, 0]
        """
        local = torch.zeros_like(self.group)
        start = torch.zeros_like(self._sizes)
        passed = 0
        for block in self.nodes:
            count, n = block.shape
            local[block] = torch.arange(n, device=block.device)
            corners = n * (n - 1) // 2
            begins = passed + corners * torch.arange(count, device=block.device)
            start[self.group[block[:, 0]]] = begins
            passed += count * corners
        group = self.group[pairs[0]]
        size, i, j = self._sizes[group], local[pairs[0]], local[pairs[1]]
        return start[group] + i * size - i * (i + 1) // 2 + j - i - 1


def least_of_each(
    score: Tensor, segment: Tensor, segments: int, *, tolerance: float = 0.0
) -> Tensor:
    """Return (S,) the position of the lowest score of each segment, the first among equals.

    The position is −1 for a segment without finite scores. Scores that differ from the lowest by
    at most `tolerance` times its absolute value count as equal.

    >>> least_of_each(torch.tensor([3.0, 1.0, 2.0]), torch.tensor([0, 0, 2]), 3).tolist()
    [1, -1, 2]
    >>> least_of_each(torch.tensor([-2.9999999, -3.0]), torch.zeros(2).long(), 1, tolerance=1e-5)
    tensor([0])
    """
    least = score.new_full((segments,), torch.inf).scatter_reduce(0, segment, score, "amin")
    limit = least + tolerance * least.abs().nan_to_num(posinf=0.0)
    hits = ((score <= limit[segment]) & (score < torch.inf)).nonzero().squeeze(1)
    first = hits.new_full((segments,), len(score))
    first.scatter_reduce_(0, segment[hits], hits, "amin")
    return torch.where(first < len(score), first, -1)


def flip_edges(graphs: GraphSet, pairs: Tensor) -> GraphSet:
    """Remove the edges among `pairs` that exist, add those that do not.

    Parameters
    ----------
    graphs : GraphSet
        Undirected; edge attributes are dropped, because a new edge has none.
    pairs : (2, P) int64
        Different pairs of nodes, both of one graph, in any order and one direction.

    Examples
    --------
    >>> path = GraphSet.from_arrays(
    ...     pairs=torch.tensor([[0, 1], [1, 2]]),
    ...     graph_of_node=torch.zeros(3, dtype=torch.long),
    ...     num_graphs=1,
    ... )
    >>> flip_edges(path, torch.tensor([[2, 0], [0, 1]])).edge_index.tolist()
    [[0, 1, 2, 2], [2, 2, 0, 1]]
    """
    nodes = graphs.num_nodes
    flipped = torch.cat([pairs[0] * nodes + pairs[1], pairs[1] * nodes + pairs[0]]).sort().values
    keys = graphs.edge_keys
    place = torch.searchsorted(keys, flipped)
    there = found_at(keys, flipped, place)
    kept = torch.ones_like(keys, dtype=torch.bool).index_fill_(0, place[there], False)
    old, new = keys[kept], flipped[~there]
    # Both lists are sorted: insert each new key after the smaller old keys that stay.
    gone_before = there.cumsum(0)[~there]
    behind = place[~there] - gone_before + torch.arange(len(new), device=new.device)
    is_new = torch.zeros(len(old) + len(new), dtype=torch.bool, device=keys.device)
    is_new.index_fill_(0, behind, True)
    merged = keys.new_empty(len(is_new))
    merged.masked_scatter_(~is_new, old).masked_scatter_(is_new, new)
    source = merged.div(nodes, rounding_mode="floor")
    graph = graphs.graph_of_node
    more = torch.bincount(graph[new.div(nodes, rounding_mode="floor")], minlength=len(graphs))
    gone = flipped[there].div(nodes, rounding_mode="floor")
    less = torch.bincount(graph[gone], minlength=len(graphs))
    return replace(
        graphs,
        edge_index=torch.stack([source, merged - source * nodes]),
        edge_ptr=pointer(graphs.edge_ptr.diff() + more - less),
        edge_attr=None,
    )


def is_edge(graphs: GraphSet, pairs: Tensor) -> Tensor:
    """Return (P,) whether each pair is an edge."""
    keys, wanted = graphs.edge_keys, pairs[0] * graphs.num_nodes + pairs[1]
    return found_at(keys, wanted, torch.searchsorted(keys, wanted))


def found_at(keys: Tensor, wanted: Tensor, place: Tensor) -> Tensor:
    """Return whether each wanted key is at its place among the sorted keys."""
    if not len(keys):
        return torch.zeros_like(wanted, dtype=torch.bool)
    return keys[place.clamp_max(len(keys) - 1)] == wanted


class Semantics:
    """Allow all changes within a graph; a subclass forbids changes that would alter the class.

    The methods answer for all graphs of a batch at once. Any object with these three methods works;
    it need not be a subclass.

    Examples
    --------
    Forbid every deletion:

    >>> class KeepEdges(Semantics):
    ...     def may_delete(self, graphs, pairs):
    ...         return torch.zeros(pairs.shape[1], dtype=torch.bool)
    """

    def groups(self, graphs: GraphSet) -> Tensor:
        """Return (V,) whole numbers: only nodes with the same number may be connected.

        This quick filter avoids asking for all pairs.
        """
        return graphs.graph_of_node

    def may_add(self, graphs: GraphSet, pairs: Tensor) -> Tensor | None:
        """Return (P,) bool for pairs i < j (2, P) of one group, edges or not; None means all."""
        return None

    def may_delete(self, graphs: GraphSet, pairs: Tensor) -> Tensor:
        """Return (P,) bool for edges i < j (2, P) of the graphs."""
        return torch.ones_like(pairs[0], dtype=torch.bool)


class SameComponents(Semantics):
    """Keep the number of connected components.

    Two nodes of one component may be connected; any edge that is not a bridge may be removed.

    >>> path = GraphSet.from_arrays(
    ...     pairs=torch.tensor([[0, 1], [1, 2]]),
    ...     graph_of_node=torch.zeros(4, dtype=torch.long),
    ...     num_graphs=1,
    ... )
    >>> SameComponents().groups(path).tolist()
    [0, 0, 0, 1]
    >>> SameComponents().may_delete(path, torch.tensor([[0], [1]])).tolist()
    [False]
    """

    def groups(self, graphs: GraphSet) -> Tensor:
        return component_of_node(graphs.edge_index, graphs.num_nodes)

    def may_delete(self, graphs: GraphSet, pairs: Tensor) -> Tensor:
        source, target = graphs.edge_index
        edges = graphs.edge_index[:, source < target]
        breaks = edges[:, bridges(edges, graphs.num_nodes)]
        keys = graphs.edge_keys
        broken = torch.zeros_like(keys, dtype=torch.bool)
        nodes = graphs.num_nodes
        broken[torch.searchsorted(keys, breaks[0] * nodes + breaks[1])] = True
        return ~broken[torch.searchsorted(keys, pairs[0] * nodes + pairs[1])]


CHANGES = ("add", "delete", "both")


@dataclass(frozen=True)
class Candidates:
    """P pairs of nodes, and which of them may be changed.

    Parameters
    ----------
    pairs : (2, P)
        Pairs i < j: first those of `groups`, if any, then edges.
    legal : (P,) bool
    joined : (P,) bool
        The pair is already an edge.
    groups : GroupPairs, optional
    """

    pairs: Tensor
    legal: Tensor
    joined: Tensor
    groups: GroupPairs | None

    def gradients(self, factors: EdgeFactors, *, summed: bool = False) -> Tensor:
        """Return gradients (2, P) by the weights of i ← j and j ← i; if `summed`, (1, P) sums."""
        dense = factors.receiver[0].new_empty(1 if summed else 2, 0)
        if self.groups is not None:
            dense = self.groups.products(*factors, summed=summed)
        i, j = self.pairs[:, dense.shape[1] :]
        if not len(i):
            return dense
        steps = list(zip(*factors, strict=True))
        ways = [sum((r[a] * s[b]).sum(1) for r, s in steps) for a, b in ((i, j), (j, i))]
        listed = torch.stack(ways)  # type: ignore[arg-type]
        return torch.cat([dense, listed.sum(0, keepdim=True) if summed else listed], 1)


@dataclass(frozen=True)
class Rules:
    """The legal changes: semantics, and the allowed kinds of changes.

    Parameters
    ----------
    semantics : Semantics
    changes : {"add", "delete", "both"}
    idle : bool
        An existing edge may be "added" too, which changes nothing (as published).
    """

    semantics: Semantics
    changes: str = "add"
    idle: bool = False

    def candidates(self, graphs: GraphSet, touched: Tensor) -> Candidates:
        """Return all legal changes, without pairs that were `touched` before."""
        source, target = graphs.edge_index
        edges = graphs.edge_index[:, source < target]
        pairs, legal, joined = [], [], []
        groups = None
        if self.changes != "delete":
            groups = GroupPairs(self.semantics.groups(graphs))
            pairs.append(groups.pairs)
            taken = torch.zeros_like(groups.pairs[0], dtype=torch.bool)
            within = edges[:, groups.group[edges[0]] == groups.group[edges[1]]]
            taken[groups.index_of(within)] = True
            joined.append(taken)
            legal.append(self._addable(graphs, groups.pairs, taken))
        if self.changes != "add":
            pairs.append(edges)
            joined.append(torch.ones_like(edges[0], dtype=torch.bool))
            legal.append(self.semantics.may_delete(graphs, edges))
        every, allowed = torch.cat(pairs, 1), torch.cat(legal)
        if touched.shape[1]:
            allowed = allowed & ~_among(every, touched, graphs)
        return Candidates(every, allowed, torch.cat(joined), groups)

    def legal(self, graphs: GraphSet, pairs: Tensor, group: Tensor) -> Tensor:
        """Return (P,) whether each pair i < j may be changed; `group` is that of the semantics."""
        joined = is_edge(graphs, pairs)
        legal = torch.zeros_like(joined)
        if self.changes != "delete":
            near = (group[pairs[0]] == group[pairs[1]]).nonzero().squeeze(1)
            legal[near] = self._addable(graphs, pairs[:, near], joined[near])
        if self.changes != "add":
            there = joined.nonzero().squeeze(1)
            legal[there] = self.semantics.may_delete(graphs, pairs[:, there])
        return legal

    def partners(self, graphs: GraphSet, first: Tensor, touched: Tensor) -> Tensor:
        """Return (V,) bool: whether the edge between a node and `first[g]` of its graph may change.

        Nothing is allowed in a graph where `first` is −1.
        """
        mine = first[graphs.graph_of_node]
        nodes = torch.arange(graphs.num_nodes, device=graphs.device)
        others = ((mine >= 0) & (mine != nodes)).nonzero().squeeze(1)
        pairs = torch.stack([mine[others], nodes[others]]).sort(0).values
        legal = self.legal(graphs, pairs, self.semantics.groups(graphs))
        if touched.shape[1]:
            legal = legal & ~_among(pairs, touched, graphs)
        return torch.zeros_like(nodes, dtype=torch.bool).index_copy_(0, others, legal)

    def _addable(self, graphs: GraphSet, pairs: Tensor, joined: Tensor) -> Tensor:
        free = torch.ones_like(joined) if self.idle else ~joined
        allowed = self.semantics.may_add(graphs, pairs)
        return free if allowed is None else free & allowed


def _among(pairs: Tensor, touched: Tensor, graphs: GraphSet) -> Tensor:
    return torch.isin(_key(pairs, graphs), _key(touched, graphs))


def _key(pairs: Tensor, graphs: GraphSet) -> Tensor:
    low, high = pairs.min(0).values, pairs.max(0).values
    return low * graphs.num_nodes + high
