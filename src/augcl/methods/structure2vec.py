"""structure2vec as a classifier of graphs, with or without contrastive pre-training."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from augcl.checks import whole_number
from augcl.data import GraphSet
from augcl.encoders.classifier import EdgeFactors, GraphClassifier
from augcl.encoders.structure2vec import Structure2Vec
from augcl.errors import InputError
from augcl.hardness import Hardness, Uniform
from augcl.methods.hardened_loss import HardenedLoss
from augcl.methods.onset import EmbeddedBatches, Onset
from augcl.methods.recipes import chosen_hardness, get_recipe
from augcl.training.checkpoint import Snapshot, prefixed
from augcl.training.classifier import GraphClassifierEstimator
from augcl.training.loop import Metrics
from augcl.views.star_drop import VictimDrop

PUBLISHED_EPOCHS, PUBLISHED_PRETRAINING = 1000, 101


class Structure2VecClassifier(GraphClassifierEstimator):
    """Learns to tell classes of graphs; what the attacks attack (Dai et al. 2018).

    Parameters
    ----------
    depth : int
        Rounds of propagation; the paper's table has 2, 3 and 4.
    pretrain : bool
        Contrast graphs with views of them first, without labels, in the same training.
    hardness : Hardness or {"none", "augcl", "dcl", "hcl", "progcl"}, optional
        How hard each negative of the pre-training is: "none" is GraphCL's. Any other needs
        ``pretrain=True``.
    recipe : {"default", "authors"}
        "authors": the epoch with the lowest loss on `test` (see `fit`) is kept, batches are drawn
        anew for every epoch, the view of the pre-training is the released code's star, and the
        positive is left out of the denominator where no hardness weighs. By default an epoch is
        chosen on graphs held out of the training set, batches are drawn once, and views are what
        they are meant to be.
    epochs : int
        All epochs; published are up to 1000.
    pretrain_epochs : int, optional
        How many of them contrast; if None the published share, 101 of 1000, but at least one.
    validation : float
        Share of the training graphs held out to choose the epoch; 0 keeps the last epoch.
    view : {"intended", "authors", "plain"}, optional
        How 20 % of the nodes are dropped, see `VictimDrop`; by the recipe if None.
    tau : float
        Temperature of the pre-training.
    width, hidden : int
        Of an embedding, and of the layer between it and the classes.
    batch_size, lr : int, float
        A last batch that is not full is left out, as published.
    random_state : int or None
    device : str
    progress : bool

    Attributes
    ----------
    classes_ : (C,) array
    network_ : GraphClassifier
    best_epoch_ : int or None
        The epoch that was kept, counted from 1.
    history_ : list of dict
        One entry per epoch: loss, phase, `selection_loss` and seconds.

    Examples
    --------
    >>> import augcl
    >>> graphs = augcl.load("MUTAG")
    >>> model = augcl.Structure2VecClassifier(epochs=3, random_state=0).fit(graphs)
    >>> model.predict(graphs).shape, model.predict_proba(graphs).shape
    ((188,), (188, 2))
    """

    year = 2016

    def __init__(
        self,
        *,
        depth: int = 2,
        pretrain: bool = False,
        hardness: Hardness | str | None = None,
        recipe: str = "default",
        epochs: int = 100,
        pretrain_epochs: int | None = None,
        validation: float = 0.1,
        view: str | None = None,
        tau: float = 0.5,
        width: int = 64,
        hidden: int = 32,
        batch_size: int = 50,
        lr: float = 0.001,
        random_state: int | None = 0,
        device: str = "cpu",
        progress: bool = True,
    ) -> None:
        self.depth = depth
        self.pretrain = pretrain
        self.hardness = hardness
        self.recipe = recipe
        self.epochs = epochs
        self.pretrain_epochs = pretrain_epochs
        self.validation = validation
        self.view = view
        self.tau = tau
        self.width = width
        self.hidden = hidden
        self.batch_size = batch_size
        self.lr = lr
        self.random_state = random_state
        self.device = device
        self.progress = progress

    @property
    def _contrasted(self) -> int:
        """Epochs of pre-training."""
        if not self.pretrain:
            return 0
        if self.pretrain_epochs is not None:
            return self.pretrain_epochs
        share = round(self.epochs * PUBLISHED_PRETRAINING / PUBLISHED_EPOCHS)
        return min(max(1, share), max(0, self.epochs - 1))  # both phases, in a short training too

    def _start(self) -> None:
        super()._start()
        for name in ("depth", "width", "hidden"):
            whole_number(name, getattr(self, name), least=1)
        whole_number("pretrain_epochs", self._contrasted, least=0)
        if self._contrasted > self.epochs:
            raise InputError(f"pretrain_epochs is {self._contrasted}, more than all {self.epochs}")
        recipe = get_recipe(self.recipe)
        self.hardness_ = chosen_hardness(self.hardness, recipe)
        if not (self.pretrain or isinstance(self.hardness_, Uniform)):
            raise InputError(
                f"hardness {type(self.hardness_).__name__} weighs the negatives of a pre-training, "
                "and there is none: give pretrain=True, or drop it"
            )
        self._view = VictimDrop(form=self.view or ("authors" if self._authors else "intended"))
        contrasted = self._contrasted
        self._onset = Onset(self.hardness_, epochs=contrasted, usual=contrasted // 2)
        self._contrast = HardenedLoss(
            self._onset,
            tau=self.tau,
            positive_in_denominator=not (self._authors and isinstance(self.hardness_, Uniform)),
        )
        self._contrasting = False

    def _build(self, features: int, generator: torch.Generator) -> GraphClassifier:
        encoder = Structure2Vec(features, width=self.width, depth=self.depth, generator=generator)
        return GraphClassifier(
            encoder, hidden=self.hidden, classes=len(self.classes_), generator=generator
        )

    def _pair(
        self, batch: GraphSet, generator: torch.Generator, anchors: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        view = self._view(batch, generator)
        anchors = self.network_.project(batch) if anchors is None else anchors
        return anchors, self.network_.project(view)

    def _before_epoch(
        self, epoch: int, batches: list[GraphSet], generator: torch.Generator
    ) -> Metrics:
        super()._before_epoch(epoch, batches, generator)
        self._contrasting = epoch < self._contrasted
        if not self._contrasting:
            return {"phase": "supervised"}
        pairs = EmbeddedBatches(self._pair, batches, generator, anchors_stay=True)
        return {"phase": "contrastive", **self._onset.before_epoch(epoch, pairs, generator)}

    def _loss(self, batch: GraphSet, generator: torch.Generator) -> Tensor:
        if self._contrasting:
            return self._contrast(*self._pair(batch, generator), batch.y, generator)
        assert batch.y is not None
        return cross_entropy(self.network_(batch), batch.y)

    def _after_epoch(self) -> Metrics:
        return {**self._contrast.monitor.read(), **super()._after_epoch()}

    @property
    def _competes(self) -> bool:
        # The released code lets contrastive losses of the first phase compete, too.
        return self._authors or not self._contrasting

    def _learned(self) -> dict[str, Tensor]:
        return {**super()._learned(), **prefixed("hardness", self.hardness_.state())}

    def _load_learned(self, tensors: dict[str, Tensor]) -> None:
        super()._load_learned(tensors)
        self.hardness_.load_state(Snapshot(tensors, {}).part("hardness"))

    def edge_factors(self, graphs: GraphSet, targets: Tensor) -> list[EdgeFactors]:
        """The gradients of −log P(class number targets[r, g]) for every pair of nodes."""
        data = self._read(graphs)
        where = next(self.network_.parameters()).device
        factors: list[EdgeFactors] = self.network_.edge_factors(data.to(where), targets.to(where))
        return [factor.to(data.device) for factor in factors]
