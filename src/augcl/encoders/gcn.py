"""The graph convolutional network of GRACE and GCA, and the network with its projector."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu, relu

from augcl.encoders.heads import glorot_linear
from augcl.errors import one_of
from augcl.ops.csr import propagate
from augcl.views.nodes import NodeView

RRELU_SLOPE = 11 / 48
"""Mean slope of rrelu. GCA calls rrelu's functional form, which is not random by default."""

ACTIVATIONS = ("relu", "prelu", "rrelu")


class GCN(nn.Module):
    """Two layers h ← act( D̂^{-1/2} (A + I) D̂^{-1/2} h W + b ), F → 2·width → width.

    Where edges have weights, A holds them and D̂ their sums, as in PyG's
    ``GCNConv(x, edge_index, edge_weight)``.

    Parameters
    ----------
    in_features : int
    width : int
        Width of the embedding; the hidden layer is twice as wide.
    activation : {"relu", "prelu", "rrelu"}
        Activation after both layers; "prelu" learns one slope for both, "rrelu" has GCA's fixed
        slope 11/48.
    generator : torch.Generator, optional
        Draws the weights.

    References
    ----------
    T. N. Kipf and M. Welling. "Semi-Supervised Classification with Graph Convolutional
    Networks". ICLR 2017. arXiv:1609.02907.
    """

    def __init__(
        self,
        in_features: int,
        *,
        width: int = 128,
        activation: str = "relu",
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        one_of(activation, ACTIVATIONS, "activation")
        generator = generator or torch.Generator()
        self.first = glorot_linear(in_features, 2 * width, generator)
        self.second = glorot_linear(2 * width, width, generator)
        self.activation: Callable[[Tensor], Tensor] = {
            "relu": relu,
            "prelu": nn.PReLU() if activation == "prelu" else relu,
            "rrelu": _rrelu,
        }[activation]
        self.out_features = width

    def forward(self, view: NodeView) -> Tensor:
        """Return (N, width) embeddings of the nodes."""
        hidden = propagate(view.times(self.first.weight.t()), view.edges)
        hidden = self.activation(hidden + self.first.bias)
        hidden = propagate(hidden @ self.second.weight.t(), view.edges)
        return self.activation(hidden + self.second.bias)


def _rrelu(x: Tensor) -> Tensor:
    return leaky_relu(x, RRELU_SLOPE)


class NodeNetwork(nn.Module):
    """Compute node embeddings h, and their projections z, which the loss compares.

    Parameters
    ----------
    encoder : Module
        `GCN`, or any module with the call of PyG's: ``encoder(x, edge_index)`` returns (N, D). If
        it has a parameter ``edge_weight`` and the edges have weights, it gets them.
    projector : Module
        Maps (N, D) to (N, D').
    """

    def __init__(self, encoder: nn.Module, projector: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        self.projector = projector

    def forward(self, view: NodeView) -> Tensor:
        """Return (N, D') projections."""
        return self.projector(self.embed(view))  # type: ignore[no-any-return]

    def embed(self, view: NodeView) -> Tensor:
        """Return (N, D) embeddings, before the projection; slow nodes are left out."""
        if isinstance(self.encoder, GCN):
            return view.without_slow(self.encoder(view))
        more = {}
        if view.edge_weight is not None and "edge_weight" in parameters_of(self.encoder.forward):
            more["edge_weight"] = view.edge_weight
        return view.without_slow(self.encoder(view.x(), view.edge_index, **more))


def parameters_of(function: Callable[..., Any]) -> Iterable[str]:
    """Return the names of a function's parameters.

    >>> list(parameters_of(lambda x, edge_index: x))
    ['x', 'edge_index']
    """
    return inspect.signature(function).parameters
