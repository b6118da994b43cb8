"""GRACE: two views of one graph, every node against all others, with any hardness of negatives."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from augcl.checks import number, two_shares, whole_number
from augcl.data.node_graph import NodeGraph
from augcl.encoders.contrastive import output_width
from augcl.encoders.gcn import ACTIVATIONS, GCN, NORMS, NodeNetwork
from augcl.encoders.heads import output_basis, projector
from augcl.errors import one_of, warn_user
from augcl.hardness import Hardness, Oracle, Uniform
from augcl.hardness.base import gives_weights
from augcl.hardness.diagnostics import WeightStatistics
from augcl.losses.node_info_nce import (
    LEAST_TAU,
    BlockWeights,
    PairWeights,
    node_info_nce,
    weights_of,
)
from augcl.methods import presets
from augcl.methods.contrast import (
    FITTED,
    Contrast,
    EmbeddedNodes,
    HardnessSchedule,
    weighted_logits,
)
from augcl.methods.recipes import by_recipe, chosen_hardness, get_recipe
from augcl.ops.cosine import cosine
from augcl.ops.diffusion import smoothed
from augcl.training.batches import NodeBatch, batch_statistics
from augcl.training.callbacks import Callbacks, Metrics
from augcl.training.checkpoint import Snapshot, load_module, prefixed
from augcl.training.checkpoint import weights_of as network_weights
from augcl.training.estimator import NodeEstimator
from augcl.views.nodes import CENTRALITIES, EDGE_ENDS, EMPTY_COLUMNS, NodeView

MOST_NUMBERS, NARROW = 2**26, 512
"""Numbers of a feature matrix from which on its columns are made fewer for an affinity, and how
many are left."""

OBSERVED = 128
"""Anchors at most whose negatives are observed in an epoch, for the metrics."""

SAMPLED = 1024
"""Nodes at most that stand for all negatives, where each node gets a loss of its own."""


class GRACE(NodeEstimator):
    """Pull the two views of a node together, push all other nodes of both views away.

    Parameters
    ----------
    hardness : Hardness or {"none", "augcl", "dcl", "hcl", "progcl", "nearest"}
        How hard each negative is. A name takes the settings of `recipe`.
    preset : str, optional
        Settings for everything below that is None. "default": ours for any graph; "published":
        those of the papers for graphs in general; or those published for a data set ("Cora",
        "Amazon-Photo", …; see node_presets.toml). "Amazon-Photo" are ProGCL's, because with GCA's
        own ("Amazon-Photo/published", learning rate 0.1) the training collapses. None: "default",
        with the recipes "authors" and "paper" "published".
    recipe : {"default", "authors", "paper"}
        Settings of a named hardness, and what is said to be decided by it below.
    centrality : {"degree", "pagerank", "eigenvector"}, optional
        What makes a node important: its edges and features are dropped more rarely (`GCA`). All
        nodes are equally important if None. Edges count by their weights, if they have any.
    edge_ends : {"target", "both"}, optional
        An edge counts by the centrality of its target, or by the mean of both its ends. This and
        the next two are decided by the recipe if None.
    pagerank_restart : bool, optional
        Whether "pagerank" restarts; if not, it is the walk that the released code of GCA takes.
    empty_columns : {"ignore", "mask-all"}, optional
        A feature column without any entry is ignored, or makes the probability of every column
        0.7, as in the released code of GCA.
    epochs : int, optional
        All epochs, with and without weights; 0 gives the untrained encoder.
    warmup : int, optional
        Epochs before the weights of the hardness count. If None, a hardness that learns waits half
        of the epochs, but 400 at most; any other counts at once.
    width : int, optional
        Width of an embedding by `GCN`; its hidden layer is twice as wide.
    projection : int, optional
        Hidden width of the projector.
    activation : {"relu", "prelu", "rrelu"}, optional
    norm : {"batch", "layer", "none"}, optional
        Normalisation after each layer of `GCN`, before the activation.
    edge_drop, feature_drop : (float, float), optional
        Share of the edges dropped and of the feature columns masked, in the two views.
    half_hop : (float, float), optional
        Share of the nodes whose incoming edges get slow nodes, in the two views; none if None. See
        `augcl.views.nodes.half_hop`.
    tau, lr : float, optional
    weight_decay : float
    weights : {"frozen", "live"}
        The weights of all pairs are computed once, after the hardness is fitted, or again every
        `weights_every` epochs; either way from the graph without augmentation.
    weights_every : int
    sample : int
        Nodes of a block: the hardness is fitted on blocks, each node an anchor against the others
        of its block.
    candidates : int or "all", optional
        Number of nodes, drawn in every step, that serve as negatives.
    batch_nodes : int, optional
        Number of nodes of a mini-batch, about: parts of the graph, drawn at random, with the edges
        among them. Views, negatives and weights are then those inside the batch. If None, a step
        takes all nodes of a graph with up to 100,000 of them, and 8,192 of a larger one.
        Embeddings are always those of the whole graph.
    encoder : Module, optional
        A PyG-style module, (x, edge_index) to (N, D); `GCN` if None. It gets the weights of the
        edges, if there are any, if it has a parameter ``edge_weight``.
    normalize_features : bool
        Divide every row of the features by its sum (where above 1), as published.
    patience : int, optional
        End the training after this many epochs without a lower loss, and keep the weights with
        the lowest; epochs count from where the hardness sets in. None: all epochs, last weights.
    random_state : int or None
        Seed of every draw of ours; dropout in an encoder of your own follows torch's global seed.
    device : str
        "cpu", "cuda", "cuda:1", "auto".
    progress : bool
        Show a progress bar when the error stream is a terminal.
    callbacks : list of Callback
        Watch or end the training; see `augcl.callbacks`.
    warm_start : bool
        Let a further `fit` on the same data continue the last one, up to `epochs` in total. With
        a number as `warmup` the result is that of one long training; if None, it is decided
        again by the new `epochs` when the hardness sets in.

    Attributes
    ----------
    network_ : NodeNetwork
    hardness_ : Hardness
    weights_ : PairWeights, BlockWeights or None
        The weights of all pairs of nodes of the graph it was fitted on; of a large graph they are
        computed when they are needed. None with mini-batches, which have weights of their own.
    history_ : list of dict
        One entry per epoch: loss, seconds and the spread of the weights.

    References
    ----------
    Y. Zhu, Y. Xu, F. Yu, Q. Liu, S. Wu and L. Wang. "Deep Graph Contrastive Representation
    Learning". ICML Workshop on Graph Representation Learning and Beyond, 2020.
    arXiv:2006.04131,
    doi:10.48550/arXiv.2006.04131.

    Examples
    --------
    >>> import augcl
    >>> graph = augcl.load("digits-knn")
    >>> model = augcl.GRACE(epochs=2, width=16, random_state=0).fit(graph)
    >>> model.transform(graph).shape
    (1797, 16)
    """

    year = 2020
    cost = "hours"
    preset_file = presets.GRACE

    def __init__(
        self,
        *,
        hardness: Hardness | str | None = None,
        preset: str | None = None,
        recipe: str = "default",
        centrality: str | None = None,
        edge_ends: str | None = None,
        pagerank_restart: bool | None = None,
        empty_columns: str | None = None,
        epochs: int | None = None,
        warmup: int | None = None,
        width: int | None = None,
        projection: int | None = None,
        activation: str | None = None,
        norm: str | None = None,
        edge_drop: tuple[float, float] | None = None,
        feature_drop: tuple[float, float] | None = None,
        half_hop: tuple[float, float] | None = None,
        tau: float | None = None,
        lr: float | None = None,
        weight_decay: float = 1e-5,
        weights: str = "frozen",
        weights_every: int = 10,
        sample: int = 256,
        candidates: int | str | None = None,
        batch_nodes: int | None = None,
        encoder: nn.Module | None = None,
        normalize_features: bool = True,
        patience: int | None = None,
        random_state: int | None = 0,
        device: str = "cpu",
        progress: bool = True,
        callbacks: Callbacks = (),
        warm_start: bool = False,
    ) -> None:
        self.hardness = hardness
        self.preset = preset
        self.recipe = recipe
        self.centrality = centrality
        self.edge_ends = edge_ends
        self.pagerank_restart = pagerank_restart
        self.empty_columns = empty_columns
        self.epochs = epochs  # type: ignore[assignment]
        self.warmup = warmup
        self.width = width
        self.projection = projection
        self.activation = activation
        self.norm = norm
        self.edge_drop = edge_drop
        self.feature_drop = feature_drop
        self.half_hop = half_hop
        self.tau = tau
        self.lr = lr  # type: ignore[assignment]
        self.weight_decay = weight_decay
        self.weights = weights
        self.weights_every = weights_every
        self.sample = sample
        self.candidates = candidates
        self.batch_nodes = batch_nodes
        self.encoder = encoder
        self.normalize_features = normalize_features
        self.patience = patience
        self.random_state = random_state
        self.device = device
        self.progress = progress
        self.callbacks = callbacks
        self.warm_start = warm_start

    @property
    def _preset(self) -> str:
        usual = "default" if self.recipe == "default" else presets.PUBLISHED
        return self.preset or usual

    def _left_open(self) -> dict[str, Any]:
        return presets.get_preset(self._preset)

    def _start(self) -> None:
        super()._start()
        recipe = get_recipe(self.recipe)
        one_of(self._setting("activation"), ACTIVATIONS, "activation")
        one_of(self._setting("norm"), ("none", *NORMS), "norm")
        one_of(self.weights, ("frozen", "live"), "kind of weights")
        if self.centrality is not None:
            one_of(self.centrality, CENTRALITIES, "centrality")
        one_of(by_recipe(self, "edge_ends"), EDGE_ENDS, "edge_ends")
        one_of(by_recipe(self, "empty_columns"), EMPTY_COLUMNS, "empty_columns")
        for name in ("width", "projection", "weights_every"):
            whole_number(name, self._setting(name), least=1)
        whole_number("sample", self.sample, least=2)
        self._sampled = (
            None if self._setting("candidates") == "all" else self._setting("candidates")
        )
        if self._sampled is not None:  # of one alone, its own node would have no negative
            whole_number("candidates", self._sampled, least=2)
        for name in ("edge_drop", "feature_drop"):
            two_shares(name, self._setting(name), below=1)
        if self.half_hop is not None:
            two_shares("half_hop", self.half_hop, most=1)
        number("weight_decay", self.weight_decay, least=0)
        if self.lr is None and presets.collapses(self._preset):
            warn_user(
                f"preset {self._preset} is known to collapse (learning rate "
                f"{self._setting('lr'):g}): give a lower lr, or take preset "
                f"{self._preset.removesuffix('/published')}"
            )
        epochs = self._setting("epochs")
        self.hardness_ = chosen_hardness(self.hardness, recipe)
        self._schedule = HardnessSchedule(
            self.hardness_, epochs=epochs, usual=min(400, epochs // 2), warmup=self.warmup
        )
        number("tau", self._setting("tau"), least=LEAST_TAU * max(self.hardness_.powers))
        self.weights_: PairWeights | BlockWeights | None = None
        self._anchors: Tensor | None = None
        self._features: tuple[NodeBatch, Tensor] | None = None
        self._weight_facts: Metrics = {}
        self._mass = WeightStatistics()
        self._epoch, self._weighed_epoch = 0, -1
        self._weigher: dict[str, Tensor] | None = None
        self._whole: NodeBatch | None = None

    def _build(self, features: int, generator: torch.Generator) -> NodeNetwork:
        encoder = copy.deepcopy(self.encoder)
        if encoder is None:
            encoder = GCN(
                features,
                width=self._setting("width"),
                activation=self._setting("activation"),
                norm=None if self._setting("norm") == "none" else self._setting("norm"),
                generator=generator,
            )
        head = projector(
            output_width(encoder, features),
            generator,
            hidden=self._setting("projection"),
            activation=nn.ELU,
        )
        return NodeNetwork(encoder, head)

    def _view_settings(self) -> dict[str, Any]:
        return {
            **super()._view_settings(),
            "centrality": self._setting("centrality"),
            "edge_ends": by_recipe(self, "edge_ends"),
            "pagerank_restart": by_recipe(self, "pagerank_restart"),
            "empty_columns": by_recipe(self, "empty_columns"),
        }

    def _pair(
        self, batches: Iterable[NodeBatch], generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """(N, D) what the hardness compares, of the nodes of some batches in two new views."""
        pairs = [
            [self._vectors(view, batch) for view in self._two_views(batch).draw(generator)]
            for batch in batches
        ]
        anchors, candidates = (torch.cat(part) for part in zip(*pairs, strict=True))
        return anchors, candidates

    def _vectors(self, view: NodeView, batch: NodeBatch) -> Tensor:
        """(N, D) what the hardness compares, of the nodes in a view; smoothed over all edges."""
        asked, clean = self.hardness_.affinity_of, batch.views.clean
        if asked == "projection":
            projections: Tensor = self.network_(view)
            return projections
        if asked == "features":
            if self._features is None or self._features[0] is not batch:
                self._features = batch, smoothed(few_columns(clean), clean.edges)
            return self._features[1]
        embeddings: Tensor = self.network_.embed(view)
        return embeddings if asked == "embedding" else smoothed(embeddings, clean.edges)

    def _compared(self, views: Iterable[NodeView]) -> list[Tensor]:
        """Projections of views in as few numbers as they need: cosines of all pairs cost less."""
        basis = output_basis(self.network_.projector)
        return [z if basis is None else z @ basis for z in map(self.network_, views)]

    def _loss(self, batch: NodeBatch, generator: torch.Generator) -> Tensor:
        if not self._schedule.active:
            return self._contrast(batch, generator, observed=True)
        weights = self._weights_of(batch)
        return self._contrast(batch, generator, self.hardness_, weights, observed=True)

    def _first_loss(self, batch: NodeBatch, generator: torch.Generator) -> Tensor:
        if self._schedule.first_epoch > 0:
            return self._contrast(batch, generator)
        return self._contrast(batch, generator, self.hardness_, self._weights_of(batch))

    def _contrast(
        self,
        batch: NodeBatch,
        generator: torch.Generator,
        hardness: Hardness | None = None,
        weights: PairWeights | BlockWeights | None = None,
        *,
        observed: bool = False,
    ) -> Tensor:
        anchors, candidates = self._compared(self._two_views(batch).draw(generator))
        columns = None
        if self._sampled is not None and self._sampled < len(batch):
            order = torch.randperm(len(batch), generator=generator)
            columns = order[: self._sampled].to(anchors.device)
        if observed and batch.labels is not None:
            self._observe(batch.labels, anchors, candidates, columns, hardness, weights)
        return node_info_nce(
            anchors,
            candidates,
            tau=self._setting("tau"),
            hardness=hardness,
            weights=weights,
            columns=columns,
            generator=generator,
        )

    @torch.no_grad()
    def _observe(
        self,
        labels: Tensor,
        anchors: Tensor,
        candidates: Tensor,
        columns: Tensor | None,
        hardness: Hardness | None,
        weights: PairWeights | BlockWeights | None,
    ) -> None:
        """Measure the mass of false negatives for some anchors of one view in the other."""
        # A draw from the training's own generator would change the training.
        generator = torch.Generator().manual_seed(self._epoch)
        count = min(OBSERVED, max(16, len(labels) // 50))  # below a hundredth of the step
        rows = torch.randperm(len(labels), generator=generator)[:count].to(labels.device)
        of = torch.arange(len(labels), device=labels.device) if columns is None else columns
        logits = cosine(anchors[rows], candidates[of]) / self._setting("tau")
        log_w = None
        if weights is not None:
            smallest = torch.finfo(torch.float32).tiny
            log_w = weights.block(rows, of).clamp_min_(smallest).log_()
        weighted = weighted_logits(hardness, logits, log_w)
        self._mass.add_mass(logits, weighted, labels[rows], labels[of], rows[:, None] == of)

    def _projections(self, batch: NodeBatch, generator: torch.Generator) -> Tensor:
        projections: Tensor = self.network_(batch.views.clean)
        return projections

    def _before_epoch(self, epoch: int, batches: Any, generator: torch.Generator) -> Metrics:
        self._epoch = epoch
        self._whole = next(iter(batches)) if len(batches) == 1 else None
        fits = self._schedule.fits_before(epoch)
        with batch_statistics(self.network_):
            some = batches if len(batches) == 1 else _enough(batches) if fits else []
            pairs = EmbeddedNodes(lambda draw: self._pair(some, draw), self.sample, generator)
            if fits:
                self._show(f"fitting {type(self.hardness_).__name__}")
            found = self._schedule.before_epoch(epoch, pairs, generator)
            if not (self._schedule.active and gives_weights(self.hardness_)):
                return found
            since = epoch - self._schedule.first_epoch
            new = fits or (self.weights == "live" and since % self.weights_every == 0)
            if len(batches) > 1:
                if new:
                    self._weigher = network_weights(self.network_)
                return found
            (batch,) = batches
            if new and self.hardness_.affinity_of != "features":  # a file need not keep those
                with torch.no_grad():
                    self._anchors = self._vectors(batch.views.clean, batch)
            if new or self.weights_ is None:  # after a resume
                self._weigh(batch)
        return found

    def _weigh(self, batch: NodeBatch) -> None:
        anchors = self._anchors
        if anchors is None:
            anchors = self._vectors(batch.views.clean, batch)
        anchors = anchors.to(batch.graph.x.device)  # loaded ones lie on the CPU
        self._show("weighing pairs of nodes")
        sampled = self._sampled is not None and self._sampled < len(batch)
        self.weights_ = weights_of(self.hardness_, anchors, labels=batch.labels, sampled=sampled)
        self._weight_facts = self.weights_.describe(batch.labels)

    @torch.no_grad()
    def _weights_of(self, batch: NodeBatch) -> PairWeights | BlockWeights | None:
        """The weights of the pairs of a batch, by the network as it was when they were decided."""
        if self._weigher is None:
            return self.weights_
        own = self.network_
        self.network_ = copy.deepcopy(own)
        try:
            load_module(self.network_, self._weigher)
            with batch_statistics(self.network_):
                anchors = self._vectors(batch.views.clean, batch)
        finally:
            self.network_ = own
        if self._sampled is not None and self._sampled < len(batch):
            weights: PairWeights | BlockWeights
            weights = BlockWeights(self.hardness_, anchors, batch.labels, numbers=batch.ids)
        else:  # every one of them is needed twice
            weights = weights_of(self.hardness_, anchors, labels=batch.labels, numbers=batch.ids)
        if self._weighed_epoch != self._epoch:  # one batch tells enough
            self._weight_facts = weights.describe(batch.labels)
            self._weighed_epoch = self._epoch
        return weights

    def _after_epoch(self) -> Metrics:
        return {**self._weight_facts, **self._mass.read()}

    @property
    def _comparable_from(self) -> int:
        return 0 if isinstance(self.hardness_, Uniform) else self._schedule.first_epoch

    @torch.no_grad()
    def contrast(self, rows: Tensor, generator: torch.Generator) -> Contrast | None:
        """Return how the nodes `rows` (n,) stand to each other, by the network of now.

        None in a training with mini-batches: their negatives are other nodes in every step.
        """
        batch = self._whole
        if batch is None:
            return None
        self.network_.eval()
        rows = rows.to(batch.graph.x.device)
        views = self._two_views(batch).draw(generator)
        similarity = cosine(*(self.network_(view)[rows] for view in views))
        if not self._schedule.active:
            return Contrast(similarity, active=False)
        log_w, vectors = None, self._anchors
        if self.weights_ is not None:
            smallest = torch.finfo(torch.float32).tiny
            log_w = self.weights_.block(rows, rows).clamp_min(smallest).log()
        if vectors is None:
            vectors = self._vectors(batch.views.clean, batch)
        some = vectors.to(rows.device)[rows]
        hardness = Uniform() if isinstance(self.hardness_, Oracle) else self.hardness_
        return Contrast.of(hardness, True, similarity, (some, some), log_w)

    @torch.no_grad()
    def node_losses(self, graph: NodeGraph, generator: torch.Generator) -> Tensor | None:
        """Return the loss (N,) of each node without weights, against `SAMPLED` drawn nodes.

        Their mass stands for that of all nodes. None where a training takes mini-batches.
        """
        if self._nodes_per_step(graph) is not None:
            return None
        self.network_.eval()
        device = next(self.network_.parameters()).device
        batch = NodeBatch(self.read(graph).to(device))
        one, two = self._compared(self._two_views(batch).draw(generator))
        drawn = torch.randperm(len(one), generator=generator)[:SAMPLED].to(device)
        tau, losses = self._setting("tau"), []
        for own, other in ((one, two), (two, one)):
            candidates = torch.cat([other[drawn], own[drawn]])
            for rows in torch.arange(len(own), device=device).split(4 * SAMPLED):
                positive = torch.cosine_similarity(own[rows], other[rows]) / tau
                logits = cosine(own[rows], candidates) / tau
                itself = rows[:, None] == drawn.repeat(2)
                share = (~itself).sum(1) / (2 * (len(own) - 1))
                mass = logits.masked_fill_(itself, -torch.inf).logsumexp(1) - share.log()
                losses.append(torch.logaddexp(positive, mass) - positive)
        both = torch.cat(losses).reshape(2, -1)
        return both.mean(0)

    def _learned(self) -> dict[str, Tensor]:
        anchors = {} if self._anchors is None else {"anchors": self._anchors}
        weigher = {} if self._weigher is None else prefixed("weigher", self._weigher)
        return {**anchors, **weigher, **self.hardness_.state()}

    def _load_learned(self, tensors: dict[str, Tensor]) -> None:
        tensors = dict(tensors)
        self._anchors = tensors.pop("anchors", None)
        self._weigher = Snapshot(tensors, {}).part("weigher") or None
        tensors = {name: t for name, t in tensors.items() if not name.startswith("weigher")}
        self.hardness_.load_state(tensors)


def few_columns(view: NodeView) -> Tensor:
    """Return (N, D) dense features whose cosines are about those of the features (N, F).

    They are the features themselves unless these are many: a wide sparse matrix would not fit into
    memory as a dense one. More than `NARROW` columns of more than `MOST_NUMBERS` numbers are then
    projected at random, always in the same way (W. Johnson and J. Lindenstrauss, Contemporary
    Mathematics 26, 1984): smoothing is linear, so it may come later, and a cosine of two rows
    changes by about 0.04.
    """
    columns = view.width
    if columns <= NARROW or view.nodes * columns <= MOST_NUMBERS:
        return view.x()
    draw = torch.randn(columns, NARROW, generator=torch.Generator().manual_seed(0))
    return view.times((draw / NARROW**0.5).to(view.edge_index.device))


def _enough(batches: Iterable[NodeBatch]) -> list[NodeBatch]:
    """Return as many batches as the fit of a hardness sees."""
    some: list[NodeBatch] = []
    for batch in batches:
        some.append(batch)
        if sum(map(len, some)) >= FITTED:
            break
    return some


class GCA(GRACE):
    """GRACE that drops important edges and feature columns more rarely.

    Parameters
    ----------
    centrality : {"degree", "pagerank", "eigenvector"}, optional
        What makes a node important; the degree if None.
    recipe : {"default", "authors", "paper"}
        "authors" masks all columns at 70 % if one of them is empty (`empty_columns`); "paper"
        counts an edge by both its ends (`edge_ends`), and its PageRank restarts.
    hardness, preset, … :
        See `GRACE`.

    References
    ----------
    Y. Zhu, Y. Xu, F. Yu, Q. Liu, S. Wu and L. Wang. "Graph Contrastive Learning with Adaptive
    Augmentation". WWW 2021. arXiv:2010.14945,
    doi:10.1145/3442381.3449802.

    Examples
    --------
    >>> import augcl
    >>> graph = augcl.load("digits-knn")
    >>> model = augcl.GCA(centrality="pagerank", epochs=2, width=16, random_state=0).fit(graph)
    >>> model.transform(graph).shape
    (1797, 16)
    """

    year = 2021

    def _left_open(self) -> dict[str, Any]:
        return {**super()._left_open(), "centrality": "degree"}
