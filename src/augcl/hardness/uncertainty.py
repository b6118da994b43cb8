"""How unsure a small network is about the group of a pair: the models behind the weights."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, linear, log_softmax, logsigmoid, softplus

from augcl.encoders.heads import glorot_linear
from augcl.errors import one_of
from augcl.hardness.base import Batches
from augcl.ops.adam import Adam


class PairNetwork(nn.Module):
    """Three linear maps on [z_i ; ẑ_j ; s_ij] for all pairs (i, j), without building the pairs.

    W [z_i ; ẑ_j ; s_ij] = A z_i + C ẑ_j + a s_ij: two small products and a broadcast stand in for
    the first product over all N · M pairs.

    Parameters
    ----------
    width : int
        D, width of an embedding.
    classes : int
        Outputs per pair.
    hidden : int
        Units of both hidden layers.
    """

    def __init__(
        self, width: int, classes: int, *, hidden: int = 128, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.width = width
        self.first = glorot_linear(2 * width + 1, hidden, generator)
        self.middle = glorot_linear(hidden, hidden, generator)
        self.last = glorot_linear(hidden, classes, generator)

    def forward(self, anchors: Tensor, candidates: Tensor, affinity: Tensor | None) -> Tensor:
        """(N, D), (M, D) and (N, M) to logits (N, M, classes); without affinities, s = 0."""
        rows, columns, for_affinity = self._factors(anchors, candidates)
        hidden = rows[:, None, :] + columns
        if affinity is not None:
            hidden.addcmul_(affinity[:, :, None], for_affinity)
        # Pairs in one row: torch copies gradients of what is changed in place through a view.
        logits: Tensor = self.last(self.middle(hidden.relu_().flatten(0, 1)).relu_())
        return logits.unflatten(0, hidden.shape[:2])  # type: ignore[no-any-return]

    def _factors(self, anchors: Tensor, candidates: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """A z_i + b, C ẑ_j and a."""
        for_anchor, for_candidate, for_affinity = self.first.weight.split(
            [self.width, self.width, 1], dim=1
        )
        rows = linear(anchors, for_anchor, self.first.bias)
        return rows, linear(candidates, for_candidate), for_affinity[:, 0]

    @torch.no_grad()
    def blocked(
        self, anchors: Tensor, candidates: Tensor, affinity: Tensor | None, *, pairs: int = 4096
    ) -> Tensor:
        """`forward`, some rows at a time in the same memory, which so stays in the cache.

        Units are rows and pairs are columns here: the last product, with its few outputs, is then
        twice as fast.
        """
        rows, columns, for_affinity = self._factors(anchors, candidates)
        rows, columns = rows.t().contiguous()[:, :, None], columns.t().contiguous()[:, None, :]
        N, M, hidden = len(anchors), len(candidates), len(for_affinity)
        step = max(1, pairs // max(1, M))
        memory = rows.new_empty(2, hidden * min(step, N) * M)
        logits = rows.new_empty(self.last.out_features, N * M)
        for start in range(0, N, step):
            some = rows[:, start : start + step]
            h, k = memory[:, : some.numel() * M].view(2, hidden, -1)
            torch.add(some, columns, out=h.view(hidden, -1, M))
            if affinity is not None:
                h.addcmul_(affinity[start : start + step].reshape(1, -1), for_affinity[:, None])
            h.relu_()
            torch.addmm(self.middle.bias[:, None], self.middle.weight, h, out=k).relu_()
            out = logits[:, start * M : (start + some.shape[1]) * M]
            torch.addmm(self.last.bias[:, None], self.last.weight, k, out=out)
        return logits.view(-1, N, M).permute(1, 2, 0)


class Estimator(ABC):
    """Loss of a pair's logits against its group, and the log-uncertainty read from them."""

    classes: int = 2

    def loss(self, logits: Tensor, group: Tensor) -> Tensor:
        """Mean loss of logits (P, classes) for groups (P,) in {0, 1}."""
        return cross_entropy(logits, group)

    @abstractmethod
    def log_uncertainty(self, logits: Tensor) -> Tensor:
        """(…, classes) logits to (…) log u, finite for finite logits."""

    @property
    def ignorance(self) -> float:
        """The loss of a model that has learned nothing about the groups."""
        return math.log(2)


@dataclass(frozen=True)
class Gamblers(Estimator):
    """A third output u, "I don't know", that pays 1/reward of a right answer (Deep Gamblers).

    The loss is −log(p_c + u / o). With o < 2, abstaining (loss log o) beats guessing (log 2).

    References
    ----------
    Z. Liu, Z. Wang, P. P. Liang, R. Salakhutdinov, L.-P. Morency and M. Ueda. "Deep Gamblers:
    Learning to Abstain with Portfolio Theory". NeurIPS 2019. arXiv:1907.00208.
    """

    reward: float = 1.9
    classes: int = 3

    def loss(self, logits: Tensor, group: Tensor) -> Tensor:
        log_p = log_softmax(logits, dim=-1)
        right = log_p.gather(-1, group[..., None]).squeeze(-1)
        return -torch.logaddexp(right, log_p[..., 2] - math.log(self.reward)).mean()

    def log_uncertainty(self, logits: Tensor) -> Tensor:
        return _log_probabilities(logits)[2]

    @property
    def ignorance(self) -> float:
        return math.log(self.reward)


class SoftmaxResponse(Estimator):
    """u = 1 − max_c p_c, which for two groups is the smaller probability.

    References
    ----------
    Y. Geifman and R. El-Yaniv. "Selective Classification for Deep Neural Networks". NeurIPS
    2017. arXiv:1705.08500.
    """

    def log_uncertainty(self, logits: Tensor) -> Tensor:
        return _log_probabilities(logits).amin(0)


class Entropy(Estimator):
    """u = −Σ_c p_c log p_c."""

    def log_uncertainty(self, logits: Tensor) -> Tensor:
        gap = (logits[..., 0] - logits[..., 1]).abs()
        surprise_likely, surprise_unlikely = softplus(-gap), softplus(gap)
        # −log p of the likely group is about e^{−gap}, which underflows long before −gap does.
        log_surprise = torch.where(gap > 15, -gap, surprise_likely.clamp_min(1e-7).log())
        terms = (logsigmoid(gap) + log_surprise, logsigmoid(-gap) + surprise_unlikely.log())
        return torch.logaddexp(*terms)


def _log_probabilities(logits: Tensor) -> Tensor:
    """(…, classes) logits to (classes, …) log p: over a last axis of 3 it would be slow."""
    return log_softmax(logits.movedim(-1, 0), dim=0)


def make_estimator(name: str, reward: float) -> Estimator:
    """The estimator of that name."""
    return {"gamblers": Gamblers(reward), "softmax": SoftmaxResponse(), "entropy": Entropy()}[name]


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
