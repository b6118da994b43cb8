"""Encoder, pooling and projector as one network."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from augcl.data.graph import GraphSet
from augcl.encoders.gin import GIN
from augcl.errors import InputError
from augcl.ops.csr import Adjacency
from augcl.ops.segments import segment_sum


class ContrastiveNetwork(nn.Module):
    """Graph embeddings g, and the projections z of them that the loss compares.

    Parameters
    ----------
    encoder : Module
        Ours, or any module called as PyG's are: ``encoder(x, edge_index)`` gives (V, D).
    projector : Module
        (G, D) to (G, D').
    pooling : {"sum", "mean"}
        From nodes to graphs.
    """

    def __init__(self, encoder: nn.Module, projector: nn.Module, *, pooling: str = "sum") -> None:
        super().__init__()
        self.encoder = encoder
        self.projector = projector
        self.pooling = pooling

    def forward(self, x: Tensor, edges: Tensor | Adjacency, node_ptr: Tensor) -> Tensor:
        """(G, D') projections."""
        pooled = self._pooled(x, edges, node_ptr)
        return self.projector(pooled)  # type: ignore[no-any-return]

    def embed(self, graphs: GraphSet) -> Tensor:
        """(G, D) embeddings, before the projection."""
        return self._pooled(*inputs(self.encoder, graphs))

    def _pooled(self, x: Tensor, edges: Tensor | Adjacency, node_ptr: Tensor) -> Tensor:
        if isinstance(self.encoder, GIN):  # layer by layer: they need not stand side by side
            layers = self.encoder.outputs(x, edges)
            return torch.cat([pool(nodes, node_ptr, self.pooling) for nodes in layers], dim=1)
        return pool(self.encoder(x, edges), node_ptr, self.pooling)


def inputs(encoder: nn.Module, graphs: GraphSet) -> tuple[Tensor, Tensor | Adjacency, Tensor]:
    """What `ContrastiveNetwork` takes: our encoders read the compressed adjacency."""
    edges = graphs.adjacency if isinstance(encoder, GIN) else graphs.edge_index
    return graphs.x, edges, graphs.node_ptr


def pool(nodes: Tensor, node_ptr: Tensor, pooling: str) -> Tensor:
    """(V, D) node values to the (G, D) sums or means of each graph."""
    if nodes.ndim != 2 or len(nodes) != int(node_ptr[-1]):
        raise InputError(
            f"the encoder gave shape {tuple(nodes.shape)} for {int(node_ptr[-1])} nodes: "
            "it must return one row per node"
        )
    total = segment_sum(nodes, node_ptr)
    return total if pooling == "sum" else total / node_ptr.diff()[:, None]
