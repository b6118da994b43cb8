"""The oracle: an upper bound for every weighting, from perfect knowledge of false negatives.

A partial oracle knows less: it finds them only among the candidates that a label-free affinity
ranks first, or it errs on purpose.
"""

from __future__ import annotations

import copy
import math

import numpy as np
import torch
from torch import Tensor

from augcl.checks import number, whole_number
from augcl.contract import check_fitted
from augcl.errors import InputError, one_of
from augcl.hardness.base import AFFINITIES, Batches, Hardness
from augcl.hardness.nearest import SMALLEST, nearest_candidates
from augcl.ops.hashing import combined


class Oracle(Hardness):
    """Weight negatives by their labels: NOT a method, but the upper bound of any weighting.

    Candidates of the anchor's own class (false negatives) get the weight `false_weight`, all others
    1. If the oracle gains nothing over plain training, no hardness can. A partial oracle, which
    finds only some of them, shows how much of that gain is reachable.

    Parameters
    ----------
    false_weight : float
        Weight of the candidates that the oracle takes for false negatives, from 0 (leave them out)
        to 1 (plain training).
    among : {"features", "propagated", "embedding", "projection"}, optional
        Find false negatives only among the nearest candidates of each anchor by this affinity
        (`top`), which needs no labels; see `NearestOut`. Among all candidates if None.
    top : float
        Share of the candidates of an anchor that are near; only used with `among`.
    precision : float
        Share of false negatives among the candidates that the oracle takes for them; below 1, it
        also takes true negatives, drawn at random.
    recall : float
        Share of the false negatives that it finds, drawn at random.
    refresh : int, optional
        Rank the candidates again every `refresh` epochs; once if None.
    random_state : int
        Seed of the errors if `fit` gets no generator. An error stays: each pair is drawn once.

    Examples
    --------
    >>> oracle = Oracle().with_labels(torch.tensor([0, 1, 1]))
    >>> z = torch.eye(3)
    >>> oracle.log_weights(z, z, z).exp().round().int().tolist()
    [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    """

    def __init__(
        self,
        false_weight: float = 0.0,
        *,
        among: str | None = None,
        top: float = 0.1,
        precision: float = 1.0,
        recall: float = 1.0,
        refresh: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.false_weight = false_weight
        self.among = among
        self.top = top
        self.precision = precision
        self.recall = recall
        self.refresh = refresh
        self.random_state = random_state

    labels_: Tensor
    first_: int
    numbers_: Tensor | None

    @property
    def affinity_of(self) -> str:  # type: ignore[override]
        return self.among or "projection"

    @property
    def waits(self) -> bool:
        return self.among not in (None, "features")

    @property
    def errs(self) -> bool:
        """Return whether the oracle errs on purpose."""
        return self.precision < 1 or self.recall < 1

    def fit(self, batches: Batches, *, generator: torch.Generator | None = None) -> Oracle:
        """Draw the seed of the errors; an oracle that does not err draws nothing."""
        self._check()
        if self.errs:
            generator = generator or torch.Generator().manual_seed(int(self.random_state))
            self.seed_ = int(torch.randint(2**62, (), generator=generator))
        return self

    def with_labels(
        self, labels: Tensor | None, *, first: int = 0, numbers: Tensor | None = None
    ) -> Oracle:
        """Return an oracle for one batch whose candidates have these labels (M,); −1: unknown.

        The anchors are the first of these candidates. `first` is the number of the first anchor
        where several batches are blocks of one matrix: each block has errors of its own. Where
        blocks overlap, give the `numbers` (M,) of the candidates: they decide the errors of a pair.
        """
        if labels is None:
            raise InputError("the oracle needs labels, but these data have none")
        oracle = copy.copy(self)
        oracle.labels_, oracle.first_, oracle.numbers_ = labels, first, numbers
        return oracle

    @torch.no_grad()
    def log_weights(self, anchors: Tensor, candidates: Tensor, affinity: Tensor) -> Tensor:
        check_fitted(
            self, "labels_", "the oracle has no labels yet: use oracle.with_labels(labels)"
        )
        log_w = torch.zeros_like(affinity)
        return log_w.masked_fill_(self._taken(affinity), math.log(max(self.false_weight, SMALLEST)))

    def _taken(self, affinity: Tensor) -> Tensor:
        """Return (N, M) bool: which candidates does the oracle take for false negatives?

        The positive pair is one of them unless the oracle is partial; it is no negative anyway.
        """
        of_anchors = self.labels_[: len(affinity), None]
        same = of_anchors == self.labels_
        false: Tensor = same & (of_anchors >= 0)
        if self.among is not None:
            near = nearest_candidates(affinity, self.top)
            false &= near
        if not self.errs:
            return false
        true = ~same & (of_anchors >= 0) & (self.labels_ >= 0)
        if self.among is not None:
            true &= near
        false.fill_diagonal_(fill_value=False)
        seed = getattr(self, "seed_", int(self.random_state)) + self.first_
        if self.numbers_ is None:
            generator = torch.Generator().manual_seed(seed)
            draw = torch.rand(affinity.shape, generator=generator).to(affinity.device)
        else:
            numbers = self.numbers_.cpu().numpy()
            pairs = combined(np.array([seed]), numbers[: len(affinity), None], numbers)
            unit = (pairs >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-24)
            draw = torch.from_numpy(unit).to(affinity.device)
        wrong = self.recall * false.sum(1, keepdim=True) * (1 - self.precision) / self.precision
        share = wrong / true.sum(1, keepdim=True).clamp_min(1)
        taken: Tensor = (false & (draw < self.recall)) | (true & (draw < share))
        return taken

    def state(self) -> dict[str, Tensor]:
        return {"seed": torch.tensor(self.seed_)} if hasattr(self, "seed_") else {}

    def load_state(self, state: dict[str, Tensor]) -> None:
        if state:
            self.seed_ = int(state["seed"])

    def _check(self) -> None:
        number("false_weight", self.false_weight, least=0, most=1)
        if self.among is not None:
            one_of(self.among, AFFINITIES, "among")
        number("top", self.top, above=0, most=1)
        number("precision", self.precision, above=0, most=1)
        number("recall", self.recall, least=0, most=1)
        if self.refresh is not None:
            whole_number("refresh", self.refresh, least=1)


def for_batch(
    hardness: Hardness,
    labels: Tensor | None,
    *,
    first: int = 0,
    numbers: Tensor | None = None,
) -> Hardness:
    """Return the hardness for a batch with these labels (M,); only the oracle gets to see them."""
    if not isinstance(hardness, Oracle):
        return hardness
    return hardness.with_labels(labels, first=first, numbers=numbers)
