"""When a hardness sets in and when it is fitted."""

from __future__ import annotations

from augcl.errors import InputError
from augcl.hardness import Hardness
from augcl.training.method import whole_number


def first_epoch(hardness: Hardness, *, warmup: int | None, epochs: int, usual: int) -> int:
    """The epoch at which the hardness sets in: `warmup` if given, else as it says itself."""
    if warmup is None:
        return hardness.first_epoch(epochs, usual)
    whole_number("warmup", warmup, least=0)
    if warmup > epochs:
        raise InputError(f"warmup is {warmup}: it must lie between 0 and {epochs}")
    return warmup


def fit_due(hardness: Hardness, since: int) -> bool:
    """Whether it is to be fitted so many epochs after it set in."""
    refresh = getattr(hardness, "refresh", None)
    return since == 0 or (refresh is not None and since > 0 and since % refresh == 0)
