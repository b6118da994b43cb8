"""What every hardness is: a rule that turns the negatives of an anchor into one number.

loss_i = −s_ii/τ + logaddexp( s_ii/τ , log_mass_i ),   log_mass_i = log Σ_j w_ij · exp(s_ij/τ)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from sklearn.base import BaseEstimator
from torch import Tensor

Batches = Iterable[tuple[Tensor, Tensor]]
"""Pairs (anchors (N, D), candidates (M, D)); row i of both is one positive pair."""


class Hardness(BaseEstimator):  # type: ignore[misc]
    """Decide how much each negative counts; in this base class all count the same.

    A method overrides `log_weights` (AUGCL, ProGCL: the weight of each negative) or `log_mass`
    (DCL, HCL: what their sum becomes), and `fit` if it learns something. It knows nothing of the
    contrastive method that uses it: when it is fitted and when its weights begin to count is
    decided there (`augcl.methods.contrast`).

    Examples
    --------
    A hardness of your own, which ignores the negatives that are no nearer than a right angle:

    >>> import augcl
    >>> class Near(Hardness):
    ...     def log_weights(self, anchors, candidates, affinity):
    ...         return torch.where(affinity > 0, 0.0, -1e30)
    >>> z = torch.eye(3)
    >>> augcl.info_nce(z, z, hardness=Near()).item()
    0.0
    """

    powers: tuple[float, ...] = (1.0,)
    """The exponents p of the sums Σ_j w_ij · exp(p · s_ij / τ) that `log_mass` needs."""

    def fit(self, batches: Batches, *, generator: torch.Generator | None = None) -> Hardness:
        """Learn from batches of pairs, which are read once per pass and may differ each time."""
        return self

    def log_weights(self, anchors: Tensor, candidates: Tensor, affinity: Tensor) -> Tensor | None:
        """Return the (N, M) log w_ij, without gradient; None where all weights are 1.

        Parameters
        ----------
        anchors, candidates : (N, D), (M, D)
            Embeddings as the projector gives them; M ≥ N, and row i of both is one positive pair.
        affinity : (N, M)
            Their cosines.
        """
        return None

    def log_mass(self, log_sums: Tensor, positive: Tensor, *, count: int, tau: float) -> Tensor:
        """Return the (N,) log-mass of the negatives.

        Parameters
        ----------
        log_sums : (P, N)
            log Σ_j w_ij · exp(p · s_ij / τ) over the negatives j of each anchor, for each p of
            `powers`.
        positive : (N,)
            s_ii / τ.
        count : int
            Number of negatives of each anchor.
        tau : float
        """
        return log_sums[0]

    def state(self) -> dict[str, Tensor]:
        """Return what was learned, for a model file; empty before `fit`."""
        return {}

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Take back what `state` gave."""

    def diagnose(self) -> dict[str, Any]:
        """Return numbers that show whether the fit succeeded, for metrics and reports."""
        return {}

    def _check(self) -> None:
        """Raise `InputError` for impossible settings."""


class Uniform(Hardness):
    """Every negative counts the same: GraphCL, GRACE and GCA as published."""


def gives_weights(hardness: Hardness) -> bool:
    """Return whether the hardness gives weights to pairs."""
    return type(hardness).log_weights is not Hardness.log_weights


def learns(hardness: Hardness) -> bool:
    """Return whether the hardness learns from data: one that does not needs no warm-up."""
    return type(hardness).fit is not Hardness.fit
