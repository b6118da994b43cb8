"""VGAE: a graph autoencoder whose embeddings are drawn at random around what is learned."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from augcl.baselines.gae import GAE, Autoencoder, reconstruction
from augcl.encoders.convolution import Convolution
from augcl.training.node_estimator import NodeBatch
from augcl.views.nodes import NodeView

LARGEST_LOG_STD = 10.0
"""Beyond, e^{2 log σ} would leave what float32 can hold long before it makes sense."""


class VGAE(GAE):
    """Learn for each node a normal distribution of embeddings from which its edges can be read off.

    Variational graph autoencoder: `GAE` with a mean and a standard deviation for each node, and a
    loss that keeps them near the standard normal distribution. The embedding is the mean.

    Parameters
    ----------
    epochs, hidden, width, … :
        See `GAE`.

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
    """Mean and logarithm of the standard deviation, which share the first convolution."""

    def __init__(self, features: int, hidden: int, width: int, generator: torch.Generator) -> None:
        super().__init__(features, hidden, width, generator)
        self.log_std = Convolution(hidden, width, generator, activation="identity", bias=False)

    def forward(self, view: NodeView) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        """(N, width) means and (N, width) log standard deviations."""
        hidden = self.first(view, view.edges)
        log_std = self.log_std(hidden, view.edges).clamp(max=LARGEST_LOG_STD)
        return self.mean(hidden, view.edges), log_std


def divergence(mean: Tensor, log_std: Tensor) -> Tensor:
    """Kullback–Leibler divergence from the standard normal distribution, the mean over nodes.

    >>> divergence(torch.zeros(5, 2), torch.zeros(5, 2)).abs()
    tensor(0.)
    """
    parts = 1 + 2 * log_std - mean**2 - (2 * log_std).exp()
    return -0.5 * parts.sum(1).mean()
