"""GraphMAE: hide the features of some nodes and reconstruct them from the rest of the graph.

    x̃ = x, but a learned token at hidden nodes, and features of random nodes at a few of them
    r = W · encoder(x̃), set to 0 at hidden nodes;        x̂ = decoder(r)
    loss = mean over hidden nodes v of ( 1 − cos(x̂_v, x_v) )^γ

Encoder and decoder are attention layers (GAT) for the nodes of one graph, and GIN layers for sets
of graphs.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.functional import embedding_bag, leaky_relu

from augcl.checks import number, whole_number
from augcl.data.convert import as_graphset
from augcl.data.features import node_features, structure_features
from augcl.data.graph import GraphSet
from augcl.data.node_convert import as_node_graph
from augcl.data.node_graph import NodeGraph
from augcl.encoders import pool
from augcl.encoders.heads import glorot_linear
from augcl.errors import InputError, one_of
from augcl.methods import presets
from augcl.ops.cosine import unit_rows
from augcl.ops.csr import Adjacency, FeaturedEdges
from augcl.ops.segments import segment_ids, segment_sum
from augcl.ops.threads import threads_for
from augcl.rivals.bgrl import falling
from augcl.training.batches import NodeBatch
from augcl.training.callbacks import Callbacks
from augcl.training.estimator import GraphEstimator, NodeEstimator
from augcl.views.nodes import NodeView, NodeViews

FEATURE_DROPOUT = 0.2
"""Share of the inputs of a layer that training sets to 0."""

ATTENTION_DROPOUT = 0.1
"""Share of the attentions that training sets to 0."""

LARGEST_DEGREE = 400
"""Largest degree with a column of its own, where nodes have no features to reconstruct."""


class Hidden(NamedTuple):
    """Which nodes are hidden (M,); of these, `replaced` (K,) get the features of `donors` (K,)."""

    nodes: Tensor
    replaced: Tensor
    donors: Tensor


def draw_hidden(
    nodes: int, share: float, replaced: float, generator: torch.Generator, device: torch.device
) -> Hidden:
    """Draw ⌊share · nodes⌋ nodes, at least one, of which ⌊replaced · …⌋ get other features.

    >>> hidden = draw_hidden(10, 0.5, 0.4, torch.Generator(), torch.device("cpu"))
    >>> len(hidden.nodes), len(hidden.replaced), len(hidden.donors)
    (5, 2, 2)
    """
    order = torch.randperm(nodes, generator=generator)
    hidden = order[: max(1, int(share * nodes))]
    count = int(replaced * len(hidden))
    donors = torch.randint(nodes, (count,), generator=generator)
    return Hidden(hidden.to(device), hidden[:count].to(device), donors.to(device))


def reconstruction_error(reconstructed: Tensor, x: Tensor, gamma: float) -> Tensor:
    """Return the mean of (1 − cos)^γ over the rows of both, (M, F) each.

    >>> reconstruction_error(torch.tensor([[0.0, 1.0]]), torch.tensor([[3.0, 0.0]]), 2.0).item()
    1.0
    """
    cosine = (unit_rows(reconstructed) * unit_rows(x)).sum(1)
    return (1 - cosine).clamp_min(0).pow(gamma).mean()


def dropout(x: Tensor, rate: float, generator: torch.Generator | None) -> Tensor:
    """Set entries to 0 with probability `rate` and scale the others; nothing without a generator.

    >>> dropout(torch.ones(2, 2), 0.5, None).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    if generator is None:
        return x
    chance = torch.rand(x.shape, generator=generator, device=generator.device).to(x.device)
    return x * (chance >= rate) / (1 - rate)


class MaskedAutoencoder(nn.Module):
    """Reconstruct the features of hidden nodes.

    Parameters
    ----------
    encoder : Module
        Maps features (V, F), edges and a generator to (V, D).
    decoder : Module
        Maps (V, D), edges, the (M,) nodes to reconstruct and a generator to (M, F).
    features, width : int
        F and D.
    generator : torch.Generator
        Draws the weights.
    """

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        features: int,
        width: int,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.bridge = glorot_linear(width, width, generator).weight  # W has no bias
        self.decoder = decoder
        self.token = nn.Parameter(torch.zeros(features))

    def forward(self, x: Tensor, edges: Any, hidden: Hidden, generator: torch.Generator) -> Tensor:
        """Return (M, F) reconstructed features of the hidden nodes."""
        seen = x.clone()
        seen[hidden.nodes] = self.token
        seen[hidden.replaced] = x[hidden.donors]
        embeddings = self.encoder(seen, edges, generator)
        rest = (embeddings @ self.bridge).index_fill(0, hidden.nodes, 0.0)
        return self.decoder(rest, edges, hidden.nodes, generator)  # type: ignore[no-any-return]


# Nodes of one graph


def attention_edges(view: NodeView) -> FeaturedEdges:
    """Return the edges and a self-loop of every node, with the logarithms of their weights."""
    loops = torch.arange(view.nodes, device=view.edge_index.device)
    edge_index = torch.cat([view.edge_index, loops.repeat(2, 1)], dim=1)
    log_weight = torch.zeros(edge_index.shape[1], 1, device=loops.device)
    if view.edge_weight is not None:
        log_weight[: len(view.edge_weight), 0] = view.edge_weight.log()
    return FeaturedEdges.from_edges(edge_index, log_weight, view.nodes)


class _WeightedSum(torch.autograd.Function):
    """(V, D) sums of the values of the in-neighbours, weighted by edge; no message is stored."""

    @staticmethod
    def forward(ctx: Any, h: Tensor, weights: Tensor, edges: FeaturedEdges) -> Tensor:
        ctx.save_for_backward(h, weights)
        ctx.edges = edges
        return _bags(h, edges.source, edges.ptr, weights)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None]:
        (h, weights), edges = ctx.saved_tensors, ctx.edges
        grad, target = grad.contiguous(), segment_ids(edges.ptr)
        d_h = _bags(grad, target[edges.by_source], edges.source_ptr, weights[edges.by_source])
        d_weights = torch.ops.aten._embedding_bag_per_sample_weights_backward(
            grad, h, edges.source, edges.ptr[:-1], target, 0
        )
        return d_h, d_weights, None


def _bags(h: Tensor, indices: Tensor, ptr: Tensor, weights: Tensor) -> Tensor:
    return embedding_bag(
        indices, h, ptr, mode="sum", per_sample_weights=weights, include_last_offset=True
    )


def weighted_sum(h: Tensor, weights: Tensor, edges: FeaturedEdges) -> Tensor:
    """Return (V, D): Σ over the edges u → v of weights (E,), in the order of `edges`, times h_u.

    >>> edges = FeaturedEdges.from_edges(torch.tensor([[0, 1], [1, 1]]), torch.zeros(2, 1), 2)
    >>> weighted_sum(torch.tensor([[1.0], [5.0]]), torch.tensor([2.0, 3.0]), edges).tolist()
    [[0.0], [17.0]]
    """
    summed: Tensor = _WeightedSum.apply(  # type: ignore[no-untyped-call]
        h.contiguous(), weights.contiguous(), edges
    )
    return summed


def softmax_by_target(logits: Tensor, edges: FeaturedEdges) -> Tensor:
    """Return (E, H) shares of the edges into each node: they sum to 1 for every node and head."""
    target = segment_ids(edges.ptr)
    place = target[:, None].expand_as(logits)
    largest = torch.full(
        (len(edges.ptr) - 1, logits.shape[1]), -torch.inf, device=logits.device, dtype=logits.dtype
    ).scatter_reduce(0, place, logits.detach(), "amax")
    shares = (logits - largest.gather(0, place)).exp()
    return shares / segment_sum(shares, edges.ptr).index_select(0, target)


class AttentionLayer(nn.Module):
    """GAT layer: each of H heads gives Σ_u α_uv W x_u, α = softmax of LeakyReLU(a·Wx_u + b·Wx_v).

    The weight of an edge multiplies its exp(logit).

    Parameters
    ----------
    inputs, heads, width : int
        The output has `heads` · `width` columns.
    generator : torch.Generator
        Draws the weights.

    References
    ----------
    P. Veličković, G. Cucurull, A. Casanova, A. Romero, P. Liò and Y. Bengio. "Graph Attention
    Networks". ICLR 2018. arXiv:1710.10903,
    doi:10.48550/arXiv.1710.10903.
    """

    def __init__(self, inputs: int, heads: int, width: int, generator: torch.Generator) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, heads * width))
        self.of_source, self.of_target = (
            nn.Parameter(torch.empty(1, heads, width)) for _ in range(2)
        )
        for parameter in (self.weight, self.of_source, self.of_target):
            nn.init.xavier_normal_(parameter, gain=2**0.5, generator=generator)
        self.bias = nn.Parameter(torch.zeros(heads * width))

    def forward(self, x: Tensor, edges: FeaturedEdges, generator: torch.Generator | None) -> Tensor:
        """Return (V, heads · width) for features (V, inputs)."""
        x = dropout(x, FEATURE_DROPOUT, generator)
        attention = self._attention(x, edges, generator)
        parts = (x @ self.weight).chunk(attention.shape[1], dim=1)
        mixed = [weighted_sum(part, attention[:, head], edges) for head, part in enumerate(parts)]
        return torch.cat(mixed, dim=1) + self.bias

    def at(
        self, x: Tensor, edges: FeaturedEdges, nodes: Tensor, generator: torch.Generator | None
    ) -> Tensor:
        """Return the rows (M, width) of some nodes by a layer with one head.

        Mixes the narrow x and not the wide W x, which gives the same.
        """
        x = dropout(x, FEATURE_DROPOUT, generator)
        mixed = weighted_sum(x, self._attention(x, edges, generator)[:, 0], edges)
        return mixed.index_select(0, nodes) @ self.weight + self.bias

    def _attention(
        self, x: Tensor, edges: FeaturedEdges, generator: torch.Generator | None
    ) -> Tensor:
        """Return (E, H) α; a · W x_u is computed as (a · W) x_u."""
        weight = self.weight.view(len(self.weight), *self.of_source.shape[1:])
        source, target = (
            x @ (weight * vector).sum(2) for vector in (self.of_source, self.of_target)
        )
        logits = source.index_select(0, edges.source) + target.index_select(
            0, segment_ids(edges.ptr)
        )
        attention = softmax_by_target(leaky_relu(logits, 0.2) + edges.attr, edges)
        return dropout(attention, ATTENTION_DROPOUT, generator)


class AttentionEncoder(nn.Module):
    """Attention layers, each with PReLU; heads side by side."""

    def __init__(
        self, features: int, width: int, heads: int, layers: int, generator: torch.Generator
    ) -> None:
        super().__init__()
        inputs = [features] + [width] * (layers - 1)
        self.layers = nn.ModuleList(
            AttentionLayer(size, heads, width // heads, generator) for size in inputs
        )
        self.activations = nn.ModuleList(nn.PReLU() for _ in inputs)

    def forward(
        self, x: Tensor, edges: FeaturedEdges, generator: torch.Generator | None = None
    ) -> Tensor:
        """Return (V, width)."""
        for layer, activation in zip(self.layers, self.activations, strict=True):
            x = activation(layer(x, edges, generator))
        return x


class AttentionDecoder(nn.Module):
    """One attention layer with one head."""

    def __init__(self, width: int, features: int, generator: torch.Generator) -> None:
        super().__init__()
        self.layer = AttentionLayer(width, 1, features, generator)

    def forward(
        self, x: Tensor, edges: FeaturedEdges, nodes: Tensor, generator: torch.Generator | None
    ) -> Tensor:
        """Return (M, F) of some nodes."""
        return self.layer.at(x, edges, nodes, generator)


class GraphMAE(NodeEstimator):
    """Hide the features of half of the nodes and reconstruct them from their neighbours.

    A masked autoencoder of attention layers (GAT). If nodes have no features, the degree of each is
    reconstructed.

    Parameters
    ----------
    preset : str
        Published settings of a data set ("Cora", "CiteSeer", "PubMed"; see graphmae_presets.toml)
        for everything below that is None.
    epochs : int, optional
        0 gives the untrained encoder. The learning rate falls to 0 along a cosine.
    width : int, optional
        Width of the embedding: all heads together.
    heads, layers : int, optional
        Of the encoder.
    hidden : float, optional
        Share of the nodes whose features are hidden.
    replaced : float, optional
        Share of the hidden nodes that get the features of a random node in place of the token.
    gamma : float, optional
        Exponent γ of the error: a larger value gives less weight to easy nodes.
    lr, weight_decay : float, optional
    normalize_features : bool
        Divide every row of the features by its sum (if above 1), as published.
    patience, random_state, device, progress, callbacks, warm_start :
        See `DGI`. With `warm_start`, the schedule follows the new number of epochs.

    Attributes
    ----------
    network_ : MaskedAutoencoder
    history_ : list of dict
        One entry per epoch: loss and seconds.

    References
    ----------
    Z. Hou, X. Liu, Y. Cen, Y. Dong, H. Yang, C. Wang and J. Tang. "GraphMAE: Self-Supervised Masked
    Graph Autoencoders". KDD 2022. arXiv:2205.10803,
    doi:10.1145/3534678.3539321.

    Examples
    --------
    >>> import augcl
    >>> graph = augcl.load("digits-knn")
    >>> augcl.GraphMAE(epochs=2, width=16, random_state=0).fit_transform(graph).shape
    (1797, 16)
    """

    year = 2022
    preset_file = presets.GRAPHMAE

    def __init__(
        self,
        *,
        preset: str = "default",
        epochs: int | None = None,
        width: int | None = None,
        heads: int | None = None,
        layers: int | None = None,
        hidden: float | None = None,
        replaced: float | None = None,
        gamma: float | None = None,
        lr: float | None = None,
        weight_decay: float | None = None,
        normalize_features: bool = True,
        patience: int | None = None,
        random_state: int | None = 0,
        device: str = "cpu",
        progress: bool = True,
        callbacks: Callbacks = (),
        warm_start: bool = False,
    ) -> None:
        self.preset = preset
        self.epochs = epochs  # type: ignore[assignment]
        self.width = width
        self.heads = heads
        self.layers = layers
        self.hidden = hidden
        self.replaced = replaced
        self.gamma = gamma
        self.lr = lr  # type: ignore[assignment]
        self.weight_decay = weight_decay  # type: ignore[assignment]
        self.normalize_features = normalize_features
        self.patience = patience
        self.random_state = random_state
        self.device = device
        self.progress = progress
        self.callbacks = callbacks
        self.warm_start = warm_start

    def _left_open(self) -> dict[str, Any]:
        return presets.get_preset(self.preset, self.preset_file)

    def _start(self) -> None:
        super()._start()
        for name in ("width", "heads", "layers"):
            whole_number(name, self._setting(name), least=1)
        if self._setting("width") % self._setting("heads"):
            raise InputError(
                f"width is {self._setting('width')} and heads is {self._setting('heads')}: give a "
                "width that is a multiple of the heads"
            )
        _check_masking(self)

    def read(self, X: Any) -> NodeGraph:
        graph = as_node_graph(X)
        if graph.columns == ["constant"]:
            graph = structure_features(graph, "degree", cap=LARGEST_DEGREE)
        return super().read(graph)

    def _build(self, features: int, generator: torch.Generator) -> nn.Module:
        width = self._setting("width")
        return MaskedAutoencoder(
            AttentionEncoder(
                features, width, self._setting("heads"), self._setting("layers"), generator
            ),
            AttentionDecoder(width, features, generator),
            features,
            width,
            generator,
        )

    def _batches(self, data: NodeGraph, generator: torch.Generator) -> list[NodeBatch]:
        (batch,) = super()._batches(data, generator)
        self._x, self._edges = batch.views.clean.x(), attention_edges(batch.views.clean)
        return [batch]

    def _threads(self, data: NodeGraph, batches: list[NodeBatch]) -> AbstractContextManager[None]:
        return threads_for(data.num_nodes)

    def _lr(self, epoch: int) -> float:
        return float(self._setting("lr") * falling(epoch / self._setting("epochs")))

    def _loss(self, batch: NodeBatch, generator: torch.Generator) -> Tensor:
        return _masked_loss(self, self._x, self._edges, generator)

    def _embed(self, data: NodeGraph, device: torch.device) -> Tensor:
        view = NodeViews(data.to(device)).clean
        embeddings: Tensor = self.network_.encoder(view.x(), attention_edges(view))
        return embeddings


def _check_masking(method: GraphMAE | GraphMAEGraphs) -> None:
    number("hidden", method._setting("hidden"), above=0, most=1)
    number("replaced", method._setting("replaced"), least=0, most=1)
    number("gamma", method._setting("gamma"), least=1)


def _masked_loss(
    method: GraphMAE | GraphMAEGraphs, x: Tensor, edges: Any, generator: torch.Generator
) -> Tensor:
    hidden = draw_hidden(
        len(x), method._setting("hidden"), method._setting("replaced"), generator, x.device
    )
    reconstructed = method.network_(x, edges, hidden, generator)
    return reconstruction_error(reconstructed, x[hidden.nodes], method._setting("gamma"))


# Sets of graphs

NORMS = {"batch": nn.BatchNorm1d, "layer": nn.LayerNorm}
ACTIVATIONS = {"prelu": nn.PReLU, "relu": nn.ReLU}
POOLINGS = ("sum", "mean", "max")


class SumLayer(nn.Module):
    """GIN layer as published: W2 · act(norm(W1 · (2 h_v + Σ_{u → v} h_u))), biases left out here.

    The node counts twice: GraphMAE adds self-loops to the graph.
    """

    def __init__(
        self,
        inputs: int,
        width: int,
        outputs: int,
        norm: str,
        activation: str,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.first = glorot_linear(inputs, width, generator)
        self.between = nn.Sequential(NORMS[norm](width), ACTIVATIONS[activation]())
        self.second = glorot_linear(width, outputs, generator)

    def forward(
        self,
        x: Tensor,
        edges: Adjacency,
        nodes: Tensor | None = None,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Return (V, outputs), or the rows (M, outputs) of some nodes."""
        x = dropout(x, FEATURE_DROPOUT, generator)
        hidden = self.between(self.first(2 * x + edges.sum_neighbours(x)))
        return self.second(hidden if nodes is None else hidden[nodes])  # type: ignore[no-any-return]


class SumEncoder(nn.Module):
    """GIN layers, each with norm and activation after it."""

    def __init__(
        self,
        features: int,
        width: int,
        layers: int,
        norm: str,
        activation: str,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        inputs = [features] + [width] * (layers - 1)
        self.layers = nn.ModuleList(
            SumLayer(size, width, width, norm, activation, generator) for size in inputs
        )
        self.after = nn.ModuleList(
            nn.Sequential(NORMS[norm](width), ACTIVATIONS[activation]()) for _ in inputs
        )

    def forward(
        self, x: Tensor, edges: Adjacency, generator: torch.Generator | None = None
    ) -> Tensor:
        """Return (V, width)."""
        for layer, after in zip(self.layers, self.after, strict=True):
            x = after(layer(x, edges, generator=generator))
        return x


class PooledAutoencoder(MaskedAutoencoder):
    """A masked autoencoder whose embedding of a graph pools those of its nodes."""

    pooling: str

    def embed(self, graphs: GraphSet) -> Tensor:
        """Return (G, width) embeddings."""
        nodes = self.encoder(graphs.x, graphs.adjacency)
        return pool(nodes, graphs.node_ptr, self.pooling)


class GraphMAEGraphs(GraphEstimator):
    """Hide the features of some nodes of each batch of graphs and reconstruct them.

    A masked autoencoder of GIN layers. If nodes have no features, the degree of each is
    reconstructed. The embedding of a graph pools the last layer.

    Parameters
    ----------
    preset : str
        Published settings of a data set ("MUTAG", "PROTEINS", …; see graphmae_graphs_presets.toml)
        for everything below that is None.
    epochs : int, optional
        0 gives the untrained encoder.
    layers, width : int, optional
        Of the encoder; `width` is also the width of the embedding.
    pooling : {"sum", "mean", "max"}, optional
    norm : {"batch", "layer"}, optional
    activation : {"prelu", "relu"}, optional
    hidden, replaced, gamma : float, optional
        See `GraphMAE`.
    cosine : bool, optional
        Let the learning rate fall to 0 along a cosine.
    batch_size, lr : optional
        See `GraphCL`.
    patience, random_state, device, progress, callbacks, warm_start :
        See `GraphCL`.

    Attributes
    ----------
    network_ : PooledAutoencoder
    history_ : list of dict
        One entry per epoch: loss and seconds.

    References
    ----------
    Z. Hou, X. Liu, Y. Cen, Y. Dong, H. Yang, C. Wang and J. Tang. "GraphMAE: Self-Supervised Masked
    Graph Autoencoders". KDD 2022. arXiv:2205.10803,
    doi:10.1145/3534678.3539321.

    Examples
    --------
    >>> import augcl
    >>> graphs = augcl.load("MUTAG")
    >>> augcl.GraphMAEGraphs(epochs=1, width=16, random_state=0).fit_transform(graphs).shape
    (188, 16)
    """

    year = 2022
    preset_file = presets.GRAPHMAE_GRAPHS

    def __init__(
        self,
        *,
        preset: str = "default",
        epochs: int | None = None,
        layers: int | None = None,
        width: int | None = None,
        pooling: str | None = None,
        norm: str | None = None,
        activation: str | None = None,
        hidden: float | None = None,
        replaced: float | None = None,
        gamma: float | None = None,
        cosine: bool | None = None,
        batch_size: int | None = None,
        lr: float | None = None,
        patience: int | None = None,
        random_state: int | None = 0,
        device: str = "cpu",
        progress: bool = True,
        callbacks: Callbacks = (),
        warm_start: bool = False,
    ) -> None:
        self.preset = preset
        self.epochs = epochs  # type: ignore[assignment]
        self.layers = layers
        self.width = width
        self.pooling = pooling
        self.norm = norm
        self.activation = activation
        self.hidden = hidden
        self.replaced = replaced
        self.gamma = gamma
        self.cosine = cosine
        self.batch_size = batch_size  # type: ignore[assignment]
        self.lr = lr  # type: ignore[assignment]
        self.patience = patience
        self.random_state = random_state
        self.device = device
        self.progress = progress
        self.callbacks = callbacks
        self.warm_start = warm_start

    def _left_open(self) -> dict[str, Any]:
        return presets.get_preset(self.preset, self.preset_file)

    def _start(self) -> None:
        super()._start()
        one_of(self._setting("pooling"), POOLINGS, "pooling")
        one_of(self._setting("norm"), NORMS, "norm")
        one_of(self._setting("activation"), ACTIVATIONS, "activation")
        _check_masking(self)

    def read(self, X: Any) -> GraphSet:
        graphs = as_graphset(X)
        if graphs.columns == ["constant"]:
            graphs = node_features(graphs, "degree", cap=LARGEST_DEGREE)
        return super().read(graphs)

    def _build(self, features: int, generator: torch.Generator) -> nn.Module:
        width = self._setting("width")
        kind = self._setting("norm"), self._setting("activation")
        network = PooledAutoencoder(
            SumEncoder(features, width, self._setting("layers"), *kind, generator),
            SumLayer(width, width, features, *kind, generator),
            features,
            width,
            generator,
        )
        network.pooling = self._setting("pooling")
        return network

    def _batches(self, data: GraphSet, generator: torch.Generator) -> list[GraphSet]:
        if data.num_nodes < 2:
            raise InputError(f"{data.name} has one node: nothing is left when it is hidden")
        return super()._batches(data, generator)

    def _lr(self, epoch: int) -> float:
        rate = super()._lr(epoch)
        return rate * falling(epoch / self._setting("epochs")) if self._setting("cosine") else rate

    def _loss(self, batch: GraphSet, generator: torch.Generator) -> Tensor:
        return _masked_loss(self, batch.x, batch.adjacency, generator)
