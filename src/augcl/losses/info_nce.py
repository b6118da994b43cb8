"""The contrastive loss, with any hardness of negatives."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from augcl.errors import InputError
from augcl.hardness.base import Hardness, Uniform
from augcl.losses.mixing import mixed_log_mass
from augcl.losses.node_info_nce import LEAST_TAU, node_info_nce
from augcl.losses.pair_weights import PairWeights
from augcl.ops.cosine import cosine

MASKED = -1e30
"""The logit of what is no negative: its exponential is 0, and it is finite, so gradients are."""


def info_nce(
    anchors: Tensor,
    candidates: Tensor,
    *,
    tau: float = 0.2,
    hardness: Hardness | None = None,
    positive_in_denominator: bool = True,
    symmetric: bool = False,
    intra: bool = False,
) -> Tensor:
    """Mean over anchors i of −s_ii/τ + log( e^{s_ii/τ} + Σ_{j≠i} w_ij e^{s_ij/τ} ).

    Parameters
    ----------
    anchors, candidates : (N, D)
        Embeddings of the two views; row i of both is a positive pair. Cosines are taken inside.
    tau : float
        Temperature.
    hardness : Hardness, optional
        Gives the weights w; all 1 if absent.
    positive_in_denominator : bool
        False leaves e^{s_ii/τ} out of the logarithm, as GraphCL's own loss does.
    symmetric : bool
        Average over both directions: each view is the anchor once.
    intra : bool
        The other anchors of the same view are negatives too, with the same weights (GRACE). In
        both directions this takes memory linear in N, unless the hardness gives weights other than
        `PairWeights`, or τ over its largest power is below 0.02.

    Returns
    -------
    scalar
        0 when there is only one pair, since it has no negatives.

    Examples
    --------
    >>> z = torch.eye(3)
    >>> round(info_nce(z, z, tau=1.0).item(), 4)  # log(1 + 2/e)
    0.5514
    """
    if anchors.shape != candidates.shape or anchors.ndim != 2:
        raise InputError(
            f"info_nce needs two (N, D) tensors of one shape, got {tuple(anchors.shape)} "
            f"and {tuple(candidates.shape)}"
        )
    if not tau > 0:
        raise InputError(f"tau is {tau}: the temperature must be above 0")
    hardness = Uniform() if hardness is None else hardness
    if not isinstance(hardness, Hardness):
        raise InputError(f"hardness is {hardness!r}: give an object such as AffinityUncertainty()")
    hardness.check()
    in_tiles = isinstance(hardness, PairWeights) or not hardness.weighs
    if symmetric and intra and in_tiles and tau / max(hardness.powers) >= LEAST_TAU:
        return node_info_nce(
            _wide(anchors),
            _wide(candidates),
            tau=tau,
            hardness=hardness,
            weights=hardness if isinstance(hardness, PairWeights) else None,
            positive_in_denominator=positive_in_denominator,
        )
    if symmetric:
        one_way = partial(
            info_nce,
            tau=tau,
            hardness=hardness,
            positive_in_denominator=positive_in_denominator,
            intra=intra,
        )
        return (one_way(anchors, candidates) + one_way(candidates, anchors)) / 2
    if len(anchors) < 2:
        return (anchors.sum() + candidates.sum()) * 0

    anchors, candidates = _wide(anchors), _wide(candidates)
    affinity = _wide(cosine(anchors, candidates))
    positive = affinity.diagonal() / tau
    own = torch.eye(len(anchors), dtype=torch.bool, device=anchors.device)
    log_weights = hardness.log_weights(anchors.detach(), candidates.detach(), affinity.detach())
    blocks = [affinity, _wide(cosine(anchors, anchors))] if intra else [affinity]
    logits = torch.cat(blocks, dim=1) / tau
    others = own.repeat(1, len(blocks))
    summed = None if log_weights is None or hardness.mixed else log_weights.repeat(1, len(blocks))
    log_mass = hardness.log_mass(
        torch.stack([_log_sum(logits, p, others, summed) for p in hardness.powers]),
        positive,
        count=(len(anchors) - 1) * len(blocks),
        tau=tau,
    )
    if hardness.mixed and log_weights is not None:
        order = hardness.permutation(min(hardness.mixed, len(anchors) - 1)).to(anchors.device)
        heavy = log_weights.masked_fill(own, MASKED)
        log_mass = torch.logaddexp(log_mass, mixed_log_mass(affinity / tau, heavy, order))
    if positive_in_denominator:
        log_mass = torch.logaddexp(positive, log_mass)
    return (log_mass - positive).mean()


def _log_sum(logits: Tensor, power: float, masked: Tensor, log_weights: Tensor | None) -> Tensor:
    logits = (logits if power == 1 else logits * power).masked_fill(masked, MASKED)
    return (logits if log_weights is None else logits + log_weights).logsumexp(1)


def _wide(x: Tensor) -> Tensor:
    """At least single precision: half has no room for exponentials, and autocast gives half."""
    return x.float() if x.dtype.itemsize < 4 else x
