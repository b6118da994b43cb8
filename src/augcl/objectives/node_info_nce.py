"""GRACE's loss for all nodes of a graph, exact, in memory linear in the number of nodes."""

from __future__ import annotations

import torch
from torch import Tensor

from augcl.hardness.pair_weights import PairWeights
from augcl.ops.cosine import unit_rows
from augcl.ops.negative_mass import TILE, negative_mass, sampled_mass


def node_info_nce(
    anchors: Tensor,
    candidates: Tensor,
    *,
    tau: float,
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
        Temperature.
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
    u, v = unit_rows(anchors), unit_rows(candidates)
    z = torch.cat([u, v])
    if columns is None:
        mass = negative_mass(z, tau, weights=weights, tile=tile)
    else:
        mass = sampled_mass(z, tau, columns, weights=weights)
    log_mass = mass.clamp_min(torch.finfo(z.dtype).tiny).log()
    positive = (((u * v).sum(1) - 1) / tau).repeat(2)
    if positive_in_denominator:
        log_mass = torch.logaddexp(positive, log_mass)
    return (log_mass - positive).mean()
