"""The weighted contrastive loss read as a triplet loss: Theorem 1 of AUGCL, and what holds of it.

docs/theorem.md derives both functions step by step.
"""

from __future__ import annotations

import torch
from torch import Tensor

from augcl.errors import InputError
from augcl.ops.cosine import cosine


def triplet_form(
    anchors: Tensor, candidates: Tensor, log_weights: Tensor | None = None, *, tau: float = 0.2
) -> Tensor:
    """(1/2τ) Σ_{j≠i} ( ‖z_i − ẑ_i‖² − ‖z_i − ẑ_j‖² + 4 m_ij ) of every anchor, of unit vectors.

    With m_ij = (τ/2) log w_ij it is the first-order term of the weighted loss: near the point where
    every negative is as similar as the positive and has weight 1, the loss of anchor i is
    log N + triplet_form / N, up to squares. The margins are constants without a hinge around them:
    they do not change the gradient of this form.

    Parameters
    ----------
    anchors, candidates : (N, D)
        Embeddings of the two views; row i of both is a positive pair.
    log_weights : (N, N), optional
        log w_ij; all 0 if absent. The diagonal counts nothing.
    tau : float
        Temperature.

    Returns
    -------
    (N,)

    Examples
    --------
    >>> z = torch.eye(2)
    >>> triplet_form(z, z, tau=0.5).tolist()  # (0 − ‖(1, −1)‖²) / 2τ
    [-2.0, -2.0]
    """
    logits = _logits(anchors, candidates, log_weights, tau)
    # For unit vectors ½ (‖z_i − ẑ_i‖² − ‖z_i − ẑ_j‖²) = s_ij − s_ii, and 2 m_ij / τ = log w_ij.
    return (logits - logits.diagonal()[:, None]).sum(1)


def negative_shares(
    anchors: Tensor, candidates: Tensor, log_weights: Tensor | None = None, *, tau: float = 0.2
) -> Tensor:
    """Share of negatives in the gradient: w_ij e^{s_ij/τ} / (e^{s_ii/τ} + Σ_{k≠i} w_ik e^{s_ik/τ}).

    The gradient of the weighted loss is exactly that of the triplet loss
    (1/2τ) Σ_j share_ij ( ‖z_i − ẑ_i‖² − ‖z_i − ẑ_j‖² ) with the shares held constant.

    Parameters
    ----------
    anchors, candidates, log_weights, tau :
        As for `triplet_form`.

    Returns
    -------
    (N, N)
        0 on the diagonal. The sum of row i is the share with which its positive is pulled.

    Examples
    --------
    >>> z = torch.eye(2)
    >>> round(negative_shares(z, z, tau=1.0)[0, 1].item(), 4)  # 1 / (e + 1)
    0.2689
    """
    shares = _logits(anchors, candidates, log_weights, tau).softmax(1)
    return shares - shares.diagonal().diag()


def _logits(anchors: Tensor, candidates: Tensor, log_weights: Tensor | None, tau: float) -> Tensor:
    """s_ij / τ + log w_ij, and s_ii / τ on the diagonal."""
    if anchors.shape != candidates.shape or anchors.ndim != 2:
        raise InputError(
            f"anchors and candidates have the shapes {tuple(anchors.shape)} and "
            f"{tuple(candidates.shape)}: give two (N, D) tensors"
        )
    if not tau > 0:
        raise InputError(f"tau is {tau}: the temperature must be above 0")
    logits = cosine(anchors, candidates) / tau
    if log_weights is None:
        return logits
    if log_weights.shape != logits.shape:
        raise InputError(
            f"log_weights has the shape {tuple(log_weights.shape)}: give one number for every "
            f"anchor and candidate, {tuple(logits.shape)}"
        )
    own = torch.eye(len(logits), dtype=torch.bool, device=logits.device)
    return logits + log_weights.masked_fill(own, 0)
