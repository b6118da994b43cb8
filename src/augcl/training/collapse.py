"""Check after a training whether the network learned anything or collapsed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

TOLERANCE = 1e-4
"""Share of the largest entry; a column whose standard deviation is lower counts as constant."""

ANGLE = 1e-4
"""Variance of unit vectors; below it, their cosines do not distinguish them."""

ENOUGH_EPOCHS = 20
"""From this number of epochs on, the loss must be below that of the untrained network."""

CLEARLY = 0.05
"""Share of the first epoch's loss; views drawn by chance move the loss of an epoch by less."""


def all_alike(z: Tensor) -> bool:
    """Return whether the rows of z (N, D) are equal up to rounding; False for a single row.

    >>> all_alike(torch.zeros(3, 2)), all_alike(torch.eye(2)), all_alike(torch.zeros(1, 2))
    (True, False, False)
    """
    if len(z) < 2 or not z.shape[1]:
        return False
    spread = z.double().std(0, correction=0).amax()
    return bool(spread <= TOLERANCE * z.abs().amax())


def one_direction(z: Tensor) -> bool:
    """Return whether the rows of z (N, D) all point in nearly the same direction.

    >>> one_direction(torch.tensor([[1.0, 0.01], [5.0, 0.0]])), one_direction(torch.eye(2))
    (True, False)
    """
    if all_alike(z):
        return True
    unit = torch.nn.functional.normalize(z.double(), dim=1)
    return len(z) > 1 and bool(1 - unit.mean(0).square().sum() <= ANGLE)


@dataclass(frozen=True)
class Outputs:
    """Outputs of a network, computed when they are needed.

    Parameters
    ----------
    embeddings : callable
        Returns the (n, d) embeddings of all data.
    projections : callable
        Returns the (b, d) vectors whose angles the loss of a batch compares; None if these are
        the embeddings.
    loss : callable
        Returns the loss of that batch, computed as in the first epoch.
    """

    embeddings: Callable[[], Tensor]
    projections: Callable[[], Tensor | None]
    loss: Callable[[], float]


def collapse(
    trained: Outputs, untrained: Outputs, *, losses: Sequence[float], kept_first: bool = False
) -> str | None:
    """Return why the training counts as failed, or None if the network learned something.

    If the untrained network does not distinguish the data either, this is not a collapse.

    Parameters
    ----------
    trained, untrained : Outputs
    losses : sequence of float
        The loss of every epoch. If it fell clearly, something was learned, whatever a single
        batch says: its loss depends on the views drawn for it.
    kept_first : bool
        Whether the kept weights are the untrained ones.
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
    epochs = len(losses)
    if epochs < ENOUGH_EPOCHS or len(embeddings) < 2:
        return None
    if losses[0] - losses[-1] > CLEARLY * abs(losses[0]):
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
