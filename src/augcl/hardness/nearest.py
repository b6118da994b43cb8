"""Leave out the most similar candidates of each anchor, by an affinity that needs no labels."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from augcl.checks import number, whole_number
from augcl.errors import one_of
from augcl.hardness.base import AFFINITIES, Hardness
from augcl.ops.cosine import TIE_STEPS

SMALLEST = 1e-30
"""The weight of a candidate that is left out: the logarithm of 0 is not finite."""


class NearestOut(Hardness):
    """Leave out the most similar candidates of each anchor; all others count the same.

    Similar graphs or nodes often have the same class: they are likely false negatives. Nothing is
    learned, so this is the simplest rule that AUGCL's weights must beat.

    Parameters
    ----------
    affinity : {"propagated", "features", "embedding", "projection"}
        Cosines that rank the candidates. "propagated": embeddings smoothed over the edges;
        "features": features smoothed over the edges, which need no training; for sets of graphs
        both are counts of Weisfeiler–Lehman labels. "embedding", "projection": outputs of the
        encoder and of the projector.
    top : float
        Share of the candidates of an anchor that is left out, but one at least.
    refresh : int, optional
        Rank again every `refresh` epochs; once if None. In batches of graphs, embeddings and
        projections are ranked in every step.

    Examples
    --------
    >>> z = torch.tensor([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    >>> hardness = NearestOut(affinity="projection", top=0.5)
    >>> hardness.log_weights(z, z, z @ z.T).exp().round().int().tolist()
    [[1, 0, 1], [0, 1, 1], [1, 0, 1]]
    """

    def __init__(
        self, affinity: str = "propagated", top: float = 0.1, refresh: int | None = None
    ) -> None:
        self.affinity = affinity
        self.top = top
        self.refresh = refresh

    @property
    def affinity_of(self) -> str:  # type: ignore[override]
        return self.affinity

    @property
    def waits(self) -> bool:
        return self.affinity != "features"

    @torch.no_grad()
    def log_weights(self, anchors: Tensor, candidates: Tensor, affinity: Tensor) -> Tensor:
        """Return log w_ij (N, M): practically −∞ for the nearest candidates, else 0."""
        nearest = nearest_candidates(affinity, self.top)
        return torch.zeros_like(affinity).masked_fill_(nearest, math.log(SMALLEST))

    def diagnose(self) -> dict[str, Any]:
        return {"left_out": self.top}

    def _check(self) -> None:
        one_of(self.affinity, AFFINITIES, "affinity")
        number("top", self.top, above=0, most=1)
        if self.refresh is not None:
            whole_number("refresh", self.refresh, least=1)


def nearest_candidates(affinity: Tensor, top: float) -> Tensor:
    """Return (N, M) bool: is j among the share `top` of the candidates of i with the largest s_ij?

    Row i of both is one positive pair, which is never among them. Of candidates that are equally
    near at the border, none is: an anchor whose affinities are all the same has no nearest ones.

    >>> nearest_candidates(torch.tensor([[1.0, 0.9, 0.9, 0.1, 0.2]]), top=0.5)
    tensor([[False,  True,  True, False, False]])
    >>> nearest_candidates(torch.tensor([[1.0, 0.9, 0.9, 0.1, 0.2]]), top=0.25).any().item()
    False
    """
    steps = affinity.mul(TIE_STEPS).round_()
    steps.fill_diagonal_(-torch.inf)
    others = affinity.shape[1] - 1
    count = max(1, round(top * others))
    if count >= others:
        return steps > -torch.inf
    # The largest of the rest; kthvalue counts from the smallest, which is the positive pair.
    border = steps.kthvalue(others + 1 - count, dim=1, keepdim=True).values
    return steps > border
