"""Did a training teach a network anything, or does it tell nothing apart?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

TOLERANCE = 1e-4
"""Of the largest entry: columns that vary less are constant."""

ANGLE = 1e-4
"""Variance of unit vectors, below which a loss over their cosines sees one and the same."""

ENOUGH_EPOCHS = 20
"""After so many the loss must be below that of the untrained network; at first it may waver."""


def all_alike(z: Tensor) -> bool:
    """Whether the rows of z (N, D) are, but for roundings, one and the same; one row says nothing.

    >>> all_alike(torch.zeros(3, 2)), all_alike(torch.eye(2)), all_alike(torch.zeros(1, 2))
    (True, False, False)
    """
    if len(z) < 2 or not z.shape[1]:
        return False
    spread = z.double().std(0, correction=0).amax()
    return bool(spread <= TOLERANCE * z.abs().amax())


def one_direction(z: Tensor) -> bool:
    """Whether the rows of z (N, D) point, but for a trifle, all the same way.

    >>> one_direction(torch.tensor([[1.0, 0.01], [5.0, 0.0]])), one_direction(torch.eye(2))
    (True, False)
    """
    if all_alike(z):
        return True
    unit = torch.nn.functional.normalize(z.double(), dim=1)
    return len(z) > 1 and bool(1 - unit.mean(0).square().sum() <= ANGLE)


@dataclass(frozen=True)
class Outputs:
    """What a network gives out, computed when it is asked for.

    Parameters
    ----------
    embeddings : callable
        (n, d) of all data.
    projections : callable
        (b, d) what the loss of a batch compares by angle; None if that is the embeddings.
    loss : callable
        The loss of that batch, as in the first epoch.
    """

    embeddings: Callable[[], Tensor]
    projections: Callable[[], Tensor | None]
    loss: Callable[[], float]


def collapse(
    trained: Outputs, untrained: Outputs, *, epochs: int, kept_first: bool = False
) -> str | None:
    """Why one must say that a training taught nothing; None if it did.

    Data that an untrained network cannot tell apart either are no collapse.

    Parameters
    ----------
    trained, untrained : Outputs
    epochs : int
        How many there were.
    kept_first : bool
        Whether the weights that were kept are those from before the first step.
    """
    if kept_first:
        return (
            "no epoch had a lower loss than the first, before any step, so that the untrained "
            "weights are kept"
        )
    embeddings = trained.embeddings()
    if not embeddings.isfinite().all():
        return "the embeddings are not finite"
    if all_alike(embeddings) and not all_alike(untrained.embeddings()):
        return "everything gets the same embedding"
    if _one_direction(trained.projections()) and not _one_direction(untrained.projections()):
        return "all projections, which the loss compares, point in one direction"
    if epochs < ENOUGH_EPOCHS or len(embeddings) < 2:
        return None
    loss, before = trained.loss(), untrained.loss()
    if loss < before:
        return None
    return (
        f"after {epochs} epochs the loss, {loss:.4g}, is no lower than that of the untrained "
        f"network, {before:.4g}"
    )


def _one_direction(z: Tensor | None) -> bool:
    return z is not None and one_direction(z)
