"""True pairs must score high and false ones low: the loss of DGI, GMI and MVGRL."""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import softplus


def discrimination(true: Tensor, false: Tensor) -> Tensor:
    """½ [ mean sp(−true) + mean sp(false) ], sp(x) = log(1 + eˣ).

    For as many true as false scores this is binary cross-entropy of the logits; twice this is the
    loss that goes with the Jensen–Shannon estimate of mutual information.

    >>> import torch
    >>> round(discrimination(torch.zeros(3), torch.zeros(5)).item(), 4)  # log 2
    0.6931
    """
    return (softplus(-true).mean() + softplus(false).mean()) / 2
