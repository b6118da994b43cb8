"""GraphCL, with any hardness of negatives: with affinity uncertainty it is AUGCL."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from augcl.data.graph import GraphSet
from augcl.data.wl import wl_rows
from augcl.errors import InputError, one_of
from augcl.hardness import Hardness
from augcl.methods.contrast import ContrastiveGraphMethod
from augcl.methods.recipes import by_recipe
from augcl.training.batches import GROUP, neighbor_batches
from augcl.training.callbacks import Callbacks
from augcl.views import Augmentation, Edit, View, make_view


class GraphCL(ContrastiveGraphMethod):
    """Pull a graph and its view together, push the other graphs of the batch away.

    Parameters
    ----------
    hardness : Hardness or {"none", "augcl", "dcl", "hcl", "progcl", "nearest"}
        How hard each negative is. A name takes the settings of `recipe`.
    recipe : {"default", "authors", "paper"}
        Decides `warmup`, whether the anchor is augmented too, and the settings of a named
        hardness.
    epochs : int
        All epochs, with and without weights; 0 gives the untrained encoder.
    warmup : int, optional
        Epochs before the weights of the hardness count. If None, a hardness that learns waits as
        long as the recipe says (half of the epochs by default), any other counts at once.
    augmentation : str or callable
        "random2" (node dropping or subgraph), "random3" (+ edge perturbation), "random4"
        (+ attribute masking), one of "node-drop", "edge-perturb", "subgraph", "attribute-mask",
        or "identity". Or a function of your own from a GraphSet and a torch.Generator to a GraphSet
        with as many graphs, for instance one of `augcl.views`. A model file keeps only its name:
        the loaded model embeds graphs, but to train it again you set ``augmentation`` again.
    growth : {"star", "walk"}, optional
        How a subgraph grows: the released code's one-hop star, or a random walk; by the recipe
        if None (the star by default).
    augment_anchor : bool, optional
        Both views are augmented; by the recipe if None (False by default).
    positive_in_denominator, symmetric :
        See `info_nce`.
    tau : float, optional
        See `info_nce`; by the recipe if None (0.05 by default, 0.2 as published).
    encoder : Module, optional
        A PyG-style module, (x, edge_index) to (V, D); GIN with `layers` and `width` if None.
    edge_features : bool, optional
        Use what the data know of the edges, such as the order of a bond: GIN becomes GINE, which
        adds a linear map of the edge's features to every message; an encoder of your own is called
        as ``encoder(x, edge_index, edge_attr)``. If None, GIN uses them where there are any and
        the recipe is "default"; an encoder of your own does not get them.
    pooling : {"sum", "mean", "both"}
        How node values become a graph embedding; "both" puts sum and mean side by side.
    batches : {"random", "neighbors"}
        Which graphs share a batch: random ones, as published, or groups of 8 whose counts of
        Weisfeiler–Lehman labels are similar (16 groups fill 128), which are harder to tell apart.
    batch_size, lr : int, float
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
    network_ : ContrastiveNetwork
    hardness_ : Hardness
    history_ : list of dict
        One entry per epoch: loss, seconds and the spread of the weights.

    References
    ----------
    Y. You, T. Chen, Y. Sui, T. Chen, Z. Wang and Y. Shen. "Graph Contrastive Learning with
    Augmentations". NeurIPS 2020. arXiv:2010.13902,
    doi:10.48550/arXiv.2010.13902.

    Examples
    --------
    >>> import augcl
    >>> graphs = augcl.load("MUTAG")
    >>> model = augcl.GraphCL(hardness="augcl", epochs=2, random_state=0).fit(graphs)
    >>> model.transform(graphs).shape
    (188, 96)
    """

    year = 2020

    def __init__(
        self,
        *,
        hardness: Hardness | str | None = None,
        recipe: str = "default",
        epochs: int = 40,
        warmup: int | None = None,
        augmentation: str | Augmentation = "random2",
        growth: str | None = None,
        augment_anchor: bool | None = None,
        positive_in_denominator: bool = True,
        symmetric: bool = False,
        tau: float | None = None,
        encoder: nn.Module | None = None,
        edge_features: bool | None = None,
        layers: int = 3,
        width: int = 32,
        pooling: str = "sum",
        batches: str = "random",
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
        self.augmentation = augmentation
        self.growth = growth
        self.augment_anchor = augment_anchor
        self.positive_in_denominator = positive_in_denominator
        self.symmetric = symmetric
        self.tau = tau
        self.encoder = encoder
        self.edge_features = edge_features
        self.layers = layers
        self.width = width
        self.pooling = pooling
        self.batches = batches
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
        one_of(self.batches, ("random", "neighbors"), "kind of batches")
        if self.batches == "neighbors" and self.batch_size % GROUP:
            raise InputError(
                f"batch_size is {self.batch_size}: batches='neighbors' puts {GROUP} similar graphs "
                f"side by side, so give a multiple of {GROUP}"
            )
        self._view = make_view(self.augmentation, growth=by_recipe(self, "growth"))
        self._anchors_stay = not by_recipe(self, "augment_anchor")

    def _batches(self, data: GraphSet, generator: torch.Generator) -> list[GraphSet]:
        if self.batches == "random":
            return super()._batches(data, generator)
        return neighbor_batches(data, wl_rows(data), int(self.batch_size), generator)

    def edits(self, graphs: GraphSet, generator: torch.Generator) -> tuple[Edit, Edit] | None:
        """Return what two views change; None if the augmentation is a function of the user."""
        if not isinstance(self._view, View):
            return None
        every = torch.ones(len(graphs), dtype=torch.bool, device=graphs.device)
        anchor = Edit() if self._anchors_stay else self._view.edit(graphs, every, generator)
        return anchor, self._view.edit(graphs, every, generator)

    def _pair(
        self, batch: GraphSet, generator: torch.Generator, anchors: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        share = self._share(batch)
        anchor = share.graphs if self._anchors_stay else share.view(self._view, generator)
        candidate = share.view(self._view, generator)
        anchors = share.gather(self._project(anchor)) if anchors is None else anchors
        return anchors, share.gather(self._project(candidate))
