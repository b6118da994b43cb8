"""What methods that embed the nodes of one graph share."""

from __future__ import annotations

from contextlib import AbstractContextManager

import torch
from torch import Tensor, nn

from augcl.data.node_graph import NodeGraph
from augcl.ops.adam import Adam
from augcl.training.estimator import Estimator
from augcl.training.reading import NodeReader
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


class NodeEstimator(NodeReader, Estimator):
    """Embeds the nodes of a graph, all of them in every step."""

    checkpoint_seconds = 5.0
    weight_decay: float = 0.0

    def _batches(self, data: NodeGraph, generator: torch.Generator) -> list[NodeBatch]:
        return [NodeBatch(data)]

    def _embed(self, data: NodeGraph, device: torch.device) -> Tensor:
        embeddings: Tensor = self.network_.embed(NodeViews(data.to(device)).clean)
        return embeddings

    def _threads(self, data: NodeGraph, batches: list[NodeBatch]) -> AbstractContextManager[None]:
        return threads_for(data.num_nodes**2 / 1000)  # the loss is over all pairs of nodes

    def _optimizer(self, network: nn.Module) -> torch.optim.Optimizer:
        return Adam(
            network.parameters(),
            lr=self._setting("lr"),
            weight_decay=self.weight_decay,
            fused=True,
        )
