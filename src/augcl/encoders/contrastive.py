"""The network of a contrastive method on graphs: encoder, pooling and projector."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from augcl.data.graph import GraphSet
from augcl.encoders.gcn import GCN
from augcl.encoders.gin import GIN
from augcl.encoders.gine import GINE
from augcl.encoders.structure2vec import Structure2Vec
from augcl.errors import InputError
from augcl.ops.csr import Adjacency, FeaturedEdges
from augcl.ops.processes import share_norms
from augcl.ops.segments import segment_sum

Edges = Tensor | Adjacency | FeaturedEdges | tuple[Tensor, Tensor]
"""What an encoder gets of the edges; a pair are `edge_index` and `edge_attr`."""


class ContrastiveNetwork(nn.Module):
    """Compute graph embeddings g, and their projections z, which the loss compares.

    Parameters
    ----------
    encoder : Module
        An encoder of this package, or any module with the call of PyG's: ``encoder(x, edge_index)``
        or, where edges have features, ``encoder(x, edge_index, edge_attr)`` returns (V, D).
    projector : Module
        Maps (G, D) to (G, D'); gets further arguments of a call.
    pooling : {"sum", "mean", "both"}
        How node values become a graph embedding; "both" puts sum and mean side by side.
    """

    def __init__(self, encoder: nn.Module, projector: nn.Module, *, pooling: str = "sum") -> None:
        super().__init__()
        self.encoder = encoder
        self.projector = projector
        self.pooling = pooling

    def forward(self, x: Tensor, edges: Edges, node_ptr: Tensor, *more: Tensor) -> Tensor:
        """Return (G, D') projections."""
        pooled = self._pooled(x, edges, node_ptr)
        return self.projector(pooled, *more)  # type: ignore[no-any-return]

    def embed(self, graphs: GraphSet) -> Tensor:
        """Return (G, D) embeddings, before the projection."""
        return self._pooled(*inputs(self.encoder, graphs))

    def _pooled(self, x: Tensor, edges: Any, node_ptr: Tensor) -> Tensor:
        if isinstance(self.encoder, GIN):  # pool each layer: no need to concatenate the nodes
            layers = self.encoder.outputs(x, edges)
            return torch.cat([pool(nodes, node_ptr, self.pooling) for nodes in layers], dim=1)
        return pool(encode(self.encoder, x, edges), node_ptr, self.pooling)


def inputs(encoder: nn.Module, graphs: GraphSet) -> tuple[Tensor, Edges, Tensor]:
    """Return the inputs of `ContrastiveNetwork`; our encoders take the compressed adjacency."""
    edges: Edges = graphs.edge_index
    if isinstance(encoder, GINE):
        edges = graphs.featured_edges
    elif isinstance(encoder, GIN | Structure2Vec):
        edges = graphs.adjacency
    elif graphs.edge_attr is not None:
        edges = (graphs.edge_index, graphs.edge_attr)
    return graphs.x, edges, graphs.node_ptr


@contextmanager
def inputs_of(module: nn.Module) -> Iterator[list[Tensor]]:
    """List the first argument of every call of the module while this lasts.

    >>> with inputs_of(nn.Identity()) as seen:
    ...     pass
    >>> seen
    []
    """
    seen: list[Tensor] = []
    hook = module.register_forward_pre_hook(lambda _, arguments: seen.append(arguments[0]))
    try:
        yield seen
    finally:
        hook.remove()


def encode(encoder: nn.Module, x: Tensor, edges: Edges) -> Tensor:
    """Return the (V, D) output of an encoder; one of the user gets edge features as an argument."""
    arguments: tuple[Any, ...] = edges if type(edges) is tuple else (edges,)
    return encoder(x, *arguments)  # type: ignore[no-any-return]


def pool(nodes: Tensor, node_ptr: Tensor, pooling: str) -> Tensor:
    """Pool node values (V, D) to the sum, mean or max of each graph (G, D).

    "both" is sum and mean side by side (G, 2 D).
    """
    if nodes.ndim != 2 or len(nodes) != int(node_ptr[-1]):
        raise InputError(
            f"the encoder returned shape {tuple(nodes.shape)} for {int(node_ptr[-1])} nodes: "
            "it must return one row per node"
        )
    if pooling == "max":
        return torch.segment_reduce(nodes, "max", lengths=node_ptr.diff())
    total = segment_sum(nodes, node_ptr)
    if pooling == "sum":
        return total
    mean = total / node_ptr.diff()[:, None]
    return mean if pooling == "mean" else torch.cat([total, mean], dim=1)


def own_or_gin(
    given: nn.Module | None,
    features: int,
    *,
    edge_features: int = 0,
    width: int,
    layers: int,
    generator: torch.Generator,
) -> nn.Module:
    """Return a copy of the user's encoder; if there is none, a new GIN, or GINE for featured edges.

    `features` and `edge_features` are the widths of the features of nodes and edges.
    """
    if given is not None:
        if not isinstance(given, nn.Module):
            raise InputError(
                f"encoder is {given!r}: give a torch module that takes (x, edge_index), or None"
            )
        return share_norms(copy.deepcopy(given))
    if edge_features:
        return GINE(features, edge_features, width=width, layers=layers, generator=generator)
    return GIN(features, width=width, layers=layers, generator=generator)


@torch.no_grad()
def output_width(encoder: nn.Module, features: int, edge_features: int = 0) -> int:
    """Return the width of a node embedding; run an unknown encoder once to find it."""
    if isinstance(encoder, GIN | GCN | Structure2Vec):
        return encoder.out_features
    was_training = encoder.training
    encoder.eval()
    device = next((p.device for p in encoder.parameters()), torch.device("cpu"))
    pairs = torch.tensor([[0, 1], [1, 0]], device=device)
    edges: Edges = pairs
    if edge_features:
        edges = (pairs, torch.ones(2, edge_features, device=device))
    try:
        nodes = encode(encoder, torch.ones(2, features, device=device), edges)
    except TypeError as error:
        if not edge_features:
            raise
        raise InputError(
            f"encoder {type(encoder).__name__} takes no edge features ({error}): give one that is "
            "called as encoder(x, edge_index, edge_attr), or set edge_features=False"
        ) from error
    except RuntimeError as error:
        raise InputError(
            f"encoder {type(encoder).__name__} cannot read nodes with {features} features"
            f"{f' and edges with {edge_features}' if edge_features else ''}: {error}"
        ) from error
    encoder.train(was_training)
    return pool(nodes, torch.tensor([0, 2], device=device), "sum").shape[1]
