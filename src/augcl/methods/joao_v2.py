"""JOAOv2: JOAO with a projection head for every augmentation."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from augcl.data.graph import GraphSet
from augcl.encoders.heads import ManyHeads
from augcl.hardness import Hardness
from augcl.methods.joao import AUGMENTATIONS, JOAO, draw
from augcl.training.loop import Metrics


class JOAOv2(JOAO):
    """JOAO whose views go through the projection head of their own augmentation.

    Parameters
    ----------
    recipe : {"default", "authors", "paper"}
        As for `JOAO`; "authors" besides takes head 0 for all anchors and for ℓ, and for all other
        views one head an epoch, drawn from P whatever their augmentation is.
    hardness, epochs, gamma, ratio, … :
        See `JOAO`.

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
        positive_in_denominator: bool = False,
        symmetric: bool = False,
        tau: float = 0.2,
        encoder: nn.Module | None = None,
        layers: int = 3,
        width: int = 32,
        pooling: str = "sum",
        batch_size: int = 128,
        lr: float = 0.001,
        random_state: int | None = 0,
        device: str = "cpu",
        progress: bool = True,
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
            positive_in_denominator=positive_in_denominator,
            symmetric=symmetric,
            tau=tau,
            encoder=encoder,
            layers=layers,
            width=width,
            pooling=pooling,
            batch_size=batch_size,
            lr=lr,
            random_state=random_state,
            device=device,
            progress=progress,
        )

    def _start(self) -> None:
        super()._start()
        self._head_of_the_epoch = 0  # until an epoch begins

    def _head(self, width: int, generator: torch.Generator) -> nn.Module:
        return ManyHeads(len(AUGMENTATIONS), width, generator)

    def _heads(self, which: Tensor, *, anchor: bool) -> tuple[Tensor, ...]:
        if self._authors:
            which = torch.full_like(which, 0 if anchor else self._head_of_the_epoch)
        return (which,)

    def _before_epoch(
        self, epoch: int, batches: list[GraphSet], generator: torch.Generator
    ) -> Metrics:
        self._head_of_the_epoch = 0  # while ℓ is measured
        found = super()._before_epoch(epoch, batches, generator)
        if self._authors:
            self._head_of_the_epoch = int(draw(self.probabilities_, 1, generator))
        return found
