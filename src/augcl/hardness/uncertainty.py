"""The uncertainty of AUGCL: how unsure a small network is about the group of a pair.

`PairNetwork` maps all pairs (anchor i, candidate j) of a batch to logits. An `Estimator` has the
loss of these logits against the groups of `partition.py`, and reads the uncertainty u_ij from
them: `Gamblers` (AUGCL's, with the reward o), `SoftmaxResponse` or `Entropy`. `train_network` is
the training loop.
"""

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
    """Map [z_i ; ẑ_j ; s_ij] to logits for all pairs (i, j): three linear layers with ReLU.

    The first layer is W [z_i ; ẑ_j ; s_ij] = A z_i + C ẑ_j + a s_ij: two small products and a
    broadcast replace one product over all N · M pairs, and the pairs are never concatenated.

    Parameters
    ----------
    width : int
        D, width of an embedding.
    classes : int
        Logits per pair.
    hidden : int
        Units of each of the two hidden layers.
    generator : torch.Generator
        Draws the initial weights.
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
        """Return logits (N, M, classes) of anchors (N, D), candidates (M, D), affinities (N, M).

        Without affinities, s = 0.
        """
        rows, columns, for_affinity = self._factors(anchors, candidates)
        hidden = rows[:, None, :] + columns
        if affinity is not None:
            hidden.addcmul_(affinity[:, :, None], for_affinity)
        # Flattened to (pairs, hidden): through a 3-D view the in-place ReLU would copy gradients.
        logits: Tensor = self.last(self.middle(hidden.relu_().flatten(0, 1)).relu_())
        return logits.unflatten(0, hidden.shape[:2])  # type: ignore[no-any-return]

    def _factors(self, anchors: Tensor, candidates: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return A z_i + b (N, hidden), C ẑ_j (M, hidden) and a (hidden,)."""
        for_anchor, for_candidate, for_affinity = self.first.weight.split(
            [self.width, self.width, 1], dim=1
        )
        rows = linear(anchors, for_anchor, self.first.bias)
        return rows, linear(candidates, for_candidate), for_affinity[:, 0]

    @torch.no_grad()
    def blocked(
        self, anchors: Tensor, candidates: Tensor, affinity: Tensor | None, *, pairs: int = 4096
    ) -> Tensor:
        """Return the same logits as `forward`, without gradient, about `pairs` pairs at a time.

        The blocks share one buffer, which stays in the cache. Units are rows and pairs are columns:
        the last product, with its few outputs, is then twice as fast.
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
    """Define the loss of logits against groups, and the uncertainty as a function of logits."""

    classes: int = 2

    def loss(self, logits: Tensor, group: Tensor) -> Tensor:
        """Return the mean loss of logits (P, classes) against groups (P,) in {0, 1}."""
        return cross_entropy(logits, group)

    @abstractmethod
    def log_uncertainty(self, logits: Tensor) -> Tensor:
        """Return log u (…) of logits (…, classes); finite for finite logits."""

    @property
    def ignorance(self) -> float:
        """Return the loss of a model that has learned nothing about the groups."""
        return math.log(2)


@dataclass(frozen=True)
class Gamblers(Estimator):
    """Add a third class "I don't know", whose probability is the uncertainty u (Deep Gamblers).

    For a pair in group c the loss is −log(p_c + u / o) with the reward o: abstaining pays 1/o of a
    correct answer. With o < 2, abstaining everywhere (loss log o) beats guessing (loss log 2).

    Parameters
    ----------
    reward : float
        o, above 1. A larger reward makes the model abstain less.

    References
    ----------
    Z. Liu, Z. Wang, P. P. Liang, R. Salakhutdinov, L.-P. Morency and M. Ueda. "Deep Gamblers:
    Learning to Abstain with Portfolio Theory". NeurIPS 2019. arXiv:1907.00208,
    doi:10.48550/arXiv.1907.00208.
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
    """Use u = 1 − max_c p_c, which for two groups is the smaller probability.

    References
    ----------
    Y. Geifman and R. El-Yaniv. "Selective Classification for Deep Neural Networks". NeurIPS
    2017. arXiv:1705.08500,
    doi:10.48550/arXiv.1705.08500.
    """

    def log_uncertainty(self, logits: Tensor) -> Tensor:
        return _log_probabilities(logits).amin(0)


class Entropy(Estimator):
    """Use the entropy of the predicted group, u = −Σ_c p_c log p_c."""

    def log_uncertainty(self, logits: Tensor) -> Tensor:
        gap = (logits[..., 0] - logits[..., 1]).abs()
        surprise_likely, surprise_unlikely = softplus(-gap), softplus(gap)
        # −log p of the likely group is about e^{−gap}, which underflows; its logarithm is −gap.
        log_surprise = torch.where(gap > 15, -gap, surprise_likely.clamp_min(1e-7).log())
        terms = (logsigmoid(gap) + log_surprise, logsigmoid(-gap) + surprise_unlikely.log())
        return torch.logaddexp(*terms)


def _log_probabilities(logits: Tensor) -> Tensor:
    """Return log p (classes, …) of logits (…, classes): softmax over a last axis of 3 is slow."""
    return log_softmax(logits.movedim(-1, 0), dim=0)


def make_estimator(name: str, reward: float) -> Estimator:
    """Return an estimator by name: "gamblers", "softmax" or "entropy"."""
    return {"gamblers": Gamblers(reward), "softmax": SoftmaxResponse(), "entropy": Entropy()}[name]


class Pairs(NamedTuple):
    """All pairs of one batch: inputs of the network, and the group (N, M) of each pair."""

    anchors: Tensor
    candidates: Tensor
    affinity: Tensor | None
    group: Tensor


OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "adam": partial(Adam, foreach=True),  # in a small network the number of calls decides the time
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
    """Train the network: first with cross-entropy (warm-up), then with the estimator's own loss.

    The warm-up lasts `warmup` passes. It continues, up to three times as long, while the network is
    no better than one that has learned nothing: from there the estimator's loss would fall fastest
    towards abstaining everywhere. The loss of an update is the mean over its anchors of the mean or
    sum (`reduction`) over their candidates. The first pass uses every pair. Later passes use random
    anchors of each batch with all their candidates, about `pairs_per_pass` pairs in total.
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
    # Cross-entropy over all three outputs would drive the third, "I don't know", to almost zero
    # everywhere, and from there it returns slowly.
    return cross_entropy(logits[:, :2], group)


class _Prepared(Iterable[Pairs]):
    """Iterate over batches with their groups; the groups of a list are computed only once."""

    def __init__(self, batches: Batches, prepare: Callable[[Tensor, Tensor], Pairs]) -> None:
        self.batches = batches
        self.prepare = prepare
        self.once = [prepare(*b) for b in batches] if isinstance(batches, Sequence) else None

    def __iter__(self) -> Iterator[Pairs]:
        if self.once is not None:
            return iter(self.once)
        return (self.prepare(*batch) for batch in self.batches)
