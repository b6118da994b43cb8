"""Which changes of a graph leave its meaning as it is."""

from __future__ import annotations

import torch
from torch import Tensor

from augcl.data.graph import GraphSet
from augcl.ops.components import bridges, component_of_node


class Semantics:
    """Every edge within a graph may come or go; a subclass forbids what would change the class.

    Questions are asked for all graphs of a batch at once. Anything with these three methods will
    do; it need not be a subclass.
    """

    def groups(self, graphs: GraphSet) -> Tensor:
        """(V,) whole numbers: only nodes with the same number may be joined.

        A quick first answer, so that not all pairs have to be asked for.
        """
        return graphs.graph_of_node

    def may_add(self, graphs: GraphSet, pairs: Tensor) -> Tensor | None:
        """(P,) bool for (2, P) pairs i < j of one group, joined or not; None means all."""
        return None

    def may_delete(self, graphs: GraphSet, pairs: Tensor) -> Tensor:
        """(P,) bool for (2, P) edges i < j of the graphs."""
        return torch.ones_like(pairs[0], dtype=torch.bool)


class SameComponents(Semantics):
    """The number of connected components must not change.

    Nodes of one component may be joined; an edge may go unless its component falls apart.

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
