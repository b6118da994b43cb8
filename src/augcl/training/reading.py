"""What methods take for data: sets of graphs, or one graph."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from augcl.data import GraphSet, as_graphset
from augcl.data.features import align_columns
from augcl.data.node_convert import as_node_graph
from augcl.data.node_graph import NodeGraph
from augcl.data.sparse import torch_csr
from augcl.errors import InputError


class GraphReader:
    """Reads whatever `as_graphset` takes, with the node features of the fit."""

    level = "graph"
    columns_: Any

    def _read(self, X: Any) -> GraphSet:
        return align_columns(as_graphset(X), self.columns_)


class NodeReader:
    """Reads whatever `as_node_graph` takes, with the features of the fit.

    Rows of features sum to 1 unless told otherwise.
    """

    level = "node"
    columns_: Any
    normalize_features: bool = True

    def _read(self, X: Any) -> NodeGraph:
        graph = align_columns(as_node_graph(X), self.columns_)
        if graph.num_nodes < 2:
            raise InputError(f"{graph.name} has one node: contrasting needs two or more")
        return normalised_features(graph) if self.normalize_features else graph


def normalised_features(graph: NodeGraph) -> NodeGraph:
    """Every row of the features divided by its sum, where that is above 1."""
    x = graph.x
    if x.layout == torch.sparse_csr:
        counts = x.crow_indices().diff()
        sums = torch.zeros(len(counts), device=x.device)
        row = torch.repeat_interleave(counts.long())
        sums.index_add_(0, row, x.values())
        values = x.values() / sums.clamp_min(1)[row]
        return replace(graph, x=torch_csr(x.crow_indices(), x.col_indices(), values, x.shape[1]))
    return replace(graph, x=x / x.sum(1, keepdim=True).clamp_min(1))
