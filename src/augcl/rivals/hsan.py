"""HSAN: pairs of nodes whose similarity contradicts their clusters count more.

The loss compares all 2N entries of two views. With S = a · z zᵀ + (1 − a) · e eᵀ of unit rows z
and e (2N, ·), and weights M (2N, 2N),

    loss = mean_i [ log Σ_{k≠i} exp(S_ik M_ik) − S_{i,i±N} M_{i,i±N} ]

Only a block of rows of S exists at a time, and its part of the gradient is computed with it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.functional import softmax

from augcl.checks import number, whole_number
from augcl.data.node_graph import NodeGraph
from augcl.encoders.heads import glorot_linear
from augcl.errors import one_of
from augcl.methods import presets
from augcl.methods.recipes import by_recipe, get_recipe
from augcl.ops.adam import Adam
from augcl.ops.cosine import unit_rows
from augcl.ops.csr import Adjacency, propagate
from augcl.ops.threads import threads_for
from augcl.training.batches import NodeBatch
from augcl.training.callbacks import Callbacks, Metrics
from augcl.training.estimator import NodeEstimator
from augcl.views.nodes import NodeView, NodeViews


class SmoothedFeatures:
    """Mix features (or their principal components, if fitted) with those of the neighbours.

    Attributes
    ----------
    axes : dict
        The ``mean`` (F,) of the features and their first principal ``axes`` (F, count); empty if
        the features are used directly.
    """

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.axes: dict[str, Tensor] = {}

    @torch.no_grad()
    def fit(self, view: NodeView, count: int) -> None:
        """Find the first `count` principal axes."""
        from sklearn.decomposition import PCA  # slow to import

        with np.errstate(invalid="ignore"):  # constant features: 0 / 0 in the explained share
            found = PCA(count, svd_solver="covariance_eigh").fit(view.x().cpu().numpy())
        mean, axes = torch.from_numpy(found.mean_), torch.from_numpy(found.components_)
        self.axes = {"mean": mean.float(), "axes": axes.float().t().contiguous()}

    def __call__(self, view: NodeView) -> Tensor:
        """Return smoothed features (N, F), or (N, count) components."""
        if self.axes:
            axes = self.axes["axes"].to(view.edge_index.device)
            x = view.times(axes) - self.axes["mean"].to(axes.device) @ axes
        else:
            x = view.x()
        for _ in range(self.steps):
            x = propagate(x, view.edges)
        return x


SHARE = 0.99999
"""Initial share of the features in the similarity."""


class AttributeStructureNetwork(nn.Module):
    """Unit rows z = [Z; Z'] from features and e = [E; E'] from adjacency rows; four linear maps.

    Parameters
    ----------
    inputs, nodes : int
        Widths of the features and of an adjacency row.
    width : int
        Width of the embedding.
    activation : {"identity", "sigmoid"}
        Activation after the linear maps of the features.
    generator : torch.Generator
        Draws the weights.
    """

    def __init__(
        self, inputs: int, nodes: int, width: int, activation: str, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.attributes = nn.ModuleList(glorot_linear(inputs, width, generator) for _ in range(2))
        self.structure = nn.ModuleList(glorot_linear(nodes, width, generator) for _ in range(2))
        self.activation = nn.Sigmoid() if activation == "sigmoid" else nn.Identity()
        self.share = nn.Parameter(torch.tensor(SHARE))

    def forward(self, x: Tensor, edges: Adjacency) -> tuple[Tensor, Tensor]:
        """Return z and e, (2N, width) each, for features `x` and the sparse adjacency."""
        maps: Any = self.structure
        e = [unit_rows(edges.times(linear.weight.t()) + linear.bias) for linear in maps]
        return torch.cat(self._attributes(x)), torch.cat(e)

    def embed(self, x: Tensor) -> Tensor:
        """Return (N, width) embeddings: the mean of both maps of the features."""
        first, second = self._attributes(x)
        return (first + second) / 2

    def _attributes(self, x: Tensor) -> list[Tensor]:
        return [unit_rows(self.activation(part(x))) for part in self.attributes]


STARTS = 20
"""Random starts of k-means."""


def clustered(z: Tensor, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Return (N,) clusters by k-means and (N,) doubts, low where one centre is by far nearest."""
    from sklearn.cluster import KMeans  # slow to import
    from sklearn.exceptions import ConvergenceWarning

    seed = int(torch.randint(2**31 - 1, (1,), generator=generator))
    count = min(count, len(z))
    means = KMeans(count, init="random", n_init=STARTS, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer points than clusters are fine
        labels = means.fit_predict(z.cpu().numpy())
    distance = torch.from_numpy(means.transform(z.cpu().numpy())).to(z.device)
    doubt = softmax(distance.square(), dim=1).amin(1)
    return torch.from_numpy(labels).to(z.device), doubt


def sure_nodes(doubt: Tensor, share: float) -> Tensor:
    """Return (N,) bool: True for the `share` of the nodes with the lowest doubt (N,).

    >>> sure_nodes(torch.tensor([0.1, 0.5, 0.0]), 2 / 3)
    tensor([ True, False,  True])
    """
    sure = torch.zeros(len(doubt), dtype=torch.bool, device=doubt.device)
    sure[doubt.argsort()[: round(share * len(doubt))]] = True
    return sure


BLOCK = 256
"""Rows of S at a time."""

LEVELS = 255
"""Weights from 0 to 1 are stored as bytes, in steps of 1 / LEVELS."""


def hard_pair_contrast(
    z: Tensor, e: Tensor, a: Tensor, weights: Tensor | None, *, block: int = BLOCK
) -> Tensor:
    """Return the loss (see the module); `weights` (2N, 2N) uint8 is M · 255, None means all 1.

    >>> same = torch.ones(4, 1)  # S is 1 everywhere: log 3
    >>> hard_pair_contrast(same, same, torch.tensor(0.5), None)
    tensor(1.0986)
    """
    loss: Tensor = _Contrast.apply(z, e, a, weights, block)  # type: ignore[no-untyped-call]
    return loss


class _Contrast(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, z: Tensor, e: Tensor, a: Tensor, weights: Tensor | None, block: int
    ) -> Tensor:
        d_z, d_e, d_a = torch.zeros_like(z), torch.zeros_like(e), torch.zeros_like(a)
        total = z.new_zeros((), dtype=torch.float64)
        share = a.item()
        rest = 1 - share
        for start in range(0, len(z), block):
            rows = slice(start, start + block)
            of_z, of_e = z[rows] @ z.t(), e[rows] @ e.t()
            here = torch.arange(len(of_z), device=z.device)
            partner = (here + start + len(z) // 2) % len(z)
            m = None if weights is None else weights[rows].to(z.dtype) / LEVELS
            logits = share * of_z + rest * of_e
            logits = logits if m is None else logits.mul_(m)
            positive = logits[here, partner]
            logits[here, here + start] = -torch.inf
            most = logits.amax(1)  # subtracted, so that nothing overflows
            p = logits.sub_(most[:, None]).exp_()
            mass = p.sum(1)
            total += (mass.log() + most - positive).sum(dtype=torch.float64)
            slope = p.div_(mass[:, None] * len(z))
            slope[here, partner] -= 1 / len(z)
            slope = slope if m is None else slope.mul_(m)
            for entries, gradient, factor in ((z, d_z, share), (e, d_e, rest)):
                gradient[rows].addmm_(slope, entries, alpha=factor)
                gradient.addmm_(slope.t(), entries[rows], alpha=factor)
            d_a += (slope * of_z.sub_(of_e)).sum()
        ctx.save_for_backward(d_z, d_e, d_a)
        return (total / len(z)).to(z.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        d_z, d_e, d_a = ctx.saved_tensors
        return d_z * grad, d_e * grad, d_a * grad, None, None


@torch.no_grad()
def reweigh(
    weights: Tensor,
    z: Tensor,
    e: Tensor,
    a: Tensor,
    *,
    labels: Tensor,
    sure: Tensor,
    beta: float,
    block: int = BLOCK,
) -> None:
    """Set the weight | 1[same label] − S̄ |^β of pairs with sure labels; S̄ is S scaled to 0 … 1.

    Change `weights` (2N, 2N) uint8 in place; other pairs keep theirs. `labels`, `sure`: (N,).
    """
    labels, sure = labels.repeat(2), sure.repeat(2)
    extremes = [s.aminmax() for _, s in _similarity_rows(z, e, a.item(), block)]
    low = min(float(low) for low, _ in extremes)
    spread = max(max(float(high) for _, high in extremes) - low, torch.finfo(z.dtype).tiny)
    for rows, s in _similarity_rows(z, e, a.item(), block):
        same = (labels[rows, None] == labels).to(s.dtype)
        new = same.sub_(s.sub_(low).div_(spread)).abs_().pow_(beta)
        written = new.mul_(LEVELS).round_().clamp_(0, LEVELS).to(torch.uint8)
        both = sure[rows, None] & sure
        weights[rows] = torch.where(both, written, weights[rows])


def _similarity_rows(z: Tensor, e: Tensor, a: float, block: int) -> Iterator[tuple[slice, Tensor]]:
    """Yield the similarities S, a block of rows at a time."""
    for start in range(0, len(z), block):
        rows = slice(start, start + block)
        yield rows, (z[rows] @ z.t()).mul_(a).add_(e[rows] @ e.t(), alpha=1 - a)


class SummingAdam(torch.optim.Adam):
    """Adam without zeroed gradients: each step uses the sum of all gradients so far."""

    def step(self, closure: Any = None) -> Any:
        """Take a step; the sums are part of the optimiser's state, also in checkpoints."""
        parameters = [p for group in self.param_groups for p in group["params"]]
        for p in parameters:
            if "sum" in self.state[p]:
                p.grad += self.state[p]["sum"]
        result = super().step(closure)
        for p in parameters:
            self.state[p]["sum"] = p.grad.clone()
        return result


EVERY = 10
"""Epochs from one clustering to the next."""


class HSAN(NodeEstimator):
    """Contrast two linear maps of smoothed features; pairs that contradict the clusters count more.

    Hard Sample Aware Network, made for clustering. The similarity S of two entries combines the
    similarity of their features and, with a learned share, of their adjacency rows. Every 10 epochs
    k-means clusters the nodes. Between nodes with a sure cluster, pairs in one cluster get a larger
    weight the less similar they are, other pairs the more similar they are. The embedding uses
    features only, so that the model can embed a graph with other nodes.

    To save memory, the 2N × 2N matrix S exists a block of rows at a time, and each weight is stored
    in a byte, in steps of 1/255.

    Parameters
    ----------
    preset : str
        Published settings of a data set ("Cora", "CiteSeer", "Amazon-Photo", …; see
        hsan_presets.toml) for everything below that is None.
    recipe : {"default", "authors", "paper"}
        Decides `accumulate`.
    accumulate : bool, optional
        Never set gradients to zero: each step uses the sum of all gradients so far. Decided by the
        recipe if None: True in the released code ("authors"), else False.
    epochs : int
        0 gives the untrained encoders on the smoothed features.
    filter_steps : int, optional
        Number of times that features are mixed with those of the neighbours before training.
    components : int, optional
        Principal components of the features that are used; 0, or more than there are features:
        the features themselves.
    width : int, optional
        Width of the embedding.
    activation : {"identity", "sigmoid"}, optional
        Activation after the linear maps of the features.
    clusters : int, optional
        Number of clusters of k-means; published: the number of classes. Labels are never used.
    confident : float, optional
        Share of the nodes whose cluster is trusted (τ).
    beta : float, optional
        Exponent β of the weights: a larger value emphasises hard pairs.
    lr : float, optional
    normalize_features : bool
        Divide every row of the features by its sum (if above 1); not done as published.
    patience, random_state, device, progress, callbacks, warm_start :
        See `DGI`.

    Attributes
    ----------
    network_ : Module
    weights_ : (2N, 2N) uint8 or None
        255 times the weights of all pairs of the graph it was fitted on.
    history_ : list of dict
        One entry per epoch: loss and seconds.

    References
    ----------
    Y. Liu, X. Yang, S. Zhou, X. Liu, Z. Wang, K. Liang, W. Tu, L. Li, J. Duan and C. Chen.
    "Hard Sample Aware Network for Contrastive Deep Graph Clustering". AAAI 2023.
    arXiv:2212.08665,
    doi:10.1609/aaai.v37i7.26071.

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
        accumulate: bool | None = None,
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
        patience: int | None = None,
        random_state: int | None = 0,
        device: str = "cpu",
        progress: bool = True,
        callbacks: Callbacks = (),
        warm_start: bool = False,
    ) -> None:
        self.preset = preset
        self.recipe = recipe
        self.accumulate = accumulate
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
        get_recipe(self.recipe)
        one_of(self._setting("activation"), ("identity", "sigmoid"), "activation")
        for name, least in (("filter_steps", 0), ("components", 0), ("width", 1), ("clusters", 2)):
            whole_number(name, self._setting(name), least=least)
        number("confident", self._setting("confident"), least=0, most=1)
        number("beta", self._setting("beta"), above=0)
        self.weights_: Tensor | None = None
        self._nodes: int | None = None
        self._smooth = SmoothedFeatures(self._setting("filter_steps"))

    def read(self, X: Any) -> NodeGraph:
        graph = super().read(X)
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
        """Return the input width of the encoders."""
        components, nodes = self._setting("components"), self._nodes or features
        return min(components, nodes) if 0 < components < features else features

    def _optimizer(self, network: nn.Module) -> torch.optim.Optimizer:
        kind = SummingAdam if by_recipe(self, "accumulate") else Adam
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
