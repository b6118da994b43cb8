"""When a hardness sets in, when it is fitted, and on what."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from augcl.data.graph import GraphSet
from augcl.errors import InputError
from augcl.hardness import Hardness
from augcl.training.method import whole_number

Pair = Callable[[GraphSet, torch.Generator], tuple[Tensor, Tensor]]
"""From a batch to the projections of its anchors and of its candidates."""


def first_epoch(hardness: Hardness, *, warmup: int | None, epochs: int, usual: int) -> int:
    """The epoch at which the hardness sets in: `warmup` if given, else as it says itself."""
    if warmup is None:
        return hardness.first_epoch(epochs, usual)
    whole_number("warmup", warmup, least=0)
    if warmup > epochs:
        raise InputError(f"warmup is {warmup}: it must lie between 0 and {epochs}")
    return warmup


def fit_due(hardness: Hardness, since: int) -> bool:
    """Whether it is to be fitted so many epochs after it set in."""
    refresh = hardness.refresh
    return since == 0 or (refresh is not None and since > 0 and since % refresh == 0)


class EmbeddedBatches:
    """Projections of all batches under fresh views, anew at every pass."""

    def __init__(self, pair: Pair, batches: list[GraphSet], generator: torch.Generator) -> None:
        self.pair = torch.no_grad()(pair)
        self.batches = batches
        self.generator = generator

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        return (self.pair(batch, self.generator) for batch in self.batches if len(batch) > 1)
