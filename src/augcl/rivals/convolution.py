"""One graph convolution, of which the encoders of DGI, GMI, MVGRL, GAE and VGAE are made."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from augcl.ops.csr import Adjacency, propagate
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


class BilinearDiscriminator(nn.Module):
    """How well a left and a right vector go together: leftᵀ W right + b.

    Parameters
    ----------
    left, right : int
        Widths.
    generator : torch.Generator
        Draws W; Xavier as of a tensor of one output, so the first scores are near 0.
    """

    def __init__(self, left: int, right: int, generator: torch.Generator) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(left, right))
        nn.init.xavier_uniform_(self.weight.data[None], generator=generator)
        self.bias = nn.Parameter(torch.zeros(1))

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        """(N,) scores of (N, left) with one vector (right,) for all, or row by row with (N, right).

        >>> judge = BilinearDiscriminator(2, 1, torch.Generator().manual_seed(0))
        >>> judge(torch.ones(3, 2), torch.ones(1)).shape
        torch.Size([3])
        """
        if right.dim() == 1:
            return left @ (self.weight @ right) + self.bias
        return self.of_mapped(left @ self.weight, right)

    def of_mapped(self, mapped: Tensor, right: Tensor) -> Tensor:
        """Scores (…,) from leftᵀ W (…, right) and (…, right), row by row."""
        return (mapped * right).sum(-1) + self.bias


def mean_summary(h: Tensor) -> Tensor:
    """(N, D) node embeddings to one vector (D,) for all of them: σ(mean).

    >>> mean_summary(torch.tensor([[1.0], [-1.0]]))
    tensor([0.5000])
    """
    return torch.sigmoid(h.mean(0))


def shuffled(rows: Tensor, generator: torch.Generator) -> Tensor:
    """The rows in random order: features that stand at the wrong nodes.

    A linear map of the features may be shuffled in their place, (P X) W = P (X W).
    """
    order = torch.randperm(len(rows), generator=generator)
    return rows[order.to(rows.device)]


def other_nodes(nodes: int, count: int, generator: torch.Generator) -> Tensor:
    """(nodes, count) random nodes, in row i any but i itself.

    >>> other_nodes(2, 3, torch.Generator().manual_seed(0)).tolist()
    [[1, 1, 1], [0, 0, 0]]
    """
    further = torch.randint(1, nodes, (nodes, count), generator=generator)
    return (torch.arange(nodes)[:, None] + further) % nodes


def discrimination(true: Tensor, false: Tensor) -> Tensor:
    """½ [ mean sp(−true) + mean sp(false) ], sp(x) = log(1 + eˣ).

    For as many true as false scores this is binary cross-entropy of the logits; twice this is the
    loss that goes with the Jensen–Shannon estimate of mutual information.

    >>> import torch
    >>> round(discrimination(torch.zeros(3), torch.zeros(5)).item(), 4)  # log 2
    0.6931
    """
    return (softplus(-true).mean() + softplus(false).mean()) / 2
