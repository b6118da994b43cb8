"""What an attack may do next: pairs of nodes that can be joined or parted."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from augcl.attacks.semantics import Semantics
from augcl.data.flips import is_edge
from augcl.data.graph import GraphSet
from augcl.ops.blocks import Blocks

CHANGES = ("add", "delete", "both")


@dataclass(frozen=True)
class Candidates:
    """P changes that are allowed.

    Parameters
    ----------
    pairs : (2, P)
        i < j.
    joined : (P,) bool
        The pair is an edge already.
    blocks : Blocks, optional
        Where all pairs within groups come from; the first of the candidates are …
    chosen : (Q,)
        … these of its pairs.
    """

    pairs: Tensor
    joined: Tensor
    blocks: Blocks | None
    chosen: Tensor

    def gradients(self, receiver: Tensor, sender: Tensor) -> Tensor:
        """(2, P) gradients by the weights of i ← j and j ← i, from factors (V, D) of them."""
        dense = self.pairs.new_empty(2, 0, dtype=receiver.dtype)
        if self.blocks is not None:
            dense = self.blocks.products(receiver, sender)[:, self.chosen]
        i, j = self.pairs[:, dense.shape[1] :]
        listed = torch.stack([(receiver[a] * sender[b]).sum(1) for a, b in ((i, j), (j, i))])
        return torch.cat([dense, listed], 1)


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
        pairs = [graphs.edge_index.new_empty(2, 0)]
        blocks, within = None, 0
        group = self.semantics.groups(graphs)
        if self.changes != "delete":
            blocks = Blocks(group)
            within = blocks.pairs.shape[1]
            pairs.append(blocks.pairs)
        if self.changes != "add":
            pairs.append(graphs.edge_index[:, graphs.edge_index[0] < graphs.edge_index[1]])
        every = torch.cat(pairs, 1)
        joined = is_edge(graphs, every)
        legal = self._legal(graphs, every, joined, group, touched)
        if blocks is not None and self.changes == "both":
            legal[:within] &= ~joined[:within]  # an edge stands once, among those to delete
        chosen = legal.nonzero().squeeze(1)
        return Candidates(every[:, chosen], joined[chosen], blocks, chosen[chosen < within])

    def partners(self, graphs: GraphSet, first: Tensor, touched: Tensor) -> Tensor:
        """(V,) bool: may the node be joined to, or parted from, the node `first[g]` of its graph?

        Nothing is allowed in a graph where `first` is −1.
        """
        mine = first[graphs.graph_of_node]
        nodes = torch.arange(graphs.num_nodes, device=graphs.device)
        open_ = ((mine >= 0) & (mine != nodes)).nonzero().squeeze(1)
        pairs = torch.stack([mine[open_], nodes[open_]]).sort(0).values
        joined = is_edge(graphs, pairs)
        group = self.semantics.groups(graphs)
        legal = self._legal(graphs, pairs, joined, group, touched)
        out = torch.zeros_like(nodes, dtype=torch.bool)
        out[open_] = legal
        return out

    def _legal(
        self, graphs: GraphSet, pairs: Tensor, joined: Tensor, group: Tensor, touched: Tensor
    ) -> Tensor:
        legal = torch.zeros_like(joined)
        if self.changes != "delete":
            near = (group[pairs[0]] == group[pairs[1]]) & (self.idle | ~joined)
            asked = near.nonzero().squeeze(1)
            legal[asked] = self.semantics.may_add(graphs, pairs[:, asked])
        if self.changes != "add":
            asked = joined.nonzero().squeeze(1)
            if len(asked):
                legal[asked] = self.semantics.may_delete(graphs, pairs[:, asked])
        if touched.shape[1]:
            legal &= ~torch.isin(_key(pairs, graphs), _key(touched, graphs))
        return legal


def _key(pairs: Tensor, graphs: GraphSet) -> Tensor:
    low, high = pairs.min(0).values, pairs.max(0).values
    return low * graphs.num_nodes + high
