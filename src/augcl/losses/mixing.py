"""Synthetic negatives: similarities of the heaviest ones, mixed in pairs (ProGCL-mix)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from augcl.losses.pair_weights import PairWeights

LEFT_OUT = -1e30
ROWS = 256


def mixed_log_mass(logits: Tensor, log_weights: Tensor, order: Tensor) -> Tensor:
    """(N,) log Σ_k exp(m_k), m_k the mean of two heavy negatives' logits by their weights.

    Parameters
    ----------
    logits : (N, M)
        s_ij / τ.
    log_weights : (N, M)
        Without gradient; very low where j is no negative of i.
    order : (K,) int64
        A permutation, the same for all anchors: the k-th heaviest is mixed with the order[k]-th.

    Examples
    --------
    >>> logits = torch.tensor([[1.0, 3.0, 9.0]])
    >>> weights = torch.tensor([[2.0, 2.0, 1.0]]).log()
    >>> mixed_log_mass(logits, weights, torch.tensor([1, 0])).exp()  # twice exp((1 + 3) / 2)
    tensor([14.7781])
    """
    log_b, heaviest = log_weights.topk(len(order), dim=1)
    chosen = logits.gather(1, heaviest)
    share = (log_b - log_b[:, order]).sigmoid()
    return (share * chosen + (1 - share) * chosen[:, order]).logsumexp(1)


def mixed_node_log_mass(
    u: Tensor, v: Tensor, tau: float, weights: PairWeights, order: Tensor, columns: Tensor | None
) -> Tensor:
    """(N,) the same for nodes, from unit rows u against v, with some rows at a time in memory."""
    nodes = torch.arange(len(v), device=v.device) if columns is None else columns
    of_columns = slice(None) if columns is None else columns
    smallest = torch.finfo(torch.float32).tiny

    def part(rows: Tensor, candidates: Tensor, start: int) -> Tensor:
        own = torch.arange(start, start + len(rows), device=v.device)[:, None] == nodes
        log_b = weights.block(slice(start, start + len(rows)), of_columns).clamp_min(smallest).log()
        logits = rows @ candidates.t() / tau
        return mixed_log_mass(logits, log_b.masked_fill(own, LEFT_OUT).to(logits.dtype), order)

    candidates = v if columns is None else v[columns]
    parts = [
        checkpoint(part, rows, candidates, start, use_reentrant=False)
        for start, rows in zip(range(0, len(u), ROWS), u.split(ROWS), strict=True)
    ]
    return torch.cat(parts)
