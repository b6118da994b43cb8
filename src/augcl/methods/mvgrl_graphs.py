"""MVGRL for whole graphs: nodes seen through edges, graphs through diffusion, and the reverse."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn

from augcl.checks import number, whole_number
from augcl.data.graph import GraphSet
from augcl.encoders import pool
from augcl.encoders.heads import FeedForward
from augcl.encoders.propagation import PropagationNetwork
from augcl.errors import one_of
from augcl.methods.infograph import own_graph
from augcl.objectives.jensen_shannon import jensen_shannon
from augcl.ops.csr import Adjacency
from augcl.ops.diffusion import diffuse_in_steps
from augcl.ops.gcn import propagate
from augcl.training.estimator import GraphEstimator


class MVGRLGraphs(GraphEstimator):
    """Tell the nodes of one view of a graph by the graph's embedding in the other view.

    One view has the edges as they are, the other their personalised PageRank diffusion; each has
    a graph network of its own, and both are trained. Nodes of one view are scored against graphs
    of the other with the Jensen–Shannon bound, as in `InfoGraph`. The embedding of a graph is the
    sum of those of both views.

    Parameters
    ----------
    alpha : float
        Teleport probability of the diffusion.
    steps : int
        Products that approximate the diffusion; it is exact up to (1 − alpha)^steps.
    epochs : int
        0 gives the untrained encoder.
    layers, width : int
        Of each of the two networks; `width` is that of the embedding, too.
    pooling : {"sum", "mean"}
    batch_size, lr, random_state, device, progress :
        See `GraphCL`.

    Attributes
    ----------
    network_ : TwoViewNetwork
    history_ : list of dict
        One entry per epoch: loss and seconds.

    Examples
    --------
    >>> import augcl
    >>> graphs = augcl.load("MUTAG")
    >>> model = augcl.MVGRLGraphs(epochs=1, width=16, random_state=0).fit(graphs)
    >>> model.transform(graphs).shape
    (188, 16)
    """

    year = 2020

    def __init__(
        self,
        *,
        alpha: float = 0.2,
        steps: int = 16,
        epochs: int = 20,
        layers: int = 3,
        width: int = 128,
        pooling: str = "sum",
        batch_size: int = 128,
        lr: float = 0.001,
        random_state: int | None = 0,
        device: str = "cpu",
        progress: bool = True,
    ) -> None:
        self.alpha = alpha
        self.steps = steps
        self.epochs = epochs
        self.layers = layers
        self.width = width
        self.pooling = pooling
        self.batch_size = batch_size
        self.lr = lr
        self.random_state = random_state
        self.device = device
        self.progress = progress

    def _start(self) -> None:
        super()._start()
        one_of(self.pooling, ("sum", "mean"), "pooling")
        whole_number("steps", self.steps, least=1)
        number("alpha", self.alpha, above=0, most=1)

    def _build(self, features: int, generator: torch.Generator) -> TwoViewNetwork:
        return TwoViewNetwork(
            features,
            layers=self.layers,
            width=self.width,
            diffusion=partial(diffuse_in_steps, alpha=self.alpha, steps=self.steps),
            pooling=self.pooling,
            generator=generator,
        )

    def _loss(self, batch: GraphSet, generator: torch.Generator) -> Tensor:
        own = own_graph(batch)
        one, other = self.network_(batch.x, batch.adjacency, batch.node_ptr)
        return jensen_shannon(one, own) + jensen_shannon(other, own)


class TwoViewNetwork(nn.Module):
    """A network for the edges, one for their diffusion, and heads that both share.

    Parameters
    ----------
    features, layers, width : int
    diffusion : callable
        (V, D) node values and the edges to the diffused values.
    pooling : {"sum", "mean"}
    generator : torch.Generator
        Draws the weights.
    """

    def __init__(
        self,
        features: int,
        *,
        layers: int,
        width: int,
        diffusion: partial[Tensor],
        pooling: str,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        network = partial(
            PropagationNetwork, features, width=width, layers=layers, generator=generator
        )
        self.of_edges = network(propagate)
        self.of_diffusion = network(diffusion)
        head = partial(FeedForward, outputs=width, generator=generator, activation=nn.PReLU)
        self.of_nodes = head(width)
        self.of_graphs = head(width * layers)
        self.pooling = pooling

    def forward(self, x: Tensor, edges: Adjacency, node_ptr: Tensor) -> tuple[Tensor, Tensor]:
        """(V, G) scores of the nodes of either view with the graphs of the other."""
        one, other = self.of_edges(x, edges), self.of_diffusion(x, edges)
        graphs_of_one, graphs_of_other = (self._graphs(view, node_ptr) for view in (one, other))
        return (
            self.of_nodes(one[-1]) @ graphs_of_other.T,
            self.of_nodes(other[-1]) @ graphs_of_one.T,
        )

    def embed(self, graphs: GraphSet) -> Tensor:
        """(G, width) embeddings: the sum over both views."""
        x, edges, node_ptr = graphs.x, graphs.adjacency, graphs.node_ptr
        one = self._graphs(self.of_edges(x, edges), node_ptr)
        return one + self._graphs(self.of_diffusion(x, edges), node_ptr)

    def _graphs(self, layers: list[Tensor], node_ptr: Tensor) -> Tensor:
        pooled = [pool(nodes, node_ptr, self.pooling) for nodes in layers]
        return self.of_graphs(torch.cat(pooled, dim=1))  # type: ignore[no-any-return]
