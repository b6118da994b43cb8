"""The graph isomorphism network of GraphCL and AUGCL."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, relu

from augcl.encoders.heads import glorot_linear
from augcl.errors import InputError
from augcl.ops.csr import Adjacency


class GIN(nn.Module):
    """L layers h_v ← BN(ReLU(W2 · ReLU(W1 · (h_v + Σ_{u → v} h_u) + b1) + b2)), all of them kept.

    Parameters
    ----------
    in_features : int
        F, width of the node features.
    width : int
        Width d of every layer.
    layers : int
        L.
    generator : torch.Generator, optional
        Draws the weights.

    Examples
    --------
    >>> gin = GIN(3, width=8, layers=2, generator=torch.Generator().manual_seed(0))
    >>> edges = torch.tensor([[0, 1], [1, 0]])
    >>> gin(torch.ones(2, 3), edges).shape
    torch.Size([2, 16])
    """

    def __init__(
        self,
        in_features: int,
        *,
        width: int = 32,
        layers: int = 3,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        if width < 1 or layers < 1:
            raise InputError(f"width is {width} and layers {layers}: both must be 1 or more")
        generator = generator or torch.Generator()
        inputs = [in_features] + [width] * (layers - 1)
        self.first = nn.ModuleList([glorot_linear(n, width, generator) for n in inputs])
        self.second = nn.ModuleList([glorot_linear(width, width, generator) for _ in inputs])
        self.norm = nn.ModuleList([NodeNorm(width) for _ in inputs])
        self.out_features = width * layers

    def forward(self, x: Tensor, edges: Tensor | Adjacency) -> Tensor:
        """(V, F) features and (2, E) edges, or an Adjacency, to (V, L·d), layers side by side."""
        if not isinstance(edges, Adjacency):
            edges = Adjacency.from_edges(edges, len(x))
        outputs = []
        for first, second, norm in zip(self.first, self.second, self.norm, strict=True):
            hidden = relu(_aggregate(x, edges, first))
            x = norm(relu(second(hidden)))
            outputs.append(x)
        return torch.cat(outputs, dim=1)


class NodeNorm(nn.BatchNorm1d):
    """Batch norm over nodes that uses its running averages where one node gives no variance."""

    def forward(self, input: Tensor) -> Tensor:
        if self.training and len(input) < 2:
            return nn.functional.batch_norm(
                input, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps
            )
        return super().forward(input)


def _aggregate(x: Tensor, edges: Adjacency, layer: nn.Module) -> Tensor:
    """W (x_v + Σ_u x_u) + b, summing on whichever side of W is narrower."""
    assert isinstance(layer, nn.Linear)
    if layer.in_features > layer.out_features:
        narrow = linear(x, layer.weight)
        return narrow + edges.sum_neighbours(narrow) + layer.bias
    return linear(x + edges.sum_neighbours(x), layer.weight, layer.bias)
