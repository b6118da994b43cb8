"""GAE and VGAE: embeddings whose inner products predict the edges.

The loss over all N² pairs of nodes is exact, but no N × N matrix ever exists. With inner products
s_ij = z_i · z_j, targets t = A + I, and sp(x) = log(1 + eˣ),

    Σ_ij w t_ij sp(−s_ij) + (1 − t_ij) sp(s_ij)
        = Σ_ij sp(s_ij) + Σ_{t_ij = 1} [ w sp(−s_ij) − sp(s_ij) ]

The first sum runs over tiles of a symmetric matrix (a tile above the diagonal counts twice), the
second over edges and nodes. The gradient is computed together with the sum, tile by tile.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.functional import softplus

from augcl.checks import whole_number
from augcl.data.node_graph import NodeGraph
from augcl.ops.csr import Adjacency, Rows
from augcl.ops.segments import segment_ids
from augcl.rivals.convolution import Convolution
from augcl.training.batches import NodeBatch
from augcl.training.callbacks import Callbacks
from augcl.training.estimator import NodeEstimator
from augcl.views.nodes import NodeView

TILE = 1024
"""Rows and columns of a tile."""

EDGES = 2048
"""Edges processed at a time, so that the rows they gather stay in the cache."""


def pair_logistic(z: Tensor, edges: Rows, *, positive_weight: float, tile: int = TILE) -> Tensor:
    """Return the logistic loss of all pairs (see the module) for z (N, D).

    `edges` is a symmetric adjacency without loops; `positive_weight` is w.

    >>> lonely = Rows(torch.empty(0, dtype=torch.long), torch.zeros(3, dtype=torch.long))
    >>> pair_logistic(torch.zeros(2, 1), lonely, positive_weight=1.0)  # 4 log 2
    tensor(2.7726)
    """
    total: Tensor = _PairLogistic.apply(  # type: ignore[no-untyped-call]
        z, edges, positive_weight, tile
    )
    return total


class _PairLogistic(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: Tensor, edges: Rows, weight: float, tile: int) -> Tensor:
        d_z = torch.zeros_like(z) if ctx.needs_input_grad[0] else None
        total = _all_pairs(z, tile, d_z) + _linked_pairs(z, edges, weight, d_z)
        if d_z is not None:
            ctx.save_for_backward(d_z)
        return total.to(z.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None]:
        (d_z,) = ctx.saved_tensors
        return d_z * grad, None, None, None


def _all_pairs(z: Tensor, tile: int, d_z: Tensor | None) -> Tensor:
    """Return Σ_ij sp(s_ij) and add its gradient to `d_z`."""
    total = z.new_zeros((), dtype=torch.float64)
    for first in range(0, len(z), tile):
        for second in range(first, len(z), tile):
            rows, columns = slice(first, first + tile), slice(second, second + tile)
            s = z[rows] @ z[columns].t()
            times = 1 if first == second else 2
            total += times * softplus(s).sum(dtype=torch.float64)
            if d_z is not None:
                s.sigmoid_()
                d_z[rows].addmm_(s, z[columns], alpha=2)
                if first != second:
                    d_z[columns].addmm_(s.t(), z[rows], alpha=2)
    return total


def _linked_pairs(z: Tensor, edges: Rows, weight: float, d_z: Tensor | None) -> Tensor:
    """Return Σ w sp(−s_ij) − sp(s_ij) over edges and nodes, and add its gradient to `d_z`."""
    row, column = segment_ids(edges.ptr), edges.indices
    parts = zip(row.split(EDGES), column.split(EDGES), strict=True)
    s = torch.cat([z.new_empty(0), *((z[i] * z[j]).sum(1) for i, j in parts)])
    own = (z * z).sum(1)
    both = torch.cat([s, own])
    if d_z is not None:
        slope = -2 * ((weight - 1) * torch.sigmoid(-both) + 1)  # −w σ(−s) − σ(s), from both ends
        d_z += Rows(edges.indices, edges.ptr, slope[: len(s)]).times(z)
        d_z += slope[len(s) :, None] * z
    return (weight * softplus(-both) - softplus(both)).sum(dtype=torch.float64)


def edge_reconstruction(
    z: Tensor, edges: Adjacency, *, positive_weight: float, scale: float
) -> Tensor:
    """Return `scale` times the mean cross-entropy of σ(z_i · z_j) against A + I over all N² pairs.

    Parameters
    ----------
    z : (N, D)
    edges : Adjacency
        Symmetric, without loops.
    positive_weight : float
        Weight of the entries that are 1.
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


class GAE(NodeEstimator):
    """Learn embeddings whose inner products predict the edges.

    Graph autoencoder: two convolutions, and σ(z_i · z_j) as the probability of an edge. The loss
    over all N² pairs of nodes is exact and computed in tiles, so that memory is linear in N.
    Training uses all edges (the original, made for link prediction, hides 15 % of them).

    Parameters
    ----------
    epochs : int
        0 gives the untrained encoder.
    hidden, width : int
        Widths of the first layer and of the embedding.
    lr, weight_decay : float
    normalize_features : bool
        Divide every row of the features by its sum (if above 1); not done as published.
    patience, random_state, device, progress, callbacks, warm_start :
        See `DGI`.

    Attributes
    ----------
    network_ : Module
    history_ : list of dict
        One entry per epoch: loss and seconds.

    References
    ----------
    T. N. Kipf and M. Welling. "Variational Graph Auto-Encoders". NeurIPS Workshop on Bayesian
    Deep Learning, 2016. arXiv:1611.07308,
    doi:10.48550/arXiv.1611.07308.

    Examples
    --------
    >>> import augcl
    >>> graph = augcl.load("digits-knn")
    >>> augcl.GAE(epochs=2, random_state=0).fit_transform(graph).shape
    (1797, 16)
    """

    year = 2016

    def __init__(
        self,
        *,
        epochs: int = 200,
        hidden: int = 32,
        width: int = 16,
        lr: float = 0.01,
        weight_decay: float = 0.0,
        normalize_features: bool = False,
        patience: int | None = None,
        random_state: int | None = 0,
        device: str = "cpu",
        progress: bool = True,
        callbacks: Callbacks = (),
        warm_start: bool = False,
    ) -> None:
        self.epochs = epochs
        self.hidden = hidden
        self.width = width
        self.lr = lr
        self.weight_decay = weight_decay
        self.normalize_features = normalize_features
        self.patience = patience
        self.random_state = random_state
        self.device = device
        self.progress = progress
        self.callbacks = callbacks
        self.warm_start = warm_start

    def _start(self) -> None:
        super()._start()
        for name in ("hidden", "width"):
            whole_number(name, getattr(self, name), least=1)

    def _build(self, features: int, generator: torch.Generator) -> nn.Module:
        return Autoencoder(features, self.hidden, self.width, generator)

    def _loss(self, batch: NodeBatch, generator: torch.Generator) -> Tensor:
        view = batch.views.clean
        return reconstruction(self.network_(view), batch.graph, view)


class Autoencoder(nn.Module):
    """Two convolutions without bias, the second without activation."""

    def __init__(self, features: int, hidden: int, width: int, generator: torch.Generator) -> None:
        super().__init__()
        self.first = Convolution(features, hidden, generator, activation="relu", bias=False)
        self.mean = Convolution(hidden, width, generator, activation="identity", bias=False)

    def forward(self, view: NodeView) -> Tensor:
        """Return (N, width) embeddings."""
        return self.embed(view)

    def embed(self, view: NodeView) -> Tensor:
        """Return (N, width) embeddings."""
        embeddings: Tensor = self.mean(self.first(view, view.edges), view.edges)
        return embeddings


def reconstruction(z: Tensor, graph: NodeGraph, view: NodeView) -> Tensor:
    """Return the loss of edges predicted from z (N, width); edges count as much as non-edges."""
    pairs, linked = graph.num_nodes**2, max(graph.num_edges, 1)
    return edge_reconstruction(
        z,
        view.edges,
        positive_weight=(pairs - linked) / linked,
        scale=pairs / (2 * (pairs - linked)),
    )


LARGEST_LOG_STD = 10.0
"""Limit of log σ: e^{2 log σ} must not overflow float32."""


class VGAE(GAE):
    """Learn a normal distribution of embeddings for each node that predicts its edges.

    Variational graph autoencoder: `GAE` with a mean and a standard deviation for each node, and a
    loss that keeps them near the standard normal distribution. The embedding is the mean.

    Parameters
    ----------
    epochs, hidden, width, … :
        See `GAE`.

    References
    ----------
    T. N. Kipf and M. Welling. "Variational Graph Auto-Encoders". NeurIPS Workshop on Bayesian
    Deep Learning, 2016. arXiv:1611.07308,
    doi:10.48550/arXiv.1611.07308.

    Examples
    --------
    >>> import augcl
    >>> graph = augcl.load("digits-knn")
    >>> augcl.VGAE(epochs=2, random_state=0).fit_transform(graph).shape
    (1797, 16)
    """

    year = 2016

    def _build(self, features: int, generator: torch.Generator) -> nn.Module:
        return VariationalAutoencoder(features, self.hidden, self.width, generator)

    def _loss(self, batch: NodeBatch, generator: torch.Generator) -> Tensor:
        view = batch.views.clean
        mean, log_std = self.network_(view)
        noise = torch.randn(mean.shape, generator=generator).to(mean.device)
        loss = reconstruction(mean + noise * log_std.exp(), batch.graph, view)
        return loss + divergence(mean, log_std) / len(batch)


class VariationalAutoencoder(Autoencoder):
    """Networks for mean and log standard deviation, which share the first convolution."""

    def __init__(self, features: int, hidden: int, width: int, generator: torch.Generator) -> None:
        super().__init__(features, hidden, width, generator)
        self.log_std = Convolution(hidden, width, generator, activation="identity", bias=False)

    def forward(self, view: NodeView) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        """Return (N, width) means and (N, width) log standard deviations."""
        hidden = self.first(view, view.edges)
        log_std = self.log_std(hidden, view.edges).clamp(max=LARGEST_LOG_STD)
        return self.mean(hidden, view.edges), log_std


def divergence(mean: Tensor, log_std: Tensor) -> Tensor:
    """Return the mean Kullback–Leibler divergence of the nodes from the standard normal.

    >>> divergence(torch.zeros(5, 2), torch.zeros(5, 2)).abs()
    tensor(0.)
    """
    parts = 1 + 2 * log_std - mean**2 - (2 * log_std).exp()
    return -0.5 * parts.sum(1).mean()
