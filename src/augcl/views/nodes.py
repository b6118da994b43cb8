"""Views of one graph: some edges dropped, some feature columns masked for all nodes."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from augcl.data.node_graph import NodeGraph
from augcl.ops.csr import Adjacency, Rows, SparseMatrix
from augcl.ops.segments import pointer


@dataclass(frozen=True)
class NodeView:
    """What an encoder sees of the graph.

    Parameters
    ----------
    features : (N, F) Tensor or SparseMatrix
        Unmasked.
    columns : (F,) float, optional
        0 for masked columns, 1 for the others.
    edges : Adjacency
    edge_index : (2, E') int64
        The same edges as pairs.
    """

    features: Tensor | SparseMatrix
    columns: Tensor | None
    edges: Adjacency
    edge_index: Tensor

    def times(self, weight: Tensor) -> Tensor:
        """The product of the masked features with weight (F, D): masking a column is a row of 0."""
        if self.columns is not None:
            weight = weight * self.columns[:, None]
        if isinstance(self.features, SparseMatrix):
            return self.features.times(weight)
        return self.features @ weight

    def x(self) -> Tensor:
        """(N, F) masked features, dense, for encoders of other libraries."""
        if isinstance(self.features, SparseMatrix):
            width = len(self.features.columns.ptr) - 1
            return self.times(torch.eye(width, device=self.edge_index.device))
        return self.features if self.columns is None else self.features * self.columns


class NodeViews:
    """One graph made ready to give many views; nothing is sorted again for them.

    >>> path = NodeGraph(torch.eye(3), torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]))
    >>> one_way = NodeViews(path).view(edges=torch.tensor([True, False, True, True]))
    >>> one_way.edge_index.tolist()
    [[0, 1, 2], [1, 2, 1]]
    """

    def __init__(self, graph: NodeGraph) -> None:
        self.features: Tensor | SparseMatrix = (
            SparseMatrix.from_csr(graph.x) if graph.x.layout == torch.sparse_csr else graph.x
        )
        self.nodes = graph.num_nodes
        self.num_features = graph.num_features
        self.edge_index = graph.edge_index
        source, target = graph.edge_index
        # Both directions of every edge are there: entry k of this order is the reverse of entry k.
        self._by_target = torch.argsort(target * self.nodes + source)
        self.clean = self.view()

    def view(self, *, edges: Tensor | None = None, columns: Tensor | None = None) -> NodeView:
        """The view with the edges (E,) and feature columns (F,) that are True."""
        masked = None if columns is None else columns.to(torch.float32)
        if edges is None:
            both = self._rows(slice(None))
            return NodeView(self.features, masked, Adjacency(both, both), self.edge_index)
        adjacency = Adjacency(self._rows(edges[self._by_target]), self._rows(edges))
        return NodeView(self.features, masked, adjacency, self.edge_index[:, edges])

    def _rows(self, kept: Tensor | slice) -> Rows:
        source, target = self.edge_index
        counts = torch.bincount(source[kept], minlength=self.nodes)
        return Rows(target[kept], pointer(counts))


def draw(drop: Tensor, generator: torch.Generator) -> Tensor:
    """(K,) bool: entry k is False, so dropped, with probability drop[k]."""
    chance = torch.rand(len(drop), generator=generator, device=generator.device)
    return chance.to(drop.device) >= drop
