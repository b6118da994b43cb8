"""One graph convolution, of which the encoders of DGI, GMI, MVGRL, GAE and VGAE are made."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from augcl.ops.csr import Adjacency
from augcl.ops.gcn import propagate
from augcl.views.nodes import NodeView


class Convolution(nn.Module):
    """h ← act( P h W + b ), where P mixes the nodes and usually is D̂^{-1/2} (A + I) D̂^{-1/2}.

    Parameters
    ----------
    inputs, outputs : int
    generator : torch.Generator
        Draws the weights (Xavier).
    activation : {"prelu", "relu", "identity"}
        "prelu" has one learned slope.
    bias : bool
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        generator: torch.Generator,
        *,
        activation: str = "prelu",
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        nn.init.xavier_uniform_(self.weight, generator=generator)
        self.bias = nn.Parameter(torch.zeros(outputs)) if bias else None
        self.activation = {"prelu": nn.PReLU, "relu": nn.ReLU, "identity": nn.Identity}[
            activation
        ]()

    def forward(self, x: NodeView | Tensor, edges: Adjacency) -> Tensor:
        """(N, outputs) from the features of a view, or from (N, inputs) of an earlier layer."""
        return self.finish(propagate(self.mapped(x), edges))

    def mapped(self, x: NodeView | Tensor) -> Tensor:
        """x W: before the nodes are mixed."""
        return x.times(self.weight) if isinstance(x, NodeView) else x @ self.weight

    def finish(self, mixed: Tensor) -> Tensor:
        """Bias and activation: after the nodes were mixed."""
        activated: Tensor = self.activation(mixed if self.bias is None else mixed + self.bias)
        return activated
