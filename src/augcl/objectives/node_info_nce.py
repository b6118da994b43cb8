"""GRACE's loss for all nodes of a graph, exact, in memory linear in the number of nodes."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from augcl.hardness.base import Hardness, Uniform
from augcl.hardness.pair_weights import PairWeights
from augcl.objectives.mixing import mixed_node_log_mass
from augcl.ops.cosine import unit_rows
from augcl.ops.negative_mass import TILE, negative_mass, sampled_mass


def node_info_nce(
    anchors: Tensor,
    candidates: Tensor,
    *,
    tau: float,
    hardness: Hardness | None = None,
    weights: PairWeights | None = None,
    positive_in_denominator: bool = True,
    columns: Tensor | None = None,
    tile: int = TILE,
) -> Tensor:
    """``info_nce`` with ``symmetric=True, intra=True``, without an N × N matrix.

    Parameters
    ----------
    anchors, candidates : (N, D)
        Embeddings of the nodes in the two views.
    tau : float
        Temperature; over the hardness's largest power it must be 0.02 or more.
    hardness : Hardness, optional
        What becomes of the sums over the negatives; its own weights are not asked for.
    weights : PairWeights, optional
        Of all pairs of nodes; all 1 if absent.
    positive_in_denominator : bool
    columns : (M,) int64, optional
        Only these nodes, drawn at random, serve as negatives; their mass is scaled up, so that it
        is that of all nodes in the mean over the draws.
    tile : int
        Rows and columns at a time.

    Examples
    --------
    >>> z = torch.eye(3)
    >>> round(node_info_nce(z, z, tau=1.0).item(), 4)  # log(1 + 4/e)
    0.9048
    """
    nodes = len(anchors)
    if nodes < 2:
        return (anchors.sum() + candidates.sum()) * 0
    hardness = Uniform() if hardness is None else hardness
    u, v = unit_rows(anchors), unit_rows(candidates)
    positive = ((u * v).sum(1) / tau).repeat(2)
    summed = weights if hardness.mixed == 0 else None
    log_sums = [_log_sum(torch.cat([u, v]), tau, p, summed, columns, tile) for p in hardness.powers]
    count = 2 * (nodes - 1)
    log_mass = hardness.log_mass(torch.stack(log_sums), positive, count=count, tau=tau)
    if hardness.mixed and weights is not None:
        hardest = drawn = min(hardness.mixed, nodes - 1)
        if columns is not None:  # as many of the hardest as can be expected among those drawn
            drawn = max(1, round(hardest * (len(columns) - 1) / (nodes - 1)))
        order = hardness.permutation(drawn).to(u.device)
        ways = ((u, v), (v, u))
        mixed = [mixed_node_log_mass(a, b, tau, weights, order, columns) for a, b in ways]
        log_mass = torch.logaddexp(log_mass, torch.cat(mixed) + math.log(hardest / drawn))
    if positive_in_denominator:
        log_mass = torch.logaddexp(positive, log_mass)
    return (log_mass - positive).mean()


def _log_sum(
    z: Tensor,
    tau: float,
    power: float,
    weights: PairWeights | None,
    columns: Tensor | None,
    tile: int,
) -> Tensor:
    """(2N,) log Σ_b w · exp(power · z_a · z_b / τ) over the negatives b of each entry a."""
    cooler = tau / power if power else math.inf
    if columns is None:
        mass = negative_mass(z, cooler, weights=weights, tile=tile)
    else:
        mass = sampled_mass(z, cooler, columns, weights=weights)
    return mass.clamp_min(torch.finfo(z.dtype).tiny).log() + 1 / cooler
