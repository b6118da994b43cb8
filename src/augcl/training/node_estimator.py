"""What methods that embed the nodes of one graph share."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from augcl.data.node_convert import as_node_graph
from augcl.data.node_graph import NodeGraph
from augcl.data.sparse import torch_csr
from augcl.errors import InputError
from augcl.training.estimator import Estimator
from augcl.training.threads import threads_for
from augcl.views.nodes import NodeViews


class NodeBatch:
    """The whole graph as the one batch of an epoch."""

    def __init__(self, graph: NodeGraph) -> None:
        self.graph = graph
        self.views = NodeViews(graph)
        self.labels = None if graph.y is None else graph.y.to(graph.x.device)

    def __len__(self) -> int:
        return self.graph.num_nodes


class NodeEstimator(Estimator):
    """Embeds the nodes of a graph, all of them in every step."""

    level = "node"
    checkpoint_seconds = 5.0
    weight_decay: float
    normalize_features: bool

    def _read(self, X: Any) -> NodeGraph:
        graph = as_node_graph(X)
        if graph.num_nodes < 2:
            raise InputError(f"{graph.name} has one node: contrasting needs two or more")
        return normalised_features(graph) if self.normalize_features else graph

    def _batches(self, data: NodeGraph, generator: torch.Generator) -> list[NodeBatch]:
        return [NodeBatch(data)]

    def _embed(self, data: NodeGraph, device: torch.device) -> Tensor:
        embeddings: Tensor = self.network_.embed(NodeViews(data.to(device)).clean)
        return embeddings

    def _threads(self, data: NodeGraph, batches: list[NodeBatch]) -> AbstractContextManager[None]:
        return threads_for(data.num_nodes**2 / 1000)  # the loss is over all pairs of nodes

    def _optimizer(self, network: nn.Module) -> torch.optim.Optimizer:
        return torch.optim.Adam(
            network.parameters(),
            lr=self._setting("lr"),
            weight_decay=self.weight_decay,
            fused=True,
        )


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
