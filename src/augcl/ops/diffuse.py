"""Personalised PageRank as a few sparse products, for all graphs of a batch at once."""

from __future__ import annotations

import torch
from torch import Tensor

from augcl.ops.csr import Adjacency
from augcl.ops.gcn import propagate


def diffuse(h: Tensor, edges: Adjacency, *, alpha: float = 0.2, steps: int = 16) -> Tensor:
    """(V, D) node values h to about S h, with S = α (I − (1 − α) Â)^{-1}.

    Â = D̂^{-1/2} (A + I) D̂^{-1/2}. The matrix S, dense within every graph, is never formed: `steps`
    times y ← α h + (1 − α) Â y, from y = h, which leaves out less than (1 − α)^steps of it.

    >>> edge = Adjacency.from_edges(torch.tensor([[0, 1], [1, 0]]), 2)
    >>> h = torch.tensor([[1.0], [0.0]])
    >>> [round(v, 3) for v in diffuse(h, edge, alpha=0.5).flatten().tolist()]
    [0.75, 0.25]
    """
    mixed = h
    for _ in range(steps):
        mixed = torch.add(alpha * h, propagate(mixed, edges), alpha=1 - alpha)
    return mixed
