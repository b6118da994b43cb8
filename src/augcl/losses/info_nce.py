"""InfoNCE, the contrastive loss of a batch, with any hardness. The equation is in `_one_way`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from augcl.errors import InputError
from augcl.hardness.base import Hardness, Uniform, gives_weights
from augcl.hardness.progcl import ProGCL
from augcl.losses.node_info_nce import LEAST_TAU, node_info_nce
from augcl.ops.cosine import cosine

Vectors = tuple[Tensor, Tensor]
Observer = Callable[[Tensor, Tensor | None], None]

MASKED = -1e30
"""Logit of an entry that is no negative: its exponential is 0; it is finite, so gradients are."""


def info_nce(
    anchors: Tensor,
    candidates: Tensor,
    *,
    tau: float = 0.2,
    hardness: Hardness | None = None,
    positive_in_denominator: bool = True,
    symmetric: bool = False,
    intra: bool = False,
    generator: torch.Generator | None = None,
    vectors: Vectors | None = None,
    observe: Observer | None = None,
) -> Tensor:
    """Return the mean over anchors i of −s_ii/τ + log( e^{s_ii/τ} + Σ_{j≠i} w_ij e^{s_ij/τ} ).

    s_ij is the cosine of anchor i and candidate j.

    Parameters
    ----------
    anchors, candidates : (N, D)
        Embeddings of the two views; row i of both is a positive pair. They need not have length 1.
    tau : float
        Temperature.
    hardness : Hardness, optional
        Decides the weights w_ij; all are 1 if None.
    positive_in_denominator : bool
        Whether e^{s_ii/τ} is part of the sum in the logarithm; GraphCL's own loss leaves it out.
    symmetric : bool
        Average over both directions, so that each view is the anchor once.
    intra : bool
        Use the other anchors as negatives too, with the same weights (GRACE). With
        ``symmetric=True`` this takes memory linear in N, unless the hardness weights single pairs
        or τ divided by its largest power is below 0.02.
    generator : Generator, optional
        Source of random draws; only ``ProGCL(mode="mix")`` uses it.
    vectors : ((N, D'), (N, D')), optional
        What the hardness compares, of the anchors and of the candidates, for instance their
        embeddings for ``AffinityUncertainty(affinity="embedding")``. If None, `anchors` and
        `candidates`, which are right for ``affinity="projection"``.
    observe : callable, optional
        Called with the logits s_ij/τ (N, N) and their log-weights (None if all are 1) of each
        direction, for statistics; not if the loss is computed in linear memory (`intra`).

    Returns
    -------
    scalar
        0 if there is only one pair, which has no negatives.

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
    hardness._check()
    if vectors is None and gives_weights(hardness) and hardness.affinity_of != "projection":
        raise InputError(
            f"{type(hardness).__name__} compares {hardness.affinity_of!r} vectors, but info_nce "
            "has only the projections: give vectors=(of the anchors, of the candidates)"
        )
    anchors, candidates = _wide(anchors), _wide(candidates)
    in_tiles = not gives_weights(hardness) and tau / max(hardness.powers) >= LEAST_TAU
    if symmetric and intra and in_tiles:
        return node_info_nce(
            anchors,
            candidates,
            tau=tau,
            hardness=hardness,
            positive_in_denominator=positive_in_denominator,
        )
    one_way = partial(
        _one_way,
        tau=tau,
        hardness=hardness,
        positive_in_denominator=positive_in_denominator,
        intra=intra,
        generator=generator,
        observe=observe,
    )
    if symmetric:
        back = None if vectors is None else (vectors[1], vectors[0])
        forth = one_way(anchors, candidates, vectors=vectors)
        return (forth + one_way(candidates, anchors, vectors=back)) / 2
    return one_way(anchors, candidates, vectors=vectors)


def _one_way(
    anchors: Tensor,
    candidates: Tensor,
    *,
    tau: float,
    hardness: Hardness,
    positive_in_denominator: bool,
    intra: bool,
    generator: torch.Generator | None,
    vectors: Vectors | None,
    observe: Observer | None,
) -> Tensor:
    """Return the loss of one direction. This is the equation itself, in log space."""
    if len(anchors) < 2:
        return (anchors.sum() + candidates.sum()) * 0
    affinity = _wide(cosine(anchors, candidates))
    positive = affinity.diagonal() / tau
    if vectors is None:
        log_w = hardness.log_weights(anchors.detach(), candidates.detach(), affinity.detach())
    else:
        log_w = _log_weights(hardness, *vectors, count=len(anchors))
    if observe is not None:
        observe(affinity.detach() / tau, log_w)

    blocks = [affinity, _wide(cosine(anchors, anchors))] if intra else [affinity]
    logits = torch.cat(blocks, dim=1) / tau
    own = torch.eye(len(anchors), dtype=torch.bool, device=anchors.device).repeat(1, len(blocks))
    mixes = isinstance(hardness, ProGCL) and hardness.mixes
    weights = None if log_w is None or mixes else log_w.repeat(1, len(blocks))
    log_mass = hardness.log_mass(
        torch.stack([_log_sum(logits, p, own, weights) for p in hardness.powers]),
        positive,
        count=(len(anchors) - 1) * len(blocks),
        tau=tau,
    )
    if isinstance(hardness, ProGCL) and mixes and log_w is not None:
        synthetic = hardness.synthetic_log_mass(affinity / tau, log_w, generator)
        log_mass = torch.logaddexp(log_mass, synthetic)
    if positive_in_denominator:
        log_mass = torch.logaddexp(positive, log_mass)
    return (log_mass - positive).mean()


def _log_weights(hardness: Hardness, a: Tensor, b: Tensor, *, count: int) -> Tensor | None:
    """Return the log-weights (N, N) by other vectors than those that the loss compares."""
    if len(a) != count or len(b) != count:
        raise InputError(f"vectors have {len(a)} and {len(b)} rows: give one for each of {count}")
    a, b = _wide(a.detach()), _wide(b.detach())
    return hardness.log_weights(a, b, cosine(a, b))


def _log_sum(logits: Tensor, power: float, masked: Tensor, log_weights: Tensor | None) -> Tensor:
    """Return log Σ_j w_ij · exp(power · logit_ij) (N,) over the entries that are not masked."""
    logits = (logits if power == 1 else logits * power).masked_fill(masked, MASKED)
    return (logits if log_weights is None else logits + log_weights).logsumexp(1)


def _wide(x: Tensor) -> Tensor:
    """Cast half precision (from autocast) to single precision: exponentials would overflow."""
    return x.float() if x.dtype.itemsize < 4 else x
