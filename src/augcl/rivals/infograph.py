"""InfoGraph: the embedding of a graph recognises the nodes of that graph."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from augcl.checks import number
from augcl.data.graph import GraphSet
from augcl.encoders import (
    ContrastiveNetwork,
    Edges,
    encode,
    inputs,
    output_width,
    own_or_gin,
    pool,
)
from augcl.encoders.heads import FeedForward, discriminator
from augcl.errors import InputError, one_of
from augcl.training.callbacks import Callbacks
from augcl.training.estimator import GraphEstimator


def jensen_shannon(scores: Tensor, positive: Tensor) -> Tensor:
    """Return the Jensen–Shannon loss E⁻ − E⁺ of scored pairs.

    E⁺ is the mean of log 2 − sp(−t) over the positive pairs, E⁻ the mean of sp(t) − log 2 over the
    negative pairs, with sp(t) = log(1 + e^t). The loss is lower the better the scores t separate
    positive from negative pairs; scores of 0 give 0.

    Parameters
    ----------
    scores : any shape
        One t per pair, for instance (V, G) of nodes and graphs.
    positive : bool, of the same shape
        The pairs that belong together.

    Returns
    -------
    scalar
        0 if there are no positives or no negatives.

    Examples
    --------
    >>> import torch
    >>> same = torch.eye(2, dtype=torch.bool)
    >>> jensen_shannon(torch.zeros(2, 2), same).item()
    0.0
    >>> round(jensen_shannon(torch.tensor([[9.0, -9.0], [-9.0, 9.0]]), same).item(), 4)
    -1.386
    """
    if scores.shape != positive.shape:
        raise InputError(
            "jensen_shannon needs scores and positives of the same shape, got "
            f"{tuple(scores.shape)} and {tuple(positive.shape)}"
        )
    scores = scores.float() if scores.dtype.itemsize < 4 else scores
    positives = int(positive.sum())
    negatives = positive.numel() - positives
    if not positives or not negatives:
        return scores.sum() * 0
    log_2 = math.log(2)
    gained = (log_2 - softplus(-scores)).masked_fill(~positive, 0)
    lost = (softplus(scores) - log_2).masked_fill(positive, 0)
    return lost.sum() / negatives - gained.sum() / positives


class InfoGraph(GraphEstimator):
    """Score every node against every graph of the batch: high for its own, low for the others.

    The score of node v and graph G is f(h_v) · g(h_G), with a feed-forward head for each; the
    Jensen–Shannon bound of their mutual information is maximised.

    Parameters
    ----------
    prior : float
        Weight of prior matching: a discriminator learns to tell embeddings of graphs from uniform
        noise, and the encoder learns to deceive it. 0 (the default) disables it; the usual value
        is 0.1.
    epochs : int
        0 gives the untrained encoder.
    encoder, edge_features, layers, width, pooling, batch_size, lr, patience, random_state, … :
        See `GraphCL`.

    Attributes
    ----------
    network_ : NodeGraphNetwork
    history_ : list of dict
        One entry per epoch: loss and seconds.

    References
    ----------
    F.-Y. Sun, J. Hoffmann, V. Verma and J. Tang. "InfoGraph: Unsupervised and Semi-supervised
    Graph-Level Representation Learning via Mutual Information Maximization". ICLR 2020.
    arXiv:1908.01000,
    doi:10.48550/arXiv.1908.01000.

    Examples
    --------
    >>> import augcl
    >>> graphs = augcl.load("MUTAG")
    >>> model = augcl.InfoGraph(epochs=2, random_state=0).fit(graphs)
    >>> model.transform(graphs).shape
    (188, 96)
    """

    year = 2020
    edge_switch = "edge_features"

    def __init__(
        self,
        *,
        prior: float = 0.0,
        epochs: int = 20,
        encoder: nn.Module | None = None,
        edge_features: bool | None = None,
        layers: int = 3,
        width: int = 32,
        pooling: str = "sum",
        batch_size: int = 128,
        lr: float = 0.001,
        patience: int | None = None,
        random_state: int | None = 0,
        device: str = "cpu",
        progress: bool = True,
        callbacks: Callbacks = (),
        warm_start: bool = False,
    ) -> None:
        self.prior = prior
        self.epochs = epochs
        self.encoder = encoder
        self.edge_features = edge_features
        self.layers = layers
        self.width = width
        self.pooling = pooling
        self.batch_size = batch_size
        self.lr = lr
        self.patience = patience
        self.random_state = random_state
        self.device = device
        self.progress = progress
        self.callbacks = callbacks
        self.warm_start = warm_start

    def _start(self) -> None:
        super()._start()
        one_of(self.pooling, ("sum", "mean"), "pooling")
        number("prior", self.prior, least=0)

    def _build(self, features: int, generator: torch.Generator) -> NodeGraphNetwork:
        edge_features = self.n_edge_features_ or 0
        encoder = own_or_gin(
            self.encoder,
            features,
            edge_features=edge_features,
            width=self.width,
            layers=self.layers,
            generator=generator,
        )
        width = output_width(encoder, features, edge_features)
        return NodeGraphNetwork(
            encoder,
            FeedForward(width, width, generator),
            FeedForward(width, width, generator),
            discriminator(width, generator) if self.prior else None,
            pooling=self.pooling,
        )

    def _loss(self, batch: GraphSet, generator: torch.Generator) -> Tensor:
        scores, embeddings = self.network_(*inputs(self.network_.encoder, batch))
        loss = jensen_shannon(scores, own_graph(batch))
        if not self.prior:
            return loss
        noise = torch.rand(embeddings.shape, generator=generator, device=generator.device)
        return loss + self.prior * prior_matching(
            self.network_.discriminator, embeddings, noise.to(embeddings)
        )


class NodeGraphNetwork(ContrastiveNetwork):
    """Embeddings of graphs, and the scores of all pairs of a node and a graph.

    Parameters
    ----------
    encoder : Module
        See `ContrastiveNetwork`.
    of_nodes, of_graphs : Module
        Map (V, D) and (G, D) to vectors of equal width, whose products are the scores.
    discriminator : Module, optional
        Maps (G, D) to (G, 1).
    pooling : {"sum", "mean"}
    """

    def __init__(
        self,
        encoder: nn.Module,
        of_nodes: nn.Module,
        of_graphs: nn.Module,
        discriminator: nn.Module | None = None,
        *,
        pooling: str = "sum",
    ) -> None:
        super().__init__(encoder, of_graphs, pooling=pooling)
        self.of_nodes = of_nodes
        self.discriminator = discriminator

    def forward(  # type: ignore[override]
        self, x: Tensor, edges: Edges, node_ptr: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return (V, G) scores and (G, D) embeddings."""
        nodes = encode(self.encoder, x, edges)
        graphs = pool(nodes, node_ptr, self.pooling)
        return self.of_nodes(nodes) @ self.projector(graphs).T, graphs


def own_graph(batch: GraphSet) -> Tensor:
    """Return (V, G) bool: whether each node belongs to each graph."""
    numbers = torch.arange(len(batch), device=batch.device)
    return batch.graph_of_node[:, None] == numbers


def prior_matching(discriminator: nn.Module, embeddings: Tensor, noise: Tensor) -> Tensor:
    """Return −mean log D(noise) − mean log(1 − D(embedding)); only D minimises it."""
    against = 2 * embeddings.detach() - embeddings  # the same values with a reversed gradient
    return softplus(-discriminator(noise)).mean() + softplus(discriminator(against)).mean()
