"""The graph convolutional network of GRACE and GCA, and the network around it."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu, relu

from augcl.encoders.heads import glorot_linear
from augcl.errors import one_of
from augcl.ops.gcn import propagate
from augcl.views.nodes import NodeView

RRELU_SLOPE = 11 / 48
"""The mean of rrelu's slopes. GCA calls its functional form, which is then not random at all."""

ACTIVATIONS = ("relu", "prelu", "rrelu")


class GCN(nn.Module):
    """Two layers h ← act( D̂^{-1/2} (A + I) D̂^{-1/2} h W + b ), F → 2·width → width.

    Parameters
    ----------
    in_features : int
    width : int
        Of the embedding; the hidden layer is twice as wide.
    activation : {"relu", "prelu", "rrelu"}
        After both layers; "prelu" has one slope for both, "rrelu" is GCA's: fixed at 11/48.
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
        """(N, width) embeddings of the nodes."""
        hidden = propagate(view.times(self.first.weight.t()), view.edges)
        hidden = self.activation(hidden + self.first.bias)
        hidden = propagate(hidden @ self.second.weight.t(), view.edges)
        return self.activation(hidden + self.second.bias)


def _rrelu(x: Tensor) -> Tensor:
    return leaky_relu(x, RRELU_SLOPE)


class NodeNetwork(nn.Module):
    """Node embeddings h, and the projections z of them that the loss compares.

    Parameters
    ----------
    encoder : Module
        `GCN`, or any module called as PyG's are: ``encoder(x, edge_index)`` gives (N, D).
    projector : Module
        (N, D) to (N, D').
    """

    def __init__(self, encoder: nn.Module, projector: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        self.projector = projector

    def forward(self, view: NodeView) -> Tensor:
        """(N, D') projections."""
        return self.projector(self.embed(view))  # type: ignore[no-any-return]

    def embed(self, view: NodeView) -> Tensor:
        """(N, D) embeddings, before the projection."""
        if isinstance(self.encoder, GCN):
            return self.encoder(view)  # type: ignore[no-any-return]
        return self.encoder(view.x(), view.edge_index)  # type: ignore[no-any-return]
