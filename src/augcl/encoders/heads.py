"""Linear layers with the field's initialisation, drawn from a generator that is passed in."""

from __future__ import annotations

import torch
from torch import nn


def glorot_linear(inputs: int, outputs: int, generator: torch.Generator) -> nn.Linear:
    """A linear layer with Xavier-uniform weights and zero bias."""
    layer: nn.Linear = nn.utils.skip_init(nn.Linear, inputs, outputs)
    nn.init.xavier_uniform_(layer.weight, generator=generator)
    nn.init.zeros_(layer.bias)
    return layer


def projector(width: int, generator: torch.Generator) -> nn.Sequential:
    """The head between embedding and loss: z = P2 · ReLU(P1 g), as wide as the embedding."""
    return nn.Sequential(
        glorot_linear(width, width, generator), nn.ReLU(), glorot_linear(width, width, generator)
    )
