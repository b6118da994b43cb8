"""Parts that DGI, GMI, MVGRL and GAE share: a graph convolution, a discriminator and its loss."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from augcl.ops.csr import Adjacency, propagate
from augcl.views.nodes import NodeView


class Convolution(nn.Module):
    """Graph convolution h ← act( P h W + b ), where P mixes the nodes.

    P is usually D̂^{-1/2} (A + I) D̂^{-1/2}.

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
        """Return (N, outputs) for the features of a view, or for (N, inputs) of another layer."""
        return self.finish(propagate(self.mapped(x), edges))

    def mapped(self, x: NodeView | Tensor) -> Tensor:
        """Return x W, the values before the nodes are mixed."""
        return x.times(self.weight) if isinstance(x, NodeView) else x @ self.weight

    def finish(self, mixed: Tensor) -> Tensor:
        """Apply bias and activation, after the nodes were mixed."""
        activated: Tensor = self.activation(mixed if self.bias is None else mixed + self.bias)
        return activated


class BilinearDiscriminator(nn.Module):
    """Score how well a left and a right vector match: leftᵀ W right + b.

    Parameters
    ----------
    left, right : int
        Widths of the two vectors.
    generator : torch.Generator
        Draws W (Xavier, for a bilinear layer with one output: the first scores are near 0).
    """

    def __init__(self, left: int, right: int, generator: torch.Generator) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(left, right))
        nn.init.xavier_uniform_(self.weight.data[None], generator=generator)
        self.bias = nn.Parameter(torch.zeros(1))

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        """Return (N,) scores of (N, left) with one vector (right,), or row by row with (N, right).

        >>> score = BilinearDiscriminator(2, 1, torch.Generator().manual_seed(0))
        >>> score(torch.ones(3, 2), torch.ones(1)).shape
        torch.Size([3])
        """
        if right.dim() == 1:
            return left @ (self.weight @ right) + self.bias
        return self.of_mapped(left @ self.weight, right)

    def of_mapped(self, mapped: Tensor, right: Tensor) -> Tensor:
        """Return scores (…,) from leftᵀ W (…, right) and right vectors (…, right), row by row."""
        return (mapped * right).sum(-1) + self.bias


def mean_summary(h: Tensor) -> Tensor:
    """Summarise node embeddings (N, D) in one vector (D,): σ(mean).

    >>> mean_summary(torch.tensor([[1.0], [-1.0]]))
    tensor([0.5000])
    """
    return torch.sigmoid(h.mean(0))


def shuffled(rows: Tensor, generator: torch.Generator) -> Tensor:
    """Return the rows in random order, so that features belong to the wrong nodes.

    Shuffling after a linear map gives the same as before it: (P X) W = P (X W).
    """
    order = torch.randperm(len(rows), generator=generator)
    return rows[order.to(rows.device)]


def discrimination(true: Tensor, false: Tensor) -> Tensor:
    """Return ½ [ mean sp(−true) + mean sp(false) ] with sp(x) = log(1 + eˣ).

    With equally many true and false scores this is their binary cross-entropy; twice this value is
    the loss of the Jensen–Shannon estimate of mutual information.

    >>> import torch
    >>> round(discrimination(torch.zeros(3), torch.zeros(5)).item(), 4)  # log 2
    0.6931
    """
    return (softplus(-true).mean() + softplus(false).mean()) / 2
