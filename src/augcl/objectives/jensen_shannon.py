"""The Jensen–Shannon bound of mutual information, from scores of pairs."""

from __future__ import annotations

import math

from torch import Tensor
from torch.nn.functional import softplus

from augcl.errors import InputError


def jensen_shannon(scores: Tensor, positive: Tensor) -> Tensor:
    """E⁻ − E⁺, where E⁺ = mean log 2 − sp(−t) of positives and E⁻ = mean sp(t) − log 2 of the rest.

    sp is the softplus, log(1 + e^t). The lower, the better the scores tell positive pairs from
    negative ones; scores of 0 give 0.

    Parameters
    ----------
    scores : any shape
        One t per pair, for instance (V, G) of nodes and graphs.
    positive : bool, of the same shape
        The pairs that belong together.

    Returns
    -------
    scalar
        0 where there are no positives or no negatives, which is nothing to tell apart.

    Examples
    --------
    >>> import torch
    >>> same = torch.eye(2, dtype=torch.bool)
    >>> jensen_shannon(torch.zeros(2, 2), same).item()
    0.0
    >>> round(jensen_shannon(torch.tensor([[9.0, -9.0], [-9.0, 9.0]]), same).item(), 4)
    -1.386
    """
    if scores.shape != positive.shape:
        raise InputError(
            f"jensen_shannon needs scores and positives of one shape, got {tuple(scores.shape)} "
            f"and {tuple(positive.shape)}"
        )
    scores = scores.float() if scores.dtype.itemsize < 4 else scores
    positives = int(positive.sum())
    negatives = positive.numel() - positives
    if not positives or not negatives:
        return scores.sum() * 0
    log_2 = math.log(2)
    gained = (log_2 - softplus(-scores)).masked_fill(~positive, 0)
    lost = (softplus(scores) - log_2).masked_fill(positive, 0)
    return lost.sum() / negatives - gained.sum() / positives
