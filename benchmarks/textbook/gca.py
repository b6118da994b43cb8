"""GCA's step in its most direct form: PyG's convolution, four dense N × N similarities."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize
from torch_geometric.nn import GCNConv


class Encoder(nn.Module):
    """Two graph convolutions, each followed by the activation."""

    def __init__(self, features: int, width: int, activation: nn.Module) -> None:
        super().__init__()
        self.first = GCNConv(features, 2 * width)
        self.second = GCNConv(2 * width, width)
        self.activation = activation

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = self.activation(self.first(x, edge_index))
        return self.activation(self.second(x, edge_index))  # type: ignore[no-any-return]


def loss(u: Tensor, v: Tensor, tau: float) -> Tensor:
    """Return GRACE's loss in both directions."""

    def similarity(a: Tensor, b: Tensor) -> Tensor:
        return torch.exp(normalize(a) @ normalize(b).t() / tau)

    def one_way(a: Tensor, b: Tensor) -> Tensor:
        own, other = similarity(a, a), similarity(a, b)
        return -torch.log(other.diag() / (own.sum(1) + other.sum(1) - own.diag()))

    return ((one_way(u, v) + one_way(v, u)) / 2).mean()
