"""What every hardness method is: how one anchor's negatives become one number."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from sklearn.base import BaseEstimator
from torch import Tensor

Batches = Iterable[tuple[Tensor, Tensor]]


class Hardness(BaseEstimator):  # type: ignore[misc]
    """The log-mass of the negatives: log Σ_j w_ij · exp(s_ij / τ), with w = 1 in this base class.

    A method overrides `log_weights` (AUGCL: which negatives count how much) or `log_mass`
    (DCL: what their sum says), and `fit` if it learns something. It knows nothing of the
    contrastive method that uses it.
    """

    powers: tuple[float, ...] = (1.0,)
    """The sums Σ_j w_ij · exp(p · s_ij / τ) that `log_mass` needs, by p."""

    mixed: int = 0
    """So many synthetic negatives are mixed from the heaviest ones; then none is weighted."""

    refresh: int | None = None
    """It is fitted anew every so many epochs; if None once."""

    def check(self) -> None:
        """Raise `InputError` for settings that cannot be."""

    def first_epoch(self, epochs: int, usual: int) -> int:
        """The epoch at which it sets in; `usual` is where one sets in that has to be fitted."""
        return usual

    def begin_batch(self, labels: Tensor | None, generator: torch.Generator | None = None) -> None:
        """Told before each batch: its labels, if any, and where random draws come from."""

    def fit(self, batches: Batches, *, generator: torch.Generator | None = None) -> Hardness:
        """Learn from pairs (anchors (N, D), candidates (M, D)); row i of both is one positive pair.

        `batches` is iterated once per pass; it may give fresh embeddings each time.
        """
        return self

    @property
    def fitted(self) -> bool:
        """Whether the weights can be read."""
        return True

    @property
    def weighs(self) -> bool:
        """Whether it gives weights to pairs."""
        return type(self).log_weights is not Hardness.log_weights

    def log_weights(self, anchors: Tensor, candidates: Tensor, affinity: Tensor) -> Tensor | None:
        """(N, M) log w_ij, without gradient; None where all weights are 1.

        Parameters
        ----------
        anchors, candidates : (N, D), (M, D)
            Embeddings as the projector gives them; M ≥ N, and row i of both is one positive pair.
        affinity : (N, M)
            Their cosines.
        """
        return None

    def log_mass(self, log_sums: Tensor, positive: Tensor, *, count: int, tau: float) -> Tensor:
        """(N,) log-mass of the negatives.

        Parameters
        ----------
        log_sums : (P, N)
            log Σ_j w_ij · exp(p · s_ij / τ) over the negatives j of each anchor, for each p of
            `powers`.
        positive : (N,)
            s_ii / τ.
        count : int
            How many negatives each anchor has.
        """
        return log_sums[0]

    def permutation(self, count: int) -> Tensor:
        """(count,) a random order: which of the heaviest negatives are mixed with which."""
        raise NotImplementedError(f"{type(self).__name__} mixes no negatives")

    def state(self) -> dict[str, Tensor]:
        """What was learned, for a model file."""
        return {}

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Take back what `state` gave."""

    def diagnose(self) -> dict[str, Any]:
        """Numbers that tell whether the method is alive, for metrics and reports."""
        return {}


class Uniform(Hardness):
    """Every negative counts the same: GraphCL, GRACE and GCA as published."""
