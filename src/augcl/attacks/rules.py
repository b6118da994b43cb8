"""What an attack may do next: pairs of nodes that can be joined or parted."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from augcl.attacks.semantics import Semantics
from augcl.data.flips import is_edge
from augcl.data.graph import GraphSet
from augcl.encoders.classifier import EdgeFactors
from augcl.ops.blocks import Blocks

CHANGES = ("add", "delete", "both")


@dataclass(frozen=True)
class Candidates:
    """P pairs of nodes, and which of them may be changed.

    Parameters
    ----------
    pairs : (2, P)
        i < j: first all pairs of `blocks`, if there are such, then edges.
    legal : (P,) bool
    joined : (P,) bool
        The pair is an edge already.
    blocks : Blocks, optional
    """

    pairs: Tensor
    legal: Tensor
    joined: Tensor
    blocks: Blocks | None

    def gradients(self, factors: EdgeFactors, *, summed: bool = False) -> Tensor:
        """(2, P) gradients by the weights of i ← j and j ← i; if `summed`, (1, P) of both."""
        dense = factors.receiver[0].new_empty(1 if summed else 2, 0)
        if self.blocks is not None:
            dense = self.blocks.products(*factors, summed=summed)
        i, j = self.pairs[:, dense.shape[1] :]
        if not len(i):
            return dense
        steps = list(zip(*factors, strict=True))
        ways = [sum((r[a] * s[b]).sum(1) for r, s in steps) for a, b in ((i, j), (j, i))]
        listed = torch.stack(ways)  # type: ignore[arg-type]
        return torch.cat([dense, listed.sum(0, keepdim=True) if summed else listed], 1)


@dataclass(frozen=True)
class Rules:
    """Semantics, and which kind of change is wanted.

    Parameters
    ----------
    semantics : Semantics
    changes : {"add", "delete", "both"}
    idle : bool
        A pair that is joined may be "added" as well, which changes nothing (as published).
    """

    semantics: Semantics
    changes: str = "add"
    idle: bool = False

    def candidates(self, graphs: GraphSet, touched: Tensor) -> Candidates:
        """All changes allowed now, but of no pair that was `touched` before."""
        source, target = graphs.edge_index
        edges = graphs.edge_index[:, source < target]
        pairs, legal, joined = [], [], []
        blocks = None
        if self.changes != "delete":
            blocks = Blocks(self.semantics.groups(graphs))
            pairs.append(blocks.pairs)
            taken = torch.zeros_like(blocks.pairs[0], dtype=torch.bool)
            within = edges[:, blocks.group[edges[0]] == blocks.group[edges[1]]]
            taken[blocks.places(within)] = True
            joined.append(taken)
            legal.append(self._addable(graphs, blocks.pairs, taken))
        if self.changes != "add":
            pairs.append(edges)
            joined.append(torch.ones_like(edges[0], dtype=torch.bool))
            legal.append(self.semantics.may_delete(graphs, edges))
        every, allowed = torch.cat(pairs, 1), torch.cat(legal)
        if touched.shape[1]:
            allowed = allowed & ~_among(every, touched, graphs)
        return Candidates(every, allowed, torch.cat(joined), blocks)

    def legal(self, graphs: GraphSet, pairs: Tensor, group: Tensor) -> Tensor:
        """(P,) whether each of some pairs i < j may be changed; `group` as the semantics say."""
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
        """(V,) bool: may the node be joined to, or parted from, the node `first[g]` of its graph?

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
