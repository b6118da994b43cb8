"""Edges from inner products: the loss of graph autoencoders and a part of GMI's."""

from __future__ import annotations

from torch import Tensor

from augcl.ops.csr import Adjacency
from augcl.ops.pair_logistic import pair_logistic


def edge_reconstruction(
    z: Tensor, edges: Adjacency, *, positive_weight: float, scale: float
) -> Tensor:
    """`scale` times the mean over all N² pairs of the cross-entropy of σ(z_i · z_j) against A + I.

    Exact, without an N × N matrix; see `augcl.ops.pair_logistic`.

    Parameters
    ----------
    z : (N, D)
    edges : Adjacency
        Symmetric, without loops.
    positive_weight : float
        Of the entries that are 1.
    scale : float

    Examples
    --------
    >>> import torch
    >>> pair = Adjacency.from_edges(torch.tensor([[0, 1], [1, 0]]), 2, symmetric=True)
    >>> loss = edge_reconstruction(torch.zeros(2, 3), pair, positive_weight=1.0, scale=1.0)
    >>> round(loss.item(), 4)  # log 2
    0.6931
    """
    total = pair_logistic(z, edges.incoming, positive_weight=positive_weight)
    return total * (scale / len(z) ** 2)
