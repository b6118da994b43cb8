"""The graph convolutional network of GRACE and GCA, and the network with its projector."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

from augcl.encoders.blocks import Layer
from augcl.encoders.heads import glorot_linear
from augcl.errors import one_of
from augcl.ops.csr import propagate
from augcl.views.nodes import NodeView

RRELU_SLOPE = 11 / 48
"""Mean slope of rrelu. GCA calls rrelu's functional form, which is not random by default."""

ACTIVATIONS = ("relu", "prelu", "rrelu")
NORMS = {"batch": nn.BatchNorm1d, "layer": nn.LayerNorm}


class GCN(nn.Module):
    """Two layers h ← act( norm( D̂^{-1/2} (A + I) D̂^{-1/2} h W + b ) ), F → 2·width → width.

    Where edges have weights, A holds them and D̂ their sums, as in PyG's
    ``GCNConv(x, edge_index, edge_weight)``.

    Parameters
    ----------
    in_features : int
    width : int
        Width of the embedding; the hidden layer is twice as wide.
    activation : {"relu", "prelu", "rrelu"}
        Activation after both layers; "rrelu" has GCA's fixed slope 11/48, "prelu" learns one slope
        for both layers, as published, or with `norm` one for each.
    norm : {"batch", "layer"}, optional
        Normalise the output of each layer before the activation; not at all if None.
    generator : torch.Generator, optional
        Draws the weights.

    References
    ----------
    T. N. Kipf and M. Welling. "Semi-Supervised Classification with Graph Convolutional
    Networks". ICLR 2017. arXiv:1609.02907,
    doi:10.48550/arXiv.1609.02907.
    """

    def __init__(
        self,
        in_features: int,
        *,
        width: int = 128,
        activation: str = "relu",
        norm: str | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        generator = generator or torch.Generator()
        self.first = glorot_linear(in_features, 2 * width, generator)
        self.second = glorot_linear(2 * width, width, generator)
        widths = [width] if norm is None else [2 * width, width]  # without a norm both share one
        self.after = nn.ModuleList([_after(w, activation, norm) for w in widths])
        if norm == "batch":  # it takes the bias away again: Adam would follow rounding errors
            for layer in (self.first, self.second):
                layer.bias.requires_grad_(False)
        self.out_features = width

    def forward(self, view: NodeView) -> Tensor:
        """Return (N, width) embeddings of the nodes, then those of slow nodes, if there are any."""
        hidden = propagate(view.times(self.first.weight.t()), view.edges)
        hidden = _finished(hidden + self.first.bias, self.after[0], view)
        hidden = propagate(hidden @ self.second.weight.t(), view.edges)
        return _finished(hidden + self.second.bias, self.after[-1], view)

    def layer_list(self) -> list[Layer]:
        """Return both layers as they are in evaluation, for `embed_in_blocks`."""
        last = self.after[-1]
        return [
            Layer(self.first.weight.t(), lambda h: self.after[0](h + self.first.bias)),
            Layer(self.second.weight.t(), lambda h: last(h + self.second.bias)),
        ]


def _after(width: int, activation: str, norm: str | None) -> nn.Module:
    """Return what follows a linear layer of that width: norm, if any, and activation."""
    one_of(activation, ACTIVATIONS, "activation")
    parts: list[nn.Module] = []
    if norm is not None:
        parts.append(NORMS[one_of(norm, NORMS, "norm")](width))
    slopes = {"relu": nn.ReLU(), "prelu": nn.PReLU(), "rrelu": nn.LeakyReLU(RRELU_SLOPE)}
    return nn.Sequential(*parts, slopes[activation])


def _finished(hidden: Tensor, after: Any, view: NodeView) -> Tensor:
    """Apply norm and activation; slow nodes do not count in the statistics of batch norm.

    Most rows of a view may be slow, and the graph to be embedded has none.
    """
    norm = after[0]
    if view.slow is None or not (isinstance(norm, nn.BatchNorm1d) and norm.training):
        return after(hidden)  # type: ignore[no-any-return]
    nodes, slow = hidden[: view.nodes], hidden[view.nodes :]
    var, mean = torch.var_mean(nodes, 0, correction=0)
    slow = (slow - mean) * ((var + norm.eps).rsqrt() * norm.weight) + norm.bias
    return torch.cat([after(nodes), after[1](slow)])


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

    def layer_list(self) -> list[Layer]:
        """Return the layers of the encoder, for `embed_in_blocks`; none of one of the user."""
        return self.encoder.layer_list() if isinstance(self.encoder, GCN) else []


def parameters_of(function: Callable[..., Any]) -> Iterable[str]:
    """Return the names of a function's parameters.

    >>> list(parameters_of(lambda x, edge_index: x))
    ['x', 'edge_index']
    """
    return inspect.signature(function).parameters
