"""DGI: tell the nodes of a graph from nodes with shuffled features."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from augcl.checks import whole_number
from augcl.encoders.blocks import Layer
from augcl.ops.csr import propagate
from augcl.rivals.convolution import (
    BilinearDiscriminator,
    Convolution,
    discrimination,
    mean_summary,
    shuffled,
)
from augcl.training.batches import NodeBatch
from augcl.training.callbacks import Callbacks
from augcl.training.estimator import NodeEstimator
from augcl.views.nodes import NodeView


class DGI(NodeEstimator):
    """Tell the nodes of the graph from those of a corrupted graph, given a summary of the graph.

    Deep Graph Infomax. In every epoch the features are shuffled among the nodes; a bilinear
    discriminator compares true and corrupted embeddings with the mean of the true ones.

    Parameters
    ----------
    epochs : int
        Largest number of epochs; 0 gives the untrained encoder. Published: 10,000, which `patience`
        ends after a few hundred.
    patience : int, optional
        End the training after this many epochs without a lower loss, and keep the weights with
        the lowest loss. If None, train all epochs and keep the last weights.
    width : int
        Width of the embedding.
    lr : float
        Learning rate.
    weight_decay : float
    batch_nodes : int, optional
        See `GRACE`; features are shuffled and summarised inside a batch.
    normalize_features : bool
        Divide every row of the features by its sum (if above 1), as published.
    random_state : int or None
        Seed of every draw.
    device : str
        "cpu", "cuda", "cuda:1", "auto".
    progress : bool
        Show a progress bar when the error stream is a terminal.
    callbacks : list of Callback
        Watch or end the training; see `augcl.callbacks`.
    warm_start : bool
        Let a further `fit` on the same data continue the last one, up to `epochs` in total.

    Attributes
    ----------
    network_ : Module
    history_ : list of dict
        One entry per epoch: loss and seconds.

    References
    ----------
    P. Veličković, W. Fedus, W. L. Hamilton, P. Liò, Y. Bengio and R. D. Hjelm. "Deep Graph
    Infomax". ICLR 2019. arXiv:1809.10341,
    doi:10.48550/arXiv.1809.10341.

    Examples
    --------
    >>> import augcl
    >>> graph = augcl.load("digits-knn")
    >>> augcl.DGI(epochs=2, width=16, random_state=0).fit_transform(graph).shape
    (1797, 16)
    """

    year = 2019

    def __init__(
        self,
        *,
        epochs: int = 500,
        patience: int | None = 20,
        width: int = 512,
        lr: float = 0.001,
        weight_decay: float = 0.0,
        batch_nodes: int | None = None,
        normalize_features: bool = True,
        random_state: int | None = 0,
        device: str = "cpu",
        progress: bool = True,
        callbacks: Callbacks = (),
        warm_start: bool = False,
    ) -> None:
        self.epochs = epochs
        self.patience = patience
        self.width = width
        self.lr = lr
        self.weight_decay = weight_decay
        self.batch_nodes = batch_nodes
        self.normalize_features = normalize_features
        self.random_state = random_state
        self.device = device
        self.progress = progress
        self.callbacks = callbacks
        self.warm_start = warm_start

    def _start(self) -> None:
        super()._start()
        whole_number("width", self.width, least=1)

    def _build(self, features: int, generator: torch.Generator) -> nn.Module:
        return DGINetwork(features, self.width, generator)

    def _loss(self, batch: NodeBatch, generator: torch.Generator) -> Tensor:
        return discrimination(*self.network_(batch.views.clean, generator))


class DGINetwork(nn.Module):
    """A graph convolution and a discriminator of its outputs."""

    def __init__(self, features: int, width: int, generator: torch.Generator) -> None:
        super().__init__()
        self.encoder = Convolution(features, width, generator)
        self.discriminator = BilinearDiscriminator(width, width, generator)

    def forward(self, view: NodeView, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return (N,) scores of the true nodes and (N,) scores of the corrupted nodes."""
        mapped = self.encoder.mapped(view)
        true, false = (
            self.encoder.finish(propagate(rows, view.edges))
            for rows in (mapped, shuffled(mapped, generator))
        )
        summary = mean_summary(true)
        return self.discriminator(true, summary), self.discriminator(false, summary)

    def layer_list(self) -> list[Layer]:
        """Return the layer of the encoder, for `embed_in_blocks`."""
        return [Layer(self.encoder.weight, self.encoder.finish)]

    def embed(self, view: NodeView) -> Tensor:
        """Return (N, width) embeddings."""
        embeddings: Tensor = self.encoder(view, view.edges)
        return embeddings
