"""HSAN's encoders: two linear maps of the features and two of the adjacency rows."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from augcl.encoders.heads import glorot_linear
from augcl.ops.cosine import unit_rows
from augcl.ops.csr import Adjacency

SHARE = 0.99999
"""Of the features in the similarity, before training."""


class AttributeStructureNetwork(nn.Module):
    """Unit rows z = [Z; Z'] from features and e = [E; E'] from adjacency rows; nothing is shared.

    Parameters
    ----------
    inputs, nodes : int
        Widths of the features and of an adjacency row.
    width : int
        Of an embedding.
    activation : {"identity", "sigmoid"}
        After the maps of the features.
    generator : torch.Generator
        Draws the weights.
    """

    def __init__(
        self, inputs: int, nodes: int, width: int, activation: str, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.attributes = nn.ModuleList(glorot_linear(inputs, width, generator) for _ in range(2))
        self.structure = nn.ModuleList(glorot_linear(nodes, width, generator) for _ in range(2))
        self.activation = nn.Sigmoid() if activation == "sigmoid" else nn.Identity()
        self.share = nn.Parameter(torch.tensor(SHARE))

    def forward(self, x: Tensor, edges: Adjacency) -> tuple[Tensor, Tensor]:
        """(2N, width) z and (2N, width) e. The adjacency is a sparse factor."""
        e = [_of_rows(part, edges) for part in self.structure]
        return torch.cat(self._attributes(x)), torch.cat(e)

    def embed(self, x: Tensor) -> Tensor:
        """(N, width): the mean of both maps of the features."""
        first, second = self._attributes(x)
        return (first + second) / 2

    def _attributes(self, x: Tensor) -> list[Tensor]:
        return [unit_rows(self.activation(part(x))) for part in self.attributes]


def _of_rows(linear: Any, edges: Adjacency) -> Tensor:
    return unit_rows(edges.times(linear.weight.t()) + linear.bias)
