"""ProGCL: a negative weighs its similarity times the probability that it is a true one."""

from __future__ import annotations

import math
from typing import Any

import torch
from sklearn.exceptions import NotFittedError
from torch import Tensor

from augcl.checks import number, whole_number
from augcl.errors import InputError, one_of
from augcl.hardness.base import Batches, Hardness
from augcl.hardness.beta_mixture import EDGE, BetaMixture
from augcl.ops.cosine import cosine


class ProGCL(Hardness):
    """Hardness by a beta mixture of the similarities (Xia et al., 2022).

    A mixture of two beta distributions is fitted to the similarities x = (s + 1) / 2 of sampled
    negatives; B_ij = P(lower component | x_ij) · x_ij, without gradient, is how hard a negative is.

    Parameters
    ----------
    mode : {"weight", "mix"}
        Weigh each negative by B over its row mean; or leave all as they are and add synthetic
        ones, mixed from the hardest.
    start : int, optional
        Epoch at which the mixture is fitted, once; if None where the method fits AUGCL (half of
        the epochs, on nodes at most 400: the published 400 of 2,500, and 10 of 20 on graphs).
    init_weight : float
        Weight of the upper component (false negatives) at the start of the fit.
    iterations : int
        Of expectation maximisation.
    columns : int
        Candidates drawn per batch of the fit.
    hardest : int
        Mode "mix": so many of each anchor's hardest negatives are mixed, in a random order.
    random_state : int
        Seed of the mixing order where no method gives a generator.

    Attributes
    ----------
    mixture_ : BetaMixture

    Examples
    --------
    >>> generator = torch.Generator().manual_seed(0)
    >>> z1 = torch.randn(32, 8, generator=generator)
    >>> z2 = z1 + 0.5 * torch.randn(32, 8, generator=generator)
    >>> hardness = ProGCL().fit([(z1, z2)])
    >>> weights = hardness.log_weights(z1, z2, cosine(z1, z2)).exp()
    >>> off_diagonal = weights.sum(1) - weights.diagonal()
    >>> bool((off_diagonal / 31 - 1).abs().max() < 1e-5)
    True
    """

    def __init__(
        self,
        mode: str = "weight",
        start: int | None = None,
        init_weight: float = 0.05,
        iterations: int = 10,
        *,
        columns: int = 100,
        hardest: int = 1000,
        random_state: int = 0,
    ) -> None:
        self.mode = mode
        self.start = start
        self.init_weight = init_weight
        self.iterations = iterations
        self.columns = columns
        self.hardest = hardest
        self.random_state = random_state

    def check(self) -> None:
        one_of(self.mode, ("weight", "mix"), "mode")
        number("init_weight", self.init_weight, above=0, below=1)
        for name, least in {"iterations": 1, "columns": 1, "hardest": 2}.items():
            whole_number(name, getattr(self, name), least=least)

    def first_epoch(self, epochs: int, usual: int) -> int:
        if self.start is None:
            return usual
        if not 0 <= self.start <= epochs:
            raise InputError(f"start is {self.start}: it must lie between 0 and {epochs} epochs")
        return self.start

    @property
    def mixed(self) -> int:  # type: ignore[override]
        return self.hardest if self.mode == "mix" else 0

    def begin_batch(self, labels: Tensor | None, generator: torch.Generator | None = None) -> None:
        self._generator = generator

    def permutation(self, count: int) -> Tensor:
        generator = getattr(self, "_generator", None)
        if generator is None:
            generator = torch.Generator().manual_seed(int(self.random_state))
        return torch.randperm(count, generator=generator)

    @torch.no_grad()
    def fit(self, batches: Batches, *, generator: torch.Generator | None = None) -> ProGCL:
        """Fit the mixture to the similarities of the batches, the positives left out."""
        self.check()
        if generator is None:
            generator = torch.Generator().manual_seed(int(self.random_state))
        found = [self._sample(*batch, generator) for batch in batches if len(batch[0]) > 1]
        if not found:
            raise InputError("ProGCL got no batches: it needs two graphs or more")
        self.mixture_ = BetaMixture.fit(
            torch.cat(found), weight_high=self.init_weight, iterations=self.iterations
        )
        return self

    def _sample(self, anchors: Tensor, candidates: Tensor, generator: torch.Generator) -> Tensor:
        """Similarities in [0, 1] of all anchors to some candidates other than their positives."""
        chosen = torch.randperm(len(candidates), generator=generator)[: self.columns]
        chosen = chosen.to(anchors.device)
        own = torch.arange(len(anchors), device=anchors.device)[:, None] == chosen
        return _similarity(cosine(anchors, candidates[chosen]))[~own]

    @property
    def fitted(self) -> bool:
        return hasattr(self, "mixture_")

    @torch.no_grad()
    def log_weights(self, anchors: Tensor, candidates: Tensor, affinity: Tensor) -> Tensor:
        """(N, M) log B_ij over the mean of its row, the positive left out; finite."""
        if not self.fitted:
            raise NotFittedError("ProGCL has no weights yet: call fit first")
        x = _similarity(affinity)
        log_b = self.mixture_.log_probability_low(x) + x.log()
        others = log_b.clone()
        others.fill_diagonal_(-1e30)  # row i of both is one positive pair
        count = max(others.shape[1] - 1, 1)
        return log_b - (others.logsumexp(1, keepdim=True) - math.log(count)).clamp_min(-1e29)

    def state(self) -> dict[str, Tensor]:
        if not self.fitted:
            return {}
        mixture = self.mixture_
        return {"mixture": torch.stack([mixture.alpha, mixture.beta, mixture.weight]).cpu()}

    def load_state(self, state: dict[str, Tensor]) -> None:
        if state:
            self.mixture_ = BetaMixture(*state["mixture"])

    def diagnose(self) -> dict[str, Any]:
        """Both components' means and the weight of the upper one; collapsed if one vanished."""
        if not self.fitted:
            return {}
        low, high = self.mixture_.mean.tolist()
        share = float(self.mixture_.weight[1])
        state = "alive" if 1e-3 < share < 1 - 1e-3 else "collapsed"
        return {"mean_low": low, "mean_high": high, "share_high": share, "state": state}


def _similarity(cosines: Tensor) -> Tensor:
    return ((cosines + 1) / 2).clamp(EDGE, 1 - EDGE)
