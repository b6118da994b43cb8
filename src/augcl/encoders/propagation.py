"""A graph network around any linear way to mix the values of nodes."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from augcl.checks import whole_number
from augcl.encoders.heads import glorot_linear
from augcl.ops.csr import Adjacency

Mix = Callable[[Tensor, Adjacency], Tensor]


class PropagationNetwork(nn.Module):
    """L layers h ← PReLU( M h W + b ), all of them kept.

    Parameters
    ----------
    in_features : int
    mix : callable
        (V, D) values and the edges to the (V, D) values M h; linear, the same for every column.
    width, layers : int
    generator : torch.Generator
        Draws the weights.
    """

    def __init__(
        self, in_features: int, mix: Mix, *, width: int, layers: int, generator: torch.Generator
    ) -> None:
        super().__init__()
        whole_number("width", width, least=1)
        whole_number("layers", layers, least=1)
        inputs = [in_features] + [width] * (layers - 1)
        self.layers = nn.ModuleList([PropagationLayer(n, width, mix, generator) for n in inputs])

    def forward(self, x: Tensor, edges: Adjacency) -> list[Tensor]:
        """(V, F) features to the (V, width) output of every layer."""
        outputs = []
        for layer in self.layers:
            x = layer(x, edges)
            outputs.append(x)
        return outputs


class PropagationLayer(nn.Module):
    """One layer; M and W commute, so that the narrower side is mixed."""

    def __init__(self, inputs: int, width: int, mix: Mix, generator: torch.Generator) -> None:
        super().__init__()
        self.linear = glorot_linear(inputs, width, generator)
        self.activation = nn.PReLU()
        self.mix = mix

    def forward(self, x: Tensor, edges: Adjacency) -> Tensor:
        if self.linear.in_features > self.linear.out_features:
            mixed = self.mix(x @ self.linear.weight.t(), edges) + self.linear.bias
        else:
            mixed = self.linear(self.mix(x, edges))
        return self.activation(mixed)  # type: ignore[no-any-return]
