"""GMI: embeddings that keep the features of the node and its neighbours, and the edges."""

from __future__ import annotations

from contextlib import AbstractContextManager

import torch
from torch import Tensor, nn

from augcl.checks import number, whole_number
from augcl.data.node_graph import NodeGraph
from augcl.errors import InputError
from augcl.ops.csr import propagate
from augcl.ops.threads import threads_for
from augcl.rivals.convolution import BilinearDiscriminator, Convolution, discrimination
from augcl.rivals.gae import edge_reconstruction
from augcl.training.batches import NodeBatch
from augcl.training.callbacks import Callbacks
from augcl.training.estimator import NodeEstimator
from augcl.views.nodes import NodeView


class GMI(NodeEstimator):
    """Keep in an embedding the features of the node and of its neighbours, and its edges.

    Graphical Mutual Information, with the mean over the neighbours. Two discriminators compare the
    embedding with the node's own features, and with the mean of its neighbours' features; false
    pairs come from `negatives` other nodes, drawn in every epoch. As published, their scores go
    through a sigmoid and then into the Jensen–Shannon loss. The third part predicts the edges
    from inner products: exact over all N² pairs, in tiles, so that memory is linear in N.

    Parameters
    ----------
    epochs : int
        Largest number of epochs; 0 gives the untrained encoder.
    patience : int, optional
        End the training after this many epochs without a lower loss, and keep the weights with
        the lowest loss. If None, train all epochs and keep the last weights.
    layers : {1, 2}
        Published: 1 for CiteSeer and PubMed, else 2.
    width : int
        Width of the embedding.
    own, neighbours, edges : float
        Weights of the three parts of the loss (α, β, γ).
    negatives : int
        False pairs per node.
    lr, weight_decay : float
    normalize_features : bool
        Divide every row of the features by its sum (if above 1), as published.
    random_state, device, progress, callbacks, warm_start :
        See `DGI`.

    Attributes
    ----------
    network_ : Module
    history_ : list of dict
        One entry per epoch: loss and seconds.

    References
    ----------
    Z. Peng, W. Huang, M. Luo, Q. Zheng, Y. Rong, T. Xu and J. Huang. "Graph Representation
    Learning via Graphical Mutual Information Maximization". WWW 2020. arXiv:2002.01169,
    doi:10.1145/3366423.3380112.

    Examples
    --------
    >>> import augcl
    >>> graph = augcl.load("digits-knn")
    >>> augcl.GMI(epochs=2, width=16, random_state=0).fit_transform(graph).shape
    (1797, 16)
    """

    year = 2020
    cost = "hours"

    def __init__(
        self,
        *,
        epochs: int = 550,
        patience: int | None = 20,
        layers: int = 2,
        width: int = 512,
        own: float = 0.8,
        neighbours: float = 1.0,
        edges: float = 1.0,
        negatives: int = 5,
        lr: float = 0.001,
        weight_decay: float = 0.0,
        normalize_features: bool = True,
        random_state: int | None = 0,
        device: str = "cpu",
        progress: bool = True,
        callbacks: Callbacks = (),
        warm_start: bool = False,
    ) -> None:
        self.epochs = epochs
        self.patience = patience
        self.layers = layers
        self.width = width
        self.own = own
        self.neighbours = neighbours
        self.edges = edges
        self.negatives = negatives
        self.lr = lr
        self.weight_decay = weight_decay
        self.normalize_features = normalize_features
        self.random_state = random_state
        self.device = device
        self.progress = progress
        self.callbacks = callbacks
        self.warm_start = warm_start

    def _start(self) -> None:
        super()._start()
        for name in ("width", "negatives"):
            whole_number(name, getattr(self, name), least=1)
        if self.layers not in (1, 2):
            raise InputError(f"layers is {self.layers!r}: GMI takes 1 or 2")
        for name in ("own", "neighbours", "edges"):
            number(name, getattr(self, name), least=0)

    def _build(self, features: int, generator: torch.Generator) -> nn.Module:
        return GMINetwork(features, self.width, self.layers, generator)

    def _threads(self, data: NodeGraph, batches: list[NodeBatch]) -> AbstractContextManager[None]:
        return threads_for(data.num_nodes**2 / 100)  # all pairs of wide embeddings

    def _loss(self, batch: NodeBatch, generator: torch.Generator) -> Tensor:
        view = batch.views.clean
        others = other_nodes(len(batch), self.negatives, generator).to(view.edge_index.device)
        h, own, neighbours = self.network_(view, others)
        loss = 2 * self.own * discrimination(*own) + 2 * self.neighbours * discrimination(
            *neighbours
        )
        if not self.edges:
            return loss
        pairs, linked = len(batch) ** 2, (view.edge_index.shape[1] + len(batch)) / 2
        return loss + self.edges * edge_reconstruction(
            h,
            view.edges,
            positive_weight=(pairs - linked) / linked,
            scale=pairs / (pairs - linked),
        )


Scores = tuple[Tensor, Tensor]
"""Scores of the true and of the false pairs."""


class GMINetwork(nn.Module):
    """One or two convolutions, and two discriminators of embeddings and features."""

    def __init__(self, features: int, width: int, layers: int, generator: torch.Generator) -> None:
        super().__init__()
        self.first = Convolution(features, width, generator)
        self.second = Convolution(width, width, generator) if layers == 2 else None
        self.of_own = BilinearDiscriminator(features, width, generator)
        self.of_neighbours = BilinearDiscriminator(width, width, generator)
        self.neighbour_activation = nn.PReLU()

    def forward(self, view: NodeView, others: Tensor) -> tuple[Tensor, Scores, Scores]:
        """Return embeddings (N, width), and the scores with own and with neighbours' features.

        Scores lie between 0 and 1: (N,) of the true pairs and (N, K) of the false pairs.
        """
        mapped = self.first.mapped(view)
        h = self._deepened(mapped, view)
        total = view.edges.incoming.totals()[:, None]
        degree = total.masked_fill(total == 0, 1)
        around = self.neighbour_activation(view.edges.sum_neighbours(mapped) / degree)
        features = view.times(self.of_own.weight)
        return (
            h,
            _scores(self.of_own, features, h, others),
            _scores(self.of_neighbours, around @ self.of_neighbours.weight, h, others),
        )

    def _deepened(self, mapped: Tensor, view: NodeView) -> Tensor:
        h = self.first.finish(propagate(mapped, view.edges))
        return h if self.second is None else self.second(h, view.edges)

    def embed(self, view: NodeView) -> Tensor:
        """Return (N, width) embeddings."""
        return self._deepened(self.first.mapped(view), view)


def _scores(
    discriminator: BilinearDiscriminator, mapped: Tensor, h: Tensor, others: Tensor
) -> Scores:
    """Score each embedding with the features of its node, and with those of other nodes."""
    false = [discriminator.of_mapped(mapped[drawn], h) for drawn in others.t()]
    return discriminator.of_mapped(mapped, h).sigmoid(), torch.stack(false, 1).sigmoid()


def other_nodes(nodes: int, count: int, generator: torch.Generator) -> Tensor:
    """Draw (nodes, count) random nodes; row i never holds i.

    >>> other_nodes(2, 3, torch.Generator().manual_seed(0)).tolist()
    [[1, 1, 1], [0, 0, 0]]
    """
    further = torch.randint(1, nodes, (nodes, count), generator=generator)
    return (torch.arange(nodes)[:, None] + further) % nodes
