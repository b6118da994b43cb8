"""Encoder, pooling and projector as one network."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn

from augcl.data.graph import GraphSet
from augcl.encoders.gcn import GCN
from augcl.encoders.gin import GIN
from augcl.encoders.structure2vec import Structure2Vec
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
        (G, D) to (G, D'); further arguments of a call go to it.
    pooling : {"sum", "mean"}
        From nodes to graphs.
    """

    def __init__(self, encoder: nn.Module, projector: nn.Module, *, pooling: str = "sum") -> None:
        super().__init__()
        self.encoder = encoder
        self.projector = projector
        self.pooling = pooling

    def forward(
        self, x: Tensor, edges: Tensor | Adjacency, node_ptr: Tensor, *more: Tensor
    ) -> Tensor:
        """(G, D') projections."""
        pooled = self._pooled(x, edges, node_ptr)
        return self.projector(pooled, *more)  # type: ignore[no-any-return]

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
    edges = graphs.adjacency if isinstance(encoder, GIN | Structure2Vec) else graphs.edge_index
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


def own_or_gin(
    given: nn.Module | None, features: int, *, width: int, layers: int, generator: torch.Generator
) -> nn.Module:
    """A copy of the encoder that the user gave, or a new GIN."""
    if given is not None:
        if not isinstance(given, nn.Module):
            raise InputError(
                f"encoder is {given!r}: give a torch module that takes (x, edge_index), or None"
            )
        return copy.deepcopy(given)
    return GIN(features, width=width, layers=layers, generator=generator)


@torch.no_grad()
def output_width(encoder: nn.Module, features: int) -> int:
    """The width of a node embedding, found by asking the encoder for one."""
    if isinstance(encoder, GIN | GCN | Structure2Vec):
        return encoder.out_features
    was_training = encoder.training
    encoder.eval()
    device = next((p.device for p in encoder.parameters()), torch.device("cpu"))
    edges = torch.tensor([[0, 1], [1, 0]], device=device)
    try:
        nodes: Any = encoder(torch.ones(2, features, device=device), edges)
    except RuntimeError as error:
        raise InputError(
            f"encoder {type(encoder).__name__} cannot read nodes with {features} features: {error}"
        ) from error
    encoder.train(was_training)
    return pool(nodes, torch.tensor([0, 2], device=device), "sum").shape[1]
