"""CCA-SSG: two views agree column by column, and no two columns of a view say the same.

With the columns of both views' embeddings scaled to mean 0 and variance 1, Z₁ and Z₂ (N, D),

    loss = − tr(Z₁ᵀZ₂) / N + λ ( ‖I − Z₁ᵀZ₁/N‖² + ‖I − Z₂ᵀZ₂/N‖² )

There are no negatives, no projector and no second network.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from augcl.checks import number, two_shares, whole_number
from augcl.data.node_graph import NodeGraph
from augcl.encoders.blocks import Layer
from augcl.encoders.heads import glorot_linear
from augcl.errors import InputError
from augcl.methods import presets
from augcl.ops.threads import threads_for
from augcl.rivals.convolution import Convolution
from augcl.training.batches import NodeBatch
from augcl.training.callbacks import Callbacks
from augcl.training.estimator import NodeEstimator
from augcl.views.nodes import NodeView


def standard_columns(h: Tensor) -> Tensor:
    """Scale each column of h (N, D) to mean 0 and variance 1; a constant column becomes 0.

    The variance divides by N − 1. A column whose spread is rounding noise counts as constant.

    >>> standard_columns(torch.tensor([[1.0, 5.0], [3.0, 5.0], [5.0, 5.0]])).tolist()
    [[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]
    """
    mean = h.mean(0)
    centred = h - mean
    variance = centred.square().sum(0) / max(len(h) - 1, 1)
    number_of = torch.finfo(h.dtype)
    noise = (8 * number_of.eps * mean.detach()).square() + number_of.tiny
    varies = variance > noise
    deviation = torch.where(varies, variance, 1.0).sqrt()  # the root of 0 has no gradient
    return centred / deviation * varies


def correlation_loss(h1: Tensor, h2: Tensor, decorrelation: float) -> Tensor:
    """Return the loss (see the module) of the embeddings of two views, (N, D) each.

    >>> h = torch.tensor([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])  # white: about −D
    >>> round(correlation_loss(h, h, 0.5).item(), 4)  # −2 · 3/4 + 2 · 0.5 · 2 / 4²
    -1.375
    """
    z1, z2 = standard_columns(h1), standard_columns(h2)
    nodes, width = z1.shape
    identity = torch.eye(width, device=z1.device, dtype=z1.dtype)
    redundant = sum((identity - z.t() @ z / nodes).square().sum() for z in (z1, z2))
    return decorrelation * redundant - (z1 * z2).sum() / nodes


class CCASSG(NodeEstimator):
    """Make two views of the nodes agree in every column, and the columns uncorrelated.

    CCA-SSG, self-supervised graph learning by canonical correlation analysis: edges and feature
    columns are dropped at random, and the loss needs neither negatives nor a projector.

    Parameters
    ----------
    preset : str
        Published settings of a data set ("Cora", "Amazon-Photo", …; see cca_ssg_presets.toml) for
        everything below that is None.
    epochs : int, optional
        0 gives the untrained encoder.
    layers : int, optional
        Graph convolutions, with ReLU between them.
    uses_edges : bool, optional
        False: two linear layers with batch norm between them in place of graph convolutions, as
        published for Coauthor-CS.
    width : int
        Width of the embedding and of hidden layers.
    decorrelation : float, optional
        Weight λ of the second part of the loss.
    edge_drop, feature_drop : (float, float), optional
        Share of the edges dropped and of the feature columns masked, in the two views.
    half_hop : (float, float), optional
        See `GRACE`.
    lr, weight_decay : float
    batch_nodes : int, optional
        See `GRACE`.
    normalize_features : bool, optional
        Divide every row of the features by its sum (if above 1); published for Cora, CiteSeer and
        PubMed only.
    patience, random_state, device, progress, callbacks, warm_start :
        See `DGI`.

    Attributes
    ----------
    network_ : Module
    history_ : list of dict
        One entry per epoch: loss and seconds.

    References
    ----------
    H. Zhang, Q. Wu, J. Yan, D. Wipf and P. S. Yu. "From Canonical Correlation Analysis to
    Self-supervised Graph Neural Networks". NeurIPS 2021. arXiv:2106.12484,
    doi:10.48550/arXiv.2106.12484.

    Examples
    --------
    >>> import augcl
    >>> graph = augcl.load("digits-knn")
    >>> augcl.CCASSG(epochs=2, width=16, random_state=0).fit_transform(graph).shape
    (1797, 16)
    """

    year = 2021
    preset_file = presets.CCA_SSG

    def __init__(
        self,
        *,
        preset: str = "default",
        epochs: int | None = None,
        layers: int | None = None,
        uses_edges: bool | None = None,
        width: int = 512,
        decorrelation: float | None = None,
        edge_drop: tuple[float, float] | None = None,
        feature_drop: tuple[float, float] | None = None,
        half_hop: tuple[float, float] | None = None,
        lr: float = 0.001,
        weight_decay: float = 0.0,
        batch_nodes: int | None = None,
        normalize_features: bool | None = None,
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
        self.uses_edges = uses_edges
        self.width = width
        self.decorrelation = decorrelation
        self.edge_drop = edge_drop
        self.feature_drop = feature_drop
        self.half_hop = half_hop
        self.lr = lr
        self.weight_decay = weight_decay
        self.batch_nodes = batch_nodes
        self.normalize_features = normalize_features  # type: ignore[assignment]
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
        for name in ("layers", "width"):
            whole_number(name, self._setting(name), least=1)
        number("decorrelation", self._setting("decorrelation"), least=0)
        for name in ("edge_drop", "feature_drop"):
            two_shares(name, self._setting(name), below=1)
        if self.half_hop is not None:
            two_shares("half_hop", self.half_hop, most=1)
            if not self._setting("uses_edges"):
                raise InputError("half_hop slows edges, but uses_edges is False: leave one out")

    def _normalizes(self) -> bool:
        return bool(self._setting("normalize_features"))

    def _build(self, features: int, generator: torch.Generator) -> nn.Module:
        if not self._setting("uses_edges"):
            return FeaturesNetwork(features, self.width, generator)
        return ConvolutionsNetwork(features, self.width, self._setting("layers"), generator)

    def _threads(self, data: NodeGraph, batches: Any) -> AbstractContextManager[None]:
        return threads_for(data.num_nodes / len(batches))

    def _loss(self, batch: NodeBatch, generator: torch.Generator) -> Tensor:
        h1, h2 = (self.network_(view) for view in self._two_views(batch).draw(generator))
        return correlation_loss(h1, h2, self._setting("decorrelation"))


class ConvolutionsNetwork(nn.Module):
    """Graph convolutions with ReLU between them; the last one is linear."""

    def __init__(self, features: int, width: int, layers: int, generator: torch.Generator) -> None:
        super().__init__()
        inputs = [features] + [width] * (layers - 1)
        self.layers = nn.ModuleList(
            Convolution(size, width, generator, activation="relu" if place < layers else "identity")
            for place, size in enumerate(inputs, 1)
        )

    def forward(self, view: NodeView) -> Tensor:
        """Return (N, width) embeddings; slow nodes are left out."""
        h: NodeView | Tensor = view
        for layer in self.layers:
            h = layer(h, view.edges)
        assert isinstance(h, Tensor)
        return view.without_slow(h)

    def layer_list(self) -> list[Layer]:
        """Return the layers, for `embed_in_blocks`."""
        every = (layer for layer in self.layers if isinstance(layer, Convolution))
        return [Layer(layer.weight, layer.finish) for layer in every]

    def embed(self, view: NodeView) -> Tensor:
        """Return (N, width) embeddings."""
        return self(view)  # type: ignore[no-any-return]


class FeaturesNetwork(nn.Module):
    """Linear, batch norm, ReLU, linear: every node by itself."""

    def __init__(self, features: int, width: int, generator: torch.Generator) -> None:
        super().__init__()
        self.first = glorot_linear(features, width, generator)
        self.norm = nn.BatchNorm1d(width)
        self.second = glorot_linear(width, width, generator)

    def forward(self, view: NodeView) -> Tensor:
        """Return (N, width) embeddings."""
        hidden = relu(self.norm(view.times(self.first.weight.t()) + self.first.bias))
        return self.second(hidden)  # type: ignore[no-any-return]

    def layer_list(self) -> list[Layer]:
        """Return the layers, for `embed_in_blocks`."""
        first, second = self.first, self.second
        return [
            Layer(first.weight.t(), lambda h: relu(self.norm(h + first.bias)), mixes=False),
            Layer(second.weight.t(), lambda h: h + second.bias, mixes=False),
        ]

    def embed(self, view: NodeView) -> Tensor:
        """Return (N, width) embeddings."""
        return self(view)  # type: ignore[no-any-return]
