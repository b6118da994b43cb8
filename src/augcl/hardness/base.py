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
    (how their logits are summed up), and `fit` if it learns something. It knows nothing of the
    contrastive method that uses it.
    """

    def check(self) -> None:
        """Raise `InputError` for settings that cannot be."""

    def fit(self, batches: Batches, *, generator: torch.Generator | None = None) -> Hardness:
        """Learn from pairs (anchors (N, D), candidates (M, D)); row i of both is one positive pair.

        `batches` is iterated once per pass; it may give fresh embeddings each time.
        """
        return self

    @property
    def fitted(self) -> bool:
        """Whether the weights can be read."""
        return True

    def log_weights(self, anchors: Tensor, candidates: Tensor, affinity: Tensor) -> Tensor | None:
        """(N, M) log w_ij, without gradient; None where all weights are 1.

        Parameters
        ----------
        anchors, candidates : (N, D), (M, D)
            Embeddings as the projector gives them.
        affinity : (N, M)
            Their cosines.
        """
        return None

    def log_mass(self, negatives: Tensor, positive: Tensor, tau: float) -> Tensor:
        """(N,) log-mass from logits.

        Parameters
        ----------
        negatives : (N, K)
            s_ij / τ + log w_ij; a very low number (`MASKED`) where j is no negative of i.
        positive : (N,)
            s_ii / τ.
        """
        return torch.logsumexp(negatives, dim=1)

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
