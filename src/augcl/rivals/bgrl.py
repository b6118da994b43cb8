"""BGRL: predict how a slowly moving copy of the network embeds the same node in another view.

With the online network E_θ, its predictor p, the target network E_φ and two views G₁, G₂,

    loss = 2 − mean_v cos( p(E_θ(G₁))_v, E_φ(G₂)_v ) − mean_v cos( p(E_θ(G₂))_v, E_φ(G₁)_v )

Only θ and p learn by gradients. After each step φ ← m φ + (1 − m) θ, and m goes to 1.
"""

from __future__ import annotations

import math
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor, nn

from augcl.checks import number, two_shares, whole_number
from augcl.data.node_graph import NodeGraph
from augcl.encoders.blocks import Layer
from augcl.encoders.gcn import GCN
from augcl.encoders.heads import glorot_linear
from augcl.methods import presets
from augcl.ops.adam import AdamW
from augcl.ops.cosine import unit_rows
from augcl.ops.threads import threads_for
from augcl.training.batches import NodeBatch
from augcl.training.callbacks import Callbacks, Metrics
from augcl.training.estimator import NodeEstimator
from augcl.views.nodes import NodeView

WARM_UP = 0.1
"""Share of the epochs in which the learning rate rises, as published: 1,000 of 10,000."""

NORM_MOMENTUM = 0.99
"""Share of the newest batch in the averages of batch norm, as published: they are those of the
last view."""


def bootstrap_loss(predictions: Tensor, targets: Tensor) -> Tensor:
    """Return 1 − the mean cosine of row v of `predictions` and row v of `targets`, (N, D) each.

    >>> bootstrap_loss(torch.tensor([[2.0, 0.0]]), torch.tensor([[3.0, 0.0]])).item()
    0.0
    """
    return 1 - (unit_rows(predictions) * unit_rows(targets)).sum(1).mean()


@torch.no_grad()
def follow(target: nn.Module, online: nn.Module, momentum: float) -> None:
    """Move every parameter φ of the target: φ ← momentum · φ + (1 − momentum) · θ."""
    for phi, theta in zip(target.parameters(), online.parameters(), strict=True):
        phi.lerp_(theta, 1 - momentum)


class BGRL(NodeEstimator):
    """Predict the embedding of each node in another view by a slowly moving copy of the network.

    Bootstrapped Graph Latents: no negatives, so that the cost of a step is linear in the nodes.

    Parameters
    ----------
    preset : str
        Published settings of a data set ("Amazon-Photo", "Wiki-CS", …; see bgrl_presets.toml) for
        everything below that is None.
    epochs : int, optional
        One step each; 0 gives the untrained encoder. Published: 10,000. The learning rate rises
        for a tenth of them and then falls to 0 along a cosine.
    width : int, optional
        Width of an embedding; the hidden layer is twice as wide.
    predictor : int
        Hidden width of the predictor.
    momentum : float
        m of the first step; it rises to 1 along a cosine.
    edge_drop, feature_drop : (float, float), optional
        Share of the edges dropped and of the feature columns masked, in the two views.
    half_hop : (float, float), optional
        See `GRACE`. Batch norm takes its statistics from the nodes that are not slow.
    lr : float, optional
    weight_decay : float
        Of AdamW.
    batch_nodes : int, optional
        See `GRACE`.
    normalize_features : bool
        Divide every row of the features by its sum (if above 1), as published.
    patience, random_state, device, progress, callbacks, warm_start :
        See `DGI`. With `warm_start`, both schedules follow the new number of epochs.

    Attributes
    ----------
    network_ : Module
    history_ : list of dict
        One entry per epoch: loss and seconds.

    References
    ----------
    S. Thakoor, C. Tallec, M. G. Azar, M. Azabou, E. L. Dyer, R. Munos, P. Veličković and M. Valko.
    "Large-Scale Representation Learning on Graphs via Bootstrapping". ICLR 2022. arXiv:2102.06514,
    doi:10.48550/arXiv.2102.06514.

    Examples
    --------
    >>> import augcl
    >>> graph = augcl.load("digits-knn")
    >>> augcl.BGRL(epochs=2, width=16, random_state=0).fit_transform(graph).shape
    (1797, 16)
    """

    year = 2022
    cost = "hours"
    preset_file = presets.BGRL

    def __init__(
        self,
        *,
        preset: str = "default",
        epochs: int | None = None,
        width: int | None = None,
        predictor: int = 512,
        momentum: float = 0.99,
        edge_drop: tuple[float, float] | None = None,
        feature_drop: tuple[float, float] | None = None,
        half_hop: tuple[float, float] | None = None,
        lr: float | None = None,
        weight_decay: float = 1e-5,
        batch_nodes: int | None = None,
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
        self.predictor = predictor
        self.momentum = momentum
        self.edge_drop = edge_drop
        self.feature_drop = feature_drop
        self.half_hop = half_hop
        self.lr = lr  # type: ignore[assignment]
        self.weight_decay = weight_decay
        self.batch_nodes = batch_nodes
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
        for name in ("width", "predictor"):
            whole_number(name, self._setting(name), least=1)
        number("momentum", self.momentum, least=0, most=1)
        for name in ("edge_drop", "feature_drop"):
            two_shares(name, self._setting(name), below=1)
        if self.half_hop is not None:
            two_shares("half_hop", self.half_hop, most=1)
        self._step_done = False

    def _build(self, features: int, generator: torch.Generator) -> nn.Module:
        return BGRLNetwork(features, self._setting("width"), self.predictor, generator)

    def _optimizer(self, network: nn.Module) -> torch.optim.Optimizer:
        learned = [theta for theta in network.parameters() if theta.requires_grad]
        return AdamW(learned, lr=self._setting("lr"), weight_decay=self.weight_decay, fused=True)

    def _threads(self, data: NodeGraph, batches: Any) -> AbstractContextManager[None]:
        return threads_for(data.num_nodes / len(batches))

    def _lr(self, epoch: int) -> float:
        epochs = self._setting("epochs")
        rising = int(WARM_UP * epochs)
        if epoch < rising:
            return float(self._setting("lr") * (epoch + 1) / rising)
        return float(self._setting("lr") * falling((epoch - rising) / (epochs - rising)))

    def _loss(self, batch: NodeBatch, generator: torch.Generator) -> Tensor:
        if self._step_done:  # the step on the batch before this one
            self._follow()
        self._step_done = True
        return self._first_loss(batch, generator)

    def _first_loss(self, batch: NodeBatch, generator: torch.Generator) -> Tensor:
        predictions, targets = self.network_(*self._two_views(batch).draw(generator))
        return sum(map(bootstrap_loss, predictions, reversed(targets)))  # type: ignore[return-value]

    def _after_epoch(self) -> Metrics:
        self._follow()
        return {}

    def _follow(self) -> None:
        """Move the target after a step."""
        self._step_done = False
        done = len(self.history_) / self._setting("epochs")
        momentum = 1 - (1 - self.momentum) * falling(done)
        follow(self.network_.target, self.network_.online, momentum)

    def _projections(self, batch: NodeBatch, generator: torch.Generator) -> Tensor:
        network = self.network_
        return network.predictor(network.online(batch.views.clean))  # type: ignore[no-any-return]


def falling(done: float) -> float:
    """Return the cosine schedule: 1 at the start (0 done), 0 at the end (1 done).

    >>> falling(0), falling(0.5), falling(1)
    (1.0, 0.5, 0.0)
    """
    return round((1 + math.cos(math.pi * done)) / 2, 15)


class BGRLNetwork(nn.Module):
    """The online encoder, its predictor, and the target encoder, which has no gradient."""

    def __init__(
        self, features: int, width: int, predictor: int, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.online, self.target = (
            GCN(features, width=width, activation="prelu", norm="batch", generator=generator)
            for _ in range(2)
        )
        for module in self.modules():
            if isinstance(module, nn.BatchNorm1d):
                module.momentum = NORM_MOMENTUM
        self.predictor = nn.Sequential(
            glorot_linear(width, predictor, generator),
            nn.PReLU(),
            glorot_linear(predictor, width, generator),
        )
        self.target.requires_grad_(False)

    def forward(self, *views: NodeView) -> tuple[list[Tensor], list[Tensor]]:
        """Return predictions and targets of each view, (N, width) each; without slow nodes."""
        predictions = [self.predictor(view.without_slow(self.online(view))) for view in views]
        with torch.no_grad():
            return predictions, [view.without_slow(self.target(view)) for view in views]

    def layer_list(self) -> list[Layer]:
        """Return the layers of the online encoder, for `embed_in_blocks`."""
        return self.online.layer_list()

    def embed(self, view: NodeView) -> Tensor:
        """Return (N, width) embeddings."""
        return self.online(view)  # type: ignore[no-any-return]
