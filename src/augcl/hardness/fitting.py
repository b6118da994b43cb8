"""Training of the pair network on the groups of a partition."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from augcl.errors import one_of
from augcl.hardness.base import Batches
from augcl.hardness.uncertainty import Estimator, PairNetwork
from augcl.ops.adam import Adam


class Pairs(NamedTuple):
    """The pairs of one batch as the network sees them."""

    anchors: Tensor
    candidates: Tensor
    affinity: Tensor | None
    group: Tensor


OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "adam": partial(Adam, foreach=True),  # a small network: calls are what takes time
    "sgd": torch.optim.SGD,
}


def train_network(
    network: PairNetwork,
    estimator: Estimator,
    batches: Batches,
    prepare: Callable[[Tensor, Tensor], Pairs],
    *,
    warmup: int,
    passes: int,
    optimizer: str,
    lr: float,
    reduction: str,
    pair_batch: int,
    pairs_per_pass: int | None,
    generator: torch.Generator,
) -> None:
    """Cross-entropy warm-up, then the estimator's own loss.

    The warm-up lasts `warmup` passes, and up to three times as many while the network is no
    better than one that knows nothing: from such a start, abstaining everywhere is downhill.
    An update minimises the mean over its anchors of the mean or the sum (`reduction`) over their
    candidates. The first pass sees every pair; the others a share of the anchors of each batch,
    against all their candidates, so that they come to about `pairs_per_pass`.
    """
    make = OPTIMIZERS[one_of(optimizer, OPTIMIZERS, "optimizer")]
    steps = make(network.parameters(), lr=lr)
    source = _Prepared(batches, prepare)

    share = 1.0

    def one_pass(loss: Callable[[Tensor, Tensor], Tensor]) -> float:
        nonlocal share
        losses, total = [], 0
        for pairs in source:
            total += pairs.group.numel()
            seen = math.ceil(share * len(pairs.anchors))
            order = torch.randperm(len(pairs.anchors), generator=generator)[:seen]
            rows = max(1, pair_batch // max(1, len(pairs.candidates)))
            for some in order.to(pairs.anchors.device).split(rows):
                affinity = None if pairs.affinity is None else pairs.affinity[some]
                logits = network(pairs.anchors[some], pairs.candidates, affinity)
                value = loss(logits.flatten(0, 1), pairs.group[some].flatten())
                steps.zero_grad()
                (value if reduction == "mean" else value * len(pairs.candidates)).backward()
                steps.step()
                losses.append(value.detach())
        share = 1.0 if pairs_per_pass is None else min(1.0, pairs_per_pass / total)
        return float(torch.stack(losses).mean())

    for done in range(3 * warmup):
        if one_pass(_two_way) < estimator.ignorance and done + 1 >= warmup:
            break
    for _ in range(passes):
        one_pass(estimator.loss)


def _two_way(logits: Tensor, group: Tensor) -> Tensor:
    # Without the answer "I don't know": cross-entropy over all three would first drive it to
    # zero everywhere, and what is almost zero comes back slowly.
    return cross_entropy(logits[:, :2], group)


class _Prepared(Iterable[Pairs]):
    """Batches with their groups; a list never changes, so its groups are found once."""

    def __init__(self, batches: Batches, prepare: Callable[[Tensor, Tensor], Pairs]) -> None:
        self.batches = batches
        self.prepare = prepare
        self.once = [prepare(*b) for b in batches] if isinstance(batches, Sequence) else None

    def __iter__(self) -> Iterator[Pairs]:
        if self.once is not None:
            return iter(self.once)
        return (self.prepare(*batch) for batch in self.batches)
