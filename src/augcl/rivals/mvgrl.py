"""MVGRL for nodes and for graphs: contrast the edges of a graph with their diffusion."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from augcl.checks import number, whole_number
from augcl.data.graph import GraphSet
from augcl.data.node_graph import NodeGraph
from augcl.encoders import pool
from augcl.encoders.heads import FeedForward, glorot_linear
from augcl.errors import one_of
from augcl.methods.recipes import by_recipe, get_recipe
from augcl.ops.csr import Adjacency, Rows, SparseMatrix, propagate
from augcl.ops.diffusion import (
    diffuse,
    diffuse_in_steps,
    normalised_adjacency,
    strongest_diffusion,
    window,
)
from augcl.rivals.convolution import (
    BilinearDiscriminator,
    Convolution,
    discrimination,
    mean_summary,
    shuffled,
)
from augcl.rivals.infograph import jensen_shannon, own_graph
from augcl.training.batches import NodeBatch
from augcl.training.callbacks import Callbacks
from augcl.training.estimator import GraphEstimator, NodeEstimator
from augcl.views.nodes import NodeView, NodeViews


class MVGRL(NodeEstimator):
    """Contrast the nodes of one view, neighbours or diffusion, with a summary of the other view.

    There are two encoders of one convolution each: one mixes the neighbours, the other mixes the
    nodes that a random walk with restarts (personalised PageRank) reaches. Corrupted nodes have
    shuffled features, as in `DGI`. The embedding is the sum of both encoders' outputs.

    To save memory, training keeps only the `strongest` entries per row of the N × N diffusion,
    computed a block of columns at a time; an epoch trains on `windows` windows of consecutive
    nodes, as published, with sparse matrices. Embeddings use the full diffusion, by repeated
    sparse products with the (N, width) values.

    Parameters
    ----------
    epochs : int
        Largest number of epochs; 0 gives the untrained encoders. Published: 3,000, which `patience`
        ends after a few hundred.
    patience : int, optional
        End the training after this many epochs without a lower loss, and keep the weights with
        the lowest loss. If None, train all epochs and keep the last weights.
    recipe : {"default", "authors", "paper"}
        Decides `loops`.
    loops : int, optional
        Self-loops of each node in the view of the neighbours; decided by the recipe if None: 2 in
        the released code ("authors"), else 1.
    width : int
        Width of the embedding.
    alpha : float
        Probability that the walk restarts.
    strongest : int
        Entries of the diffusion that are kept for each node; 64 hold nine tenths of its sum on
        Cora. The matrix stays symmetric.
    windows, window : int
        Number of windows in each epoch, and nodes in a window; a smaller graph is one window.
    lr, weight_decay : float
    normalize_features : bool
        Divide every row of the features by its sum (if above 1); published for CiteSeer only.
    random_state, device, progress, callbacks, warm_start :
        See `DGI`.

    Attributes
    ----------
    network_ : Module
    history_ : list of dict
        One entry per epoch: loss and seconds.

    References
    ----------
    K. Hassani and A. H. Khasahmadi. "Contrastive Multi-View Representation Learning on Graphs".
    ICML 2020. arXiv:2006.05582,
    doi:10.48550/arXiv.2006.05582.

    Examples
    --------
    >>> import augcl
    >>> graph = augcl.load("digits-knn")
    >>> augcl.MVGRL(epochs=2, width=16, strongest=16, random_state=0).fit_transform(graph).shape
    (1797, 16)
    """

    year = 2020

    def __init__(
        self,
        *,
        epochs: int = 500,
        patience: int | None = 20,
        recipe: str = "default",
        loops: int | None = None,
        width: int = 512,
        alpha: float = 0.2,
        strongest: int = 64,
        windows: int = 4,
        window: int = 2000,
        lr: float = 0.001,
        weight_decay: float = 0.0,
        normalize_features: bool = False,
        random_state: int | None = 0,
        device: str = "cpu",
        progress: bool = True,
        callbacks: Callbacks = (),
        warm_start: bool = False,
    ) -> None:
        self.epochs = epochs
        self.patience = patience
        self.recipe = recipe
        self.loops = loops
        self.width = width
        self.alpha = alpha
        self.strongest = strongest
        self.windows = windows
        self.window = window
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
        get_recipe(self.recipe)
        for name in ("width", "strongest", "windows"):
            whole_number(name, getattr(self, name), least=1)
        self._loops = by_recipe(self, "loops")
        whole_number("loops", self._loops, least=0)
        whole_number("window", self.window, least=2)
        number("alpha", self.alpha, least=0.01, most=1)

    def _build(self, features: int, generator: torch.Generator) -> nn.Module:
        return MVGRLNetwork(features, self.width, generator)

    def _batches(self, data: NodeGraph, generator: torch.Generator) -> list[NodeBatch]:
        (batch,) = super()._batches(data, generator)
        edges = batch.views.clean.edges
        self._near = normalised_adjacency(edges, loops=self._loops)
        self._far = strongest_diffusion(edges, self.alpha, self.strongest)
        return [batch]

    def _loss(self, batch: NodeBatch, generator: torch.Generator) -> Tensor:
        size = min(self.window, len(batch))
        count = self.windows if size < len(batch) else 1  # more would be the same one again
        starts = torch.randint(len(batch) - size + 1, (count,), generator=generator)
        windows = [
            (first, size, *(window(matrix, first, size) for matrix in (self._near, self._far)))
            for first in starts.tolist()
        ]
        return discrimination(*self.network_(batch.views.clean, windows, generator))

    def _embed(self, data: NodeGraph, device: torch.device) -> Tensor:
        view = NodeViews(data.to(device)).clean
        near, far = self.network_.near, self.network_.far
        neighbours = normalised_adjacency(view.edges, loops=self._loops).times(near.mapped(view))
        diffused = diffuse(far.mapped(view), view.edges, self.alpha)
        embeddings: Tensor = near.finish(neighbours) + far.finish(diffused)
        return embeddings


Window = tuple[int, int, Rows, Rows]
"""First node and number of nodes of a window, and the matrices of both views within it."""


class MVGRLNetwork(nn.Module):
    """A convolution for each view, and one discriminator."""

    def __init__(self, features: int, width: int, generator: torch.Generator) -> None:
        super().__init__()
        self.near = Convolution(features, width, generator)
        self.far = Convolution(features, width, generator)
        self.discriminator = BilinearDiscriminator(width, width, generator)

    def forward(
        self, view: NodeView, windows: list[Window], generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """Return the scores of true and of corrupted nodes of all windows, in both views."""
        mapped = self.near.mapped(view), self.far.mapped(view)
        true, false = [], []
        for first, size, *matrices in windows:
            nodes = slice(first, first + size)
            order = shuffled(torch.arange(size, device=mapped[0].device), generator)
            pairs = [
                self._both(conv, rows[nodes], order, m)
                for conv, rows, m in zip((self.near, self.far), mapped, matrices, strict=True)
            ]
            summaries = [mean_summary(whole) for whole, _ in reversed(pairs)]
            for (whole, corrupted), summary in zip(pairs, summaries, strict=True):
                true.append(self.discriminator(whole, summary))
                false.append(self.discriminator(corrupted, summary))
        return torch.cat(true), torch.cat(false)

    @staticmethod
    def _both(
        convolution: Convolution, rows: Tensor, order: Tensor, matrix: Rows
    ) -> tuple[Tensor, Tensor]:
        """Return embeddings of the nodes of a window, with their own and shuffled features."""
        mixing = SparseMatrix(matrix, matrix)  # symmetric
        whole, corrupted = (mixing.times(part.contiguous()) for part in (rows, rows[order]))
        return convolution.finish(whole), convolution.finish(corrupted)


Mix = Callable[[Tensor, Adjacency], Tensor]


class PropagationNetwork(nn.Module):
    """L layers h ← PReLU( M h W + b ); the output of every layer is kept.

    Parameters
    ----------
    in_features : int
    mix : callable
        Maps values (V, D) and the edges to M h (V, D); linear, the same for every column.
    width, layers : int
    generator : torch.Generator
        Draws the weights.
    """

    def __init__(
        self, in_features: int, mix: Mix, *, width: int, layers: int, generator: torch.Generator
    ) -> None:
        super().__init__()
        whole_number("width", width, least=1)
        whole_number("layers", layers, least=1, most=1000)
        inputs = [in_features] + [width] * (layers - 1)
        self.layers = nn.ModuleList([PropagationLayer(n, width, mix, generator) for n in inputs])

    def forward(self, x: Tensor, edges: Adjacency) -> list[Tensor]:
        """Return the (V, width) output of every layer for features (V, F)."""
        outputs = []
        for layer in self.layers:
            x = layer(x, edges)
            outputs.append(x)
        return outputs


class PropagationLayer(nn.Module):
    """One layer; as M (h W) = (M h) W, the narrower of both sides is mixed."""

    def __init__(self, inputs: int, width: int, mix: Mix, generator: torch.Generator) -> None:
        super().__init__()
        self.linear = glorot_linear(inputs, width, generator)
        self.activation = nn.PReLU()
        self.mix = mix

    def forward(self, x: Tensor, edges: Adjacency) -> Tensor:
        if self.linear.in_features > self.linear.out_features:
            mixed = self.mix(x @ self.linear.weight.t(), edges) + self.linear.bias
        else:
            mixed = self.linear(self.mix(x, edges))
        return self.activation(mixed)  # type: ignore[no-any-return]


class MVGRLGraphs(GraphEstimator):
    """Match the nodes of one view of a graph with the embedding of the graph in the other view.

    One view has the edges themselves, the other their personalised PageRank diffusion; each view
    has its own graph network. Nodes of one view are scored against graphs of the other with the
    Jensen–Shannon bound, as in `InfoGraph`. The embedding of a graph is the sum over both views.

    Parameters
    ----------
    alpha : float
        Teleport probability of the diffusion.
    steps : int
        Products that approximate the diffusion; it is exact up to (1 − alpha)^steps.
    epochs : int
        0 gives the untrained encoder.
    layers, width : int
        Layers and width of each of the two networks; `width` is also the width of the embedding.
    pooling : {"sum", "mean"}
    batch_size, lr, patience, random_state, device, progress, callbacks, warm_start :
        See `GraphCL`.

    Attributes
    ----------
    network_ : TwoViewNetwork
    history_ : list of dict
        One entry per epoch: loss and seconds.

    References
    ----------
    K. Hassani and A. H. Khasahmadi. "Contrastive Multi-View Representation Learning on Graphs".
    ICML 2020. arXiv:2006.05582,
    doi:10.48550/arXiv.2006.05582.

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
        patience: int | None = None,
        random_state: int | None = 0,
        device: str = "cpu",
        progress: bool = True,
        callbacks: Callbacks = (),
        warm_start: bool = False,
    ) -> None:
        self.alpha = alpha
        self.steps = steps
        self.epochs = epochs
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
    """One network for the edges, one for their diffusion, and heads that both share.

    Parameters
    ----------
    features, layers, width : int
    diffusion : callable
        Maps node values (V, D) and the edges to the diffused values.
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
        """Return (V, G) scores of the nodes of each view with the graphs of the other view."""
        one, other = self.of_edges(x, edges), self.of_diffusion(x, edges)
        graphs_of_one, graphs_of_other = (self._graphs(view, node_ptr) for view in (one, other))
        return (
            self.of_nodes(one[-1]) @ graphs_of_other.T,
            self.of_nodes(other[-1]) @ graphs_of_one.T,
        )

    def embed(self, graphs: GraphSet) -> Tensor:
        """Return (G, width) embeddings, summed over both views."""
        x, edges, node_ptr = graphs.x, graphs.adjacency, graphs.node_ptr
        one = self._graphs(self.of_edges(x, edges), node_ptr)
        return one + self._graphs(self.of_diffusion(x, edges), node_ptr)

    def _graphs(self, layers: list[Tensor], node_ptr: Tensor) -> Tensor:
        pooled = [pool(nodes, node_ptr, self.pooling) for nodes in layers]
        return self.of_graphs(torch.cat(pooled, dim=1))  # type: ignore[no-any-return]
