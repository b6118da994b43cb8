"""HSAN: pairs of nodes whose similarity contradicts their clusters count more."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor, nn

from augcl.checks import number, whole_number
from augcl.data.node_graph import NodeGraph
from augcl.encoders.attribute_structure import AttributeStructureNetwork
from augcl.errors import one_of
from augcl.methods import presets
from augcl.methods.confident_clusters import clustered, sure_nodes
from augcl.methods.recipes import get_recipe
from augcl.ops.adam import Adam
from augcl.ops.hard_pairs import LEVELS, hard_pair_contrast, reweigh
from augcl.training.loop import Metrics
from augcl.training.node_estimator import NodeBatch, NodeEstimator
from augcl.training.summing_adam import SummingAdam
from augcl.training.threads import threads_for
from augcl.views.nodes import NodeViews
from augcl.views.smoothed_features import SmoothedFeatures

EVERY = 10
"""Epochs from one clustering to the next."""


class HSAN(NodeEstimator):
    """Contrast two linear maps of smoothed features; pairs that contradict the clusters count more.

    Hard Sample Aware Network, made for clustering. The similarity S of two entries is that of their
    features and, to a learned share, of their adjacency rows. Every 10 epochs k-means clusters the
    nodes; between the nodes that it is sure of, a pair in one cluster counts the more the less
    similar it is, any other pair the more the more similar it is. The embedding uses features only,
    so that a graph with other nodes can be embedded, too.

    What was done to spare memory: S, 2N × 2N numbers, exists a block of rows at a time and its
    gradient is computed along with it; the weights, as many, are kept in a byte each, that is in
    steps of 1/255.

    Parameters
    ----------
    preset : str
        Published settings of a data set ("Cora", "CiteSeer", "Amazon-Photo", …; see
        hsan_presets.toml) for everything below that is None.
    recipe : {"default", "authors", "paper"}
        "authors" never sets gradients to zero, as the released code: each step uses the sum of all
        gradients so far.
    epochs : int
        0 gives the untrained encoders on the smoothed features.
    filter_steps : int, optional
        How often features are mixed with those of the neighbours, before training.
    components : int, optional
        Principal components of the features that are used; 0, or more than there are features:
        the features as they are.
    width : int, optional
        Of an embedding.
    activation : {"identity", "sigmoid"}, optional
    clusters : int, optional
        Of k-means; published is the number of classes. Labels are never looked at.
    confident : float, optional
        Share of the nodes whose cluster is trusted (τ).
    beta : float, optional
        How much more the hard pairs count (β).
    lr : float, optional
    normalize_features : bool
        Divide every row of the features by its sum (where above 1); as published not.
    random_state, device, progress :
        See `DGI`.

    Attributes
    ----------
    network_ : Module
    weights_ : (2N, 2N) uint8 or None
        255 times the weights of all pairs of the graph it was fitted on.
    history_ : list of dict
        One entry per epoch: loss and seconds.

    Examples
    --------
    >>> import augcl
    >>> graph = augcl.load("digits-knn")
    >>> augcl.HSAN(epochs=1, width=16, components=8, random_state=0).fit_transform(graph).shape
    (1797, 16)
    """

    year = 2023
    cost = "hours"
    preset_file = presets.HSAN

    def __init__(
        self,
        *,
        preset: str = "default",
        recipe: str = "default",
        epochs: int = 400,
        filter_steps: int | None = None,
        components: int | None = None,
        width: int | None = None,
        activation: str | None = None,
        clusters: int | None = None,
        confident: float | None = None,
        beta: float | None = None,
        lr: float | None = None,
        normalize_features: bool = False,
        random_state: int | None = 0,
        device: str = "cpu",
        progress: bool = True,
    ) -> None:
        self.preset = preset
        self.recipe = recipe
        self.epochs = epochs
        self.filter_steps = filter_steps
        self.components = components
        self.width = width
        self.activation = activation
        self.clusters = clusters
        self.confident = confident
        self.beta = beta
        self.lr = lr  # type: ignore[assignment]
        self.normalize_features = normalize_features
        self.random_state = random_state
        self.device = device
        self.progress = progress

    def _left_open(self) -> dict[str, Any]:
        return presets.get_preset(self.preset, self.preset_file)

    def _start(self) -> None:
        super()._start()
        get_recipe(self.recipe)
        one_of(self._setting("activation"), ("identity", "sigmoid"), "activation")
        for name, least in (("filter_steps", 0), ("components", 0), ("width", 1), ("clusters", 2)):
            whole_number(name, self._setting(name), least=least)
        number("confident", self._setting("confident"), least=0, most=1)
        number("beta", self._setting("beta"), above=0)
        self.weights_: Tensor | None = None
        self._nodes: int | None = None
        self._smooth = SmoothedFeatures(self._setting("filter_steps"))

    def _read(self, X: Any) -> NodeGraph:
        graph = super()._read(X)
        if self._nodes is None:  # of the fit; a graph to be embedded may have others
            self._nodes = graph.num_nodes
        return graph

    def _build(self, features: int, generator: torch.Generator) -> nn.Module:
        assert self._nodes is not None
        return AttributeStructureNetwork(
            self._inputs(features),
            self._nodes,
            self._setting("width"),
            self._setting("activation"),
            generator,
        )

    def _inputs(self, features: int) -> int:
        """How many numbers of a node the encoders see."""
        components, nodes = self._setting("components"), self._nodes or features
        return min(components, nodes) if 0 < components < features else features

    def _optimizer(self, network: nn.Module) -> torch.optim.Optimizer:
        kind = SummingAdam if self.recipe == "authors" else Adam
        return kind(network.parameters(), lr=self._setting("lr"), fused=True)

    def _batches(self, data: NodeGraph, generator: torch.Generator) -> list[NodeBatch]:
        (batch,) = super()._batches(data, generator)
        inputs = self._inputs(data.num_features)
        if inputs < data.num_features:
            self._smooth.fit(batch.views.clean, inputs)
        self._x = self._smooth(batch.views.clean)
        return [batch]

    def _threads(self, data: NodeGraph, batches: list[NodeBatch]) -> AbstractContextManager[None]:
        return threads_for(data.num_nodes**2 / 100)  # all pairs of wide embeddings

    def _loss(self, batch: NodeBatch, generator: torch.Generator) -> Tensor:
        z, e = self.network_(self._x, batch.views.clean.edges)
        return hard_pair_contrast(z, e, self.network_.share, self.weights_)

    def _before_epoch(
        self, epoch: int, batches: list[NodeBatch], generator: torch.Generator
    ) -> Metrics:
        if epoch % EVERY == 1:  # the first weights follow the first step
            self._reweigh(batches[0], generator)
        return {}

    @torch.no_grad()
    def _reweigh(self, batch: NodeBatch, generator: torch.Generator) -> None:
        z, e = self.network_(self._x, batch.views.clean.edges)
        if self.weights_ is None:
            size = len(z), len(z)
            self.weights_ = torch.full(size, LEVELS, dtype=torch.uint8, device=z.device)
        first, second = z.chunk(2)
        labels, doubt = clustered((first + second) / 2, self._setting("clusters"), generator)
        sure = sure_nodes(doubt, self._setting("confident"))
        a, beta = self.network_.share, self._setting("beta")
        reweigh(self.weights_, z, e, a, labels=labels, sure=sure, beta=beta)

    def _embed(self, data: NodeGraph, device: torch.device) -> Tensor:
        view = NodeViews(data.to(device)).clean
        embeddings: Tensor = self.network_.embed(self._smooth(view))
        return embeddings

    def _learned(self) -> dict[str, Tensor]:
        weights = {} if self.weights_ is None else {"weights": self.weights_}
        return {**weights, **self._smooth.axes, "nodes": torch.tensor(self._nodes)}

    def _load_learned(self, tensors: dict[str, Tensor]) -> None:
        if "weights" in tensors:
            self.weights_ = tensors["weights"].to(self._x.device)
        self._nodes = int(tensors["nodes"])
        self._smooth.axes = {name: tensors[name] for name in ("mean", "axes") if name in tensors}

    def _tensors(self) -> dict[str, Tensor]:
        tensors = super()._tensors()
        tensors.pop("learned.weights", None)  # a model embeds without them, and they are large
        return tensors
