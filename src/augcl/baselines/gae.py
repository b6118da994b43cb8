"""GAE: embeddings whose inner products tell the edges."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from augcl.checks import whole_number
from augcl.data.node_graph import NodeGraph
from augcl.encoders.convolution import Convolution
from augcl.objectives.reconstruction import edge_reconstruction
from augcl.training.node_estimator import NodeBatch, NodeEstimator
from augcl.views.nodes import NodeView


class GAE(NodeEstimator):
    """Learn embeddings from whose inner products the edges can be read off.

    Graph autoencoder: two convolutions, and the edges as σ(z_i · z_j). The loss is over all N²
    pairs of nodes, exact, in tiles, so that memory grows with N alone. All edges are trained on
    (the original, made for link prediction, hides 15 % of them).

    Parameters
    ----------
    epochs : int
        0 gives the untrained encoder.
    hidden, width : int
        Of the first layer and of an embedding.
    lr, weight_decay : float
    normalize_features : bool
        Divide every row of the features by its sum (where above 1); as published not.
    random_state, device, progress :
        See `DGI`.

    Attributes
    ----------
    network_ : Module
    history_ : list of dict
        One entry per epoch: loss and seconds.

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
        random_state: int | None = 0,
        device: str = "cpu",
        progress: bool = True,
    ) -> None:
        self.epochs = epochs
        self.hidden = hidden
        self.width = width
        self.lr = lr
        self.weight_decay = weight_decay
        self.normalize_features = normalize_features
        self.random_state = random_state
        self.device = device
        self.progress = progress

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
    """Two convolutions without bias, the second one linear."""

    def __init__(self, features: int, hidden: int, width: int, generator: torch.Generator) -> None:
        super().__init__()
        self.first = Convolution(features, hidden, generator, activation="relu", bias=False)
        self.mean = Convolution(hidden, width, generator, activation="identity", bias=False)

    def forward(self, view: NodeView) -> Tensor:
        """(N, width) embeddings."""
        return self.embed(view)

    def embed(self, view: NodeView) -> Tensor:
        """(N, width) embeddings."""
        embeddings: Tensor = self.mean(self.first(view, view.edges), view.edges)
        return embeddings


def reconstruction(z: Tensor, graph: NodeGraph, view: NodeView) -> Tensor:
    """The edges from z (N, width); those that are there count as much as those that are not."""
    pairs, linked = graph.num_nodes**2, max(graph.num_edges, 1)
    return edge_reconstruction(
        z,
        view.edges,
        positive_weight=(pairs - linked) / linked,
        scale=pairs / (2 * (pairs - linked)),
    )
