"""A view as a list of changes, so that the changes of several views are merged and made once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from augcl.data.graph import GraphSet
from augcl.errors import InputError
from augcl.ops.segments import pointer


@dataclass(frozen=True)
class Edit:
    """Changes to a batch of V nodes and E edge entries; None means no change.

    Parameters
    ----------
    keep_node : (V,) bool, optional
    keep_edge : (E,) bool, optional
        An edge of a removed node is removed in any case.
    added : (2, A) int64, optional
        New edge entries between kept nodes, in the batch's numbering. Where edges have features,
        those of a new entry are 0.
    symmetric : bool
        The changed edges still stand in both directions.
    masked : (V,) bool, optional
        Nodes whose features are replaced …
    filling : (V, F), optional
        … by these. The features of their edges become 0: a bond would give away its atom.
    """

    keep_node: Tensor | None = None
    keep_edge: Tensor | None = None
    added: Tensor | None = None
    symmetric: bool = True
    masked: Tensor | None = None
    filling: Tensor | None = None

    def and_then(self, other: Edit) -> Edit:
        """Merge two edits of different graphs of the batch."""
        return Edit(
            keep_node=_merge(torch.logical_and, self.keep_node, other.keep_node),
            keep_edge=_merge(torch.logical_and, self.keep_edge, other.keep_edge),
            added=_merge(lambda a, b: torch.cat([a, b], dim=1), self.added, other.added),
            symmetric=self.symmetric and other.symmetric,
            masked=_merge(torch.logical_or, self.masked, other.masked),
            filling=self._filled(other),
        )

    def _filled(self, other: Edit) -> Tensor | None:
        if self.filling is None or other.filling is None or other.masked is None:
            return self.filling if other.filling is None else other.filling
        return torch.where(other.masked[:, None], other.filling, self.filling)

    def of_graphs(self, graphs: GraphSet, first: int, last: int) -> Edit:
        """Return the part of an edit of `graphs` that changes ``graphs[first:last]``."""
        nodes = slice(int(graphs.node_ptr[first]), int(graphs.node_ptr[last]))
        edges = slice(int(graphs.edge_ptr[first]), int(graphs.edge_ptr[last]))
        added = self.added
        if added is not None:
            here = (added[0] >= nodes.start) & (added[0] < nodes.stop)
            added = added[:, here] - nodes.start
        return Edit(
            keep_node=None if self.keep_node is None else self.keep_node[nodes],
            keep_edge=None if self.keep_edge is None else self.keep_edge[edges],
            added=added,
            symmetric=self.symmetric,
            masked=None if self.masked is None else self.masked[nodes],
            filling=None if self.filling is None else self.filling[nodes],
        )

    def apply(self, graphs: GraphSet) -> GraphSet:
        """Return the changed batch: as many graphs, nodes renumbered, edges in order."""
        # index_select on flat tensors is faster than indexing a (2, E) one.
        source, target = graphs.edge_index
        edge_attr = self._masked_edges(graphs)
        keep_edge, keep_node = self.keep_edge, self.keep_node
        if keep_node is not None:
            ends = keep_node.index_select(0, source) & keep_node.index_select(0, target)
            keep_edge = ends if keep_edge is None else keep_edge & ends
        if keep_edge is not None:
            kept = keep_edge.nonzero().squeeze(1)
            source, target = source.index_select(0, kept), target.index_select(0, kept)
            edge_attr = None if edge_attr is None else edge_attr.index_select(0, kept)
        if self.added is not None:
            source, order = torch.cat([source, self.added[0]]).sort(stable=True)
            target = torch.cat([target, self.added[1]]).index_select(0, order)
            if edge_attr is not None:
                zeros = edge_attr.new_zeros(self.added.shape[1], edge_attr.shape[1])
                edge_attr = torch.cat([edge_attr, zeros]).index_select(0, order)
        graph = graphs.graph_of_node.index_select(0, source)
        edge_count = torch.bincount(graph, minlength=len(graphs))
        x, node_ptr = graphs.x, graphs.node_ptr
        if self.masked is not None and self.filling is not None:
            x = torch.where(self.masked[:, None], self.filling, x)
        if keep_node is not None:
            before = pointer(keep_node.long())  # kept nodes before each node
            source, target = before.index_select(0, source), before.index_select(0, target)
            x = x.index_select(0, keep_node.nonzero().squeeze(1))
            node_ptr = before[node_ptr]
        return replace(
            graphs,
            x=x,
            edge_index=torch.stack([source, target]),
            node_ptr=node_ptr,
            edge_ptr=pointer(edge_count),
            node_attr=None,  # a view is for the encoder, which reads features and edges
            edge_attr=edge_attr,
            symmetric=graphs.symmetric and self.symmetric,
        )

    def _masked_edges(self, graphs: GraphSet) -> Tensor | None:
        """Return the (E, K) features of the edges, 0 at masked nodes; None if there are none."""
        if graphs.edge_attr is None or self.masked is None:
            return graphs.edge_attr
        source, target = graphs.edge_index
        hidden = self.masked.index_select(0, source) | self.masked.index_select(0, target)
        return graphs.edge_attr.masked_fill(hidden[:, None], 0.0)


class View(ABC):
    """A random change of every graph of a batch, all graphs at once."""

    @abstractmethod
    def edit(self, graphs: GraphSet, active: Tensor, generator: torch.Generator) -> Edit:
        """Return the changes to the graphs where `active`, a (G,) mask, is True."""

    def __call__(self, graphs: GraphSet, generator: torch.Generator) -> GraphSet:
        """Return the changed batch: graph i of the result is a view of graph i."""
        everywhere = torch.ones(len(graphs), dtype=torch.bool, device=graphs.device)
        return self.edit(graphs, everywhere, generator).apply(graphs)


def share(graphs_size: Tensor, ratio: float, active: Tensor) -> Tensor:
    """Return floor(ratio · size) for the active graphs, 0 for the others."""
    if not 0 <= ratio <= 1:
        raise InputError(f"ratio of a view is {ratio}: it must lie between 0 and 1")
    return (graphs_size.double() * ratio).floor().long() * active


def _merge(
    merge: Callable[[Tensor, Tensor], Tensor], a: Tensor | None, b: Tensor | None
) -> Tensor | None:
    """Merge what both edits change; None is no change."""
    if a is None or b is None:
        return a if b is None else b
    return merge(a, b)
