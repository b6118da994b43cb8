"""The interface of every hardness: a rule that turns the negatives of an anchor into one number.

With s_ij the cosine of anchor i and candidate j, and w_ij the weight of negative j,

loss_i = −s_ii/τ + logaddexp( s_ii/τ , log_mass_i ),   log_mass_i = log Σ_j w_ij · exp(s_ij/τ)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from augcl.contract import Parametric

Batches = Iterable[tuple[Tensor, Tensor]]
"""Pairs (anchors (N, D), candidates (M, D)); row i of both is one positive pair."""

AFFINITIES = ("projection", "embedding", "propagated", "features")
"""Vectors whose cosine a hardness may take as the affinity of two graphs or nodes.

Outputs of the projector; of the encoder; those of the encoder smoothed over the edges; the features
smoothed over the edges, which need no training. A set of graphs has no edges between graphs: there,
the last two are both the counts of Weisfeiler–Lehman labels.
"""


class Hardness(Parametric):
    """Decide how much each negative counts; in this base class all count the same.

    A subclass overrides `log_weights` (AUGCL, ProGCL: one weight per negative) or `log_mass` (DCL,
    HCL: another function of their sum), and `fit` if it learns from data. It does not depend on the
    contrastive method that uses it: that method decides when to fit the hardness and from which
    epoch on the weights are used (`augcl.methods.contrast`).

    Examples
    --------
    Define a hardness that ignores every negative whose cosine with the anchor is not above 0:

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

    affinity_of: str = "projection"
    """Which vectors a method hands to `fit` and `log_weights`: one of `AFFINITIES`."""

    @property
    def waits(self) -> bool:
        """Return whether the hardness needs a trained network, and so a warm-up: if it learns."""
        return type(self).fit is not Hardness.fit

    def fit(self, batches: Batches, *, generator: torch.Generator | None = None) -> Hardness:
        """Learn from batches of pairs; return self.

        Parameters
        ----------
        batches : iterable of (anchors (N, D), candidates (N, D))
            Iterated once per pass; the batches may differ from pass to pass.
        generator : torch.Generator, optional
            Source of random draws.
        """
        return self

    def log_weights(self, anchors: Tensor, candidates: Tensor, affinity: Tensor) -> Tensor | None:
        """Return log w_ij (N, M) without gradient, or None if all weights are 1.

        Parameters
        ----------
        anchors, candidates : (N, D), (M, D)
            The vectors that `affinity_of` names; M ≥ N, and row i of both is one positive pair.
        affinity : (N, M)
            Their cosines.
        """
        return None

    def log_mass(self, log_sums: Tensor, positive: Tensor, *, count: int, tau: float) -> Tensor:
        """Return the log-mass (N,) of the negatives of each anchor.

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
        """Return the learned tensors, for a model file; empty before `fit`."""
        return {}

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Restore the tensors that `state` returned."""

    def diagnose(self) -> dict[str, Any]:
        """Return measures of the last fit, for metrics and reports; empty before `fit`."""
        return {}

    def _check(self) -> None:
        """Raise `InputError` for impossible settings."""


class Uniform(Hardness):
    """Give every negative the same weight: GraphCL, GRACE and GCA as published.

    Examples
    --------
    >>> import augcl
    >>> z = torch.eye(3)
    >>> augcl.info_nce(z, z, hardness=Uniform()).equal(augcl.info_nce(z, z))
    True
    """


def gives_weights(hardness: Hardness) -> bool:
    """Return whether the hardness weights single pairs (it overrides `log_weights`)."""
    return type(hardness).log_weights is not Hardness.log_weights
