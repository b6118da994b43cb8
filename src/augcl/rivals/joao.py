"""JOAO and JOAOv2: GraphCL that learns to prefer the augmentations with the highest loss."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import partial

import torch
from torch import Tensor, nn

from augcl.checks import number
from augcl.data.graph import GraphSet
from augcl.encoders.heads import ManyHeads
from augcl.errors import one_of
from augcl.hardness import Hardness
from augcl.methods.contrast import ContrastiveGraphMethod
from augcl.methods.recipes import by_recipe
from augcl.training.batches import batch_statistics
from augcl.training.callbacks import Callbacks, Metrics
from augcl.training.processes import Share
from augcl.views import AttributeMask, EdgePerturb, Identity, NodeDrop, OneOf, Subgraph


def project_to_simplex(b: Tensor) -> Tensor:
    """Return the (K,) point p ≥ 0, Σ p = 1 nearest to b: max(b − μ, 0) for the right μ.

    With b sorted in descending order, μ follows from the longest prefix whose entries exceed it.

    >>> project_to_simplex(torch.tensor([0.5, 1.0, -3.0])).tolist()
    [0.25, 0.75, 0.0]
    """
    b = b - b.max()  # changes μ only; next to large numbers the 1 below would be rounded away
    ordered = b.sort(descending=True).values
    count = torch.arange(1, len(b) + 1, device=b.device)
    mu = (ordered.cumsum(0) - 1) / count
    last = int((ordered > mu).nonzero().max())
    p = (b - mu[last]).clamp_min(0)
    return p / p.sum()


AUGMENTATIONS = ("node-drop", "edge-removal", "subgraph", "attribute-mask", "identity")
IDENTITY = AUGMENTATIONS.index("identity")


class JOAO(ContrastiveGraphMethod):
    """Contrast graphs with their views, and draw augmentations with a high loss more often.

    The augmentation of each graph is drawn from probabilities P, uniform at the start. After an
    epoch the mean loss ℓ under each augmentation alone is measured on a fifth of the batches, and

        P ← the nearest probabilities to  P + ℓ − γ (P − 1/5).

    Parameters
    ----------
    recipe : {"default", "authors", "paper"}
        Decides the settings of a hardness given by name, the default of `warmup`, and every option
        below that names the recipe.
    gamma : float
        Strength of the pull of P towards the uniform distribution; the paper searched 0.01, 0.1, 1.
    ratio : float
        Share of the nodes dropped, edges removed and nodes masked; a subgraph keeps the rest.
    growth : {"star", "walk"}, optional
        How a subgraph grows, see `Subgraph`; decided by the recipe if None (the walk by default).
    augment_anchor : bool, optional
        Augment both views; decided by the recipe if None (False by default).
    full_batches : bool, optional
        Count a short batch as a full one in the mean of ℓ. This and the next are decided by the
        recipe if None: False by default, True in the released code ("authors").
    update_statistics : bool, optional
        Let the running averages of the batch norm follow the batches on which ℓ is measured.
    positive_in_denominator, symmetric, tau :
        See `info_nce`; as published, the positive is left out of the denominator.
    hardness, epochs, warmup, encoder, edge_features, layers, width, pooling, batch_size, lr, … :
        See `GraphCL`.

    Attributes
    ----------
    probabilities_ : (5,) Tensor
        P of the last epoch: node-drop, edge-removal, subgraph, attribute-mask, identity.
    network_ : ContrastiveNetwork
    hardness_ : Hardness
    history_ : list of dict
        One entry per epoch: P, loss, seconds and the spread of the weights.

    References
    ----------
    Y. You, T. Chen, Y. Shen and Z. Wang. "Graph Contrastive Learning Automated". ICML 2021.
    arXiv:2106.07594,
    doi:10.48550/arXiv.2106.07594.

    Examples
    --------
    >>> import augcl
    >>> graphs = augcl.load("MUTAG")
    >>> model = augcl.JOAO(epochs=2, random_state=0).fit(graphs)
    >>> model.transform(graphs).shape
    (188, 96)
    >>> list(model.history_[0]["augmentations"].values())
    [0.2, 0.2, 0.2, 0.2, 0.2]
    """

    year = 2021

    def __init__(
        self,
        *,
        hardness: Hardness | str | None = None,
        recipe: str = "default",
        epochs: int = 20,
        warmup: int | None = None,
        gamma: float = 0.1,
        ratio: float = 0.2,
        growth: str | None = None,
        augment_anchor: bool | None = None,
        full_batches: bool | None = None,
        update_statistics: bool | None = None,
        positive_in_denominator: bool = False,
        symmetric: bool = False,
        tau: float = 0.2,
        encoder: nn.Module | None = None,
        edge_features: bool | None = None,
        layers: int = 3,
        width: int = 32,
        pooling: str = "sum",
        batch_size: int = 128,
        lr: float = 0.01,
        patience: int | None = None,
        random_state: int | None = 0,
        device: str = "cpu",
        progress: bool = True,
        callbacks: Callbacks = (),
        warm_start: bool = False,
    ) -> None:
        self.hardness = hardness
        self.recipe = recipe
        self.epochs = epochs
        self.warmup = warmup
        self.gamma = gamma
        self.ratio = ratio
        self.growth = growth
        self.augment_anchor = augment_anchor
        self.full_batches = full_batches
        self.update_statistics = update_statistics
        self.positive_in_denominator = positive_in_denominator
        self.symmetric = symmetric
        self.tau = tau
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
        number("gamma", self.gamma, least=0)
        number("ratio", self.ratio, least=0, below=1)
        self._pool = OneOf(
            NodeDrop(self.ratio),
            EdgePerturb(self.ratio, add=False),
            Subgraph(1 - self.ratio, growth=by_recipe(self, "growth"), self_loops=False),
            AttributeMask(self.ratio, fill="noise"),
            Identity(),
        )
        self._two_views = by_recipe(self, "augment_anchor")
        count = len(AUGMENTATIONS)
        self.probabilities_ = torch.full((count,), 1 / count, dtype=torch.float64)

    def _pair(self, batch: GraphSet, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        return self._pair_under(self.probabilities_, batch, generator)

    def _pair_under(
        self, probabilities: Tensor, batch: GraphSet, generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """Return projections of anchors and candidates under augmentations drawn from P."""
        share = self._share(batch)
        of_anchor = torch.full((len(share.graphs),), IDENTITY, device=batch.device)
        anchor = share.graphs
        if self._two_views:
            anchor, of_anchor = self._draw_views(probabilities, share, generator)
        candidate, of_candidate = self._draw_views(probabilities, share, generator)
        return (
            share.gather(self._project(anchor, *self._heads(of_anchor, anchor=True))),
            share.gather(self._project(candidate, *self._heads(of_candidate, anchor=False))),
        )

    def _draw_views(
        self, probabilities: Tensor, share: Share, generator: torch.Generator
    ) -> tuple[GraphSet, Tensor]:
        """Draw a view of each graph; return the views and the numbers of their augmentations."""
        batch = share.batch
        which = draw_augmentations(probabilities, len(batch), generator).to(batch.device)
        return share.changed(self._pool.by(which, batch, generator)), share.take(which)

    def _heads(self, which: Tensor, *, anchor: bool) -> tuple[Tensor, ...]:
        """Return further arguments for the projector: none here."""
        return ()

    def _before_epoch(
        self, epoch: int, batches: list[GraphSet], generator: torch.Generator
    ) -> Metrics:
        found = super()._before_epoch(epoch, batches, generator)
        if epoch:
            p, losses = self.probabilities_, self._losses(batches, generator)
            self.probabilities_ = project_to_simplex(p + losses - self.gamma * (p - 1 / len(p)))
        shown = zip(AUGMENTATIONS, self.probabilities_.tolist(), strict=True)
        return {**found, "augmentations": dict(shown)}

    @torch.no_grad()
    def _losses(self, batches: list[GraphSet], generator: torch.Generator) -> Tensor:
        """Return (5,) the mean loss under each augmentation alone, on a fifth of the batches."""
        some = batches[: len(batches) // 5 + 1]
        losses = torch.zeros_like(self.probabilities_)
        with self._looking():
            for number, alone in enumerate(torch.eye(len(losses), dtype=losses.dtype)):
                for batch in some:
                    pair = partial(self._pair_under, alone)
                    loss = self._loss_of(batch, pair, generator, observed=False)
                    losses[number] += float(loss) * len(batch)
        full = by_recipe(self, "full_batches")
        graphs = len(some) * self.batch_size if full else sum(map(len, some))
        return losses / graphs

    def _looking(self) -> AbstractContextManager[None]:
        if not by_recipe(self, "update_statistics"):
            return batch_statistics(self.network_)
        self.network_.train()
        return nullcontext()

    def _learned(self) -> dict[str, Tensor]:
        return {"augmentations": self.probabilities_, **super()._learned()}

    def _load_learned(self, tensors: dict[str, Tensor]) -> None:
        tensors = dict(tensors)
        self.probabilities_ = tensors.pop("augmentations")
        super()._load_learned(tensors)


def draw_augmentations(probabilities: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """Draw (count,) numbers of augmentations."""
    return torch.multinomial(probabilities, count, replacement=True, generator=generator)


class JOAOv2(JOAO):
    """JOAO with one projection head per augmentation.

    Parameters
    ----------
    recipe : {"default", "authors", "paper"}
        As for `JOAO`.
    heads : {"own", "epoch"}, optional
        "own": a view takes the head of its augmentation. "epoch": all anchors and ℓ take head 0,
        and all other views take one head per epoch, drawn from P. Decided by the recipe if None:
        "epoch" in the released code ("authors"), else "own".
    hardness, epochs, gamma, ratio, … :
        See `JOAO`.

    References
    ----------
    Y. You, T. Chen, Y. Shen and Z. Wang. "Graph Contrastive Learning Automated". ICML 2021.
    arXiv:2106.07594,
    doi:10.48550/arXiv.2106.07594.

    Examples
    --------
    >>> import augcl
    >>> graphs = augcl.load("MUTAG")
    >>> augcl.JOAOv2(epochs=2, random_state=0).fit_transform(graphs).shape
    (188, 96)
    """

    year = 2021

    def __init__(
        self,
        *,
        hardness: Hardness | str | None = None,
        recipe: str = "default",
        epochs: int = 40,
        warmup: int | None = None,
        gamma: float = 0.1,
        ratio: float = 0.2,
        growth: str | None = None,
        augment_anchor: bool | None = None,
        full_batches: bool | None = None,
        update_statistics: bool | None = None,
        heads: str | None = None,
        positive_in_denominator: bool = False,
        symmetric: bool = False,
        tau: float = 0.2,
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
        super().__init__(
            hardness=hardness,
            recipe=recipe,
            epochs=epochs,
            warmup=warmup,
            gamma=gamma,
            ratio=ratio,
            growth=growth,
            augment_anchor=augment_anchor,
            full_batches=full_batches,
            update_statistics=update_statistics,
            positive_in_denominator=positive_in_denominator,
            symmetric=symmetric,
            tau=tau,
            encoder=encoder,
            edge_features=edge_features,
            layers=layers,
            width=width,
            pooling=pooling,
            batch_size=batch_size,
            lr=lr,
            patience=patience,
            random_state=random_state,
            device=device,
            progress=progress,
            callbacks=callbacks,
            warm_start=warm_start,
        )
        self.heads = heads

    def _start(self) -> None:
        super()._start()
        self._one_head = one_of(by_recipe(self, "heads"), ("own", "epoch"), "heads") == "epoch"
        self._head_of_the_epoch = 0  # until an epoch begins

    def _head(self, width: int, generator: torch.Generator) -> nn.Module:
        return ManyHeads(len(AUGMENTATIONS), width, generator)

    def _heads(self, which: Tensor, *, anchor: bool) -> tuple[Tensor, ...]:
        if self._one_head:
            which = torch.full_like(which, 0 if anchor else self._head_of_the_epoch)
        return (which,)

    def _before_epoch(
        self, epoch: int, batches: list[GraphSet], generator: torch.Generator
    ) -> Metrics:
        self._head_of_the_epoch = 0  # while ℓ is measured
        found = super()._before_epoch(epoch, batches, generator)
        if self._one_head:
            self._head_of_the_epoch = int(draw_augmentations(self.probabilities_, 1, generator))
        return found
