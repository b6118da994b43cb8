"""Parameters of a class, and checks of hyper-parameters that are numbers."""

from __future__ import annotations

import inspect
import math
from functools import cache
from numbers import Integral, Real
from operator import ge, gt, le, lt
from typing import Any

from augcl.errors import InputError


def parameters(kind: type) -> dict[str, Any]:
    """The hyper-parameters of an estimator's class, with their defaults; no object is made.

    >>> class Method:
    ...     def __init__(self, *, epochs=40, lr=0.1): ...
    >>> parameters(Method)
    {'epochs': 40, 'lr': 0.1}
    """
    return dict(_defaults(kind))


@cache  # tables ask for the settings of thousands of cells
def _defaults(kind: type) -> dict[str, Any]:
    given = inspect.signature(kind).parameters
    return {name: parameter.default for name, parameter in given.items()}


def number(
    name: str,
    value: Any,
    *,
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
    most: float | None = None,
) -> None:
    """Raise `InputError` unless the value is a finite number within the limits.

    >>> number("tau_plus", 1.5, least=0, below=1)
    Traceback (most recent call last):
    augcl.errors.InputError: tau_plus is 1.5: give a finite number, at least 0 and below 1
    """
    limits = [
        (word, holds, limit)
        for word, holds, limit in (
            ("above", gt, above),
            ("at least", ge, least),
            ("below", lt, below),
            ("at most", le, most),
        )
        if limit is not None
    ]
    finite = isinstance(value, Real) and math.isfinite(value)
    if not finite or not all(holds(value, limit) for _, holds, limit in limits):
        allowed = " and ".join(f"{word} {limit:g}" for word, _, limit in limits)
        raise InputError(f"{name} is {value!r}: give a finite number, {allowed}")


def whole_number(name: str, value: Any, *, least: int, most: int | None = None) -> None:
    """Raise `InputError` unless the value is a whole number, `least` or more, at most `most`."""
    if not isinstance(value, Integral) or value < least:
        raise InputError(f"{name} is {value!r}: it must be a whole number, {least} or more")
    if most is not None and int(value) > most:
        raise InputError(f"{name} is {value!r}: it must be a whole number, at most {most}")


def two_shares(name: str, value: Any, **limits: float) -> None:
    """Raise `InputError` unless the value is two numbers from 0 on, one for each view.

    >>> two_shares("edge_drop", 0.3, below=1)
    Traceback (most recent call last):
    augcl.errors.InputError: edge_drop is 0.3: give two shares, one for each view
    """
    if isinstance(value, str) or not hasattr(value, "__len__") or len(value) != 2:
        raise InputError(f"{name} is {value!r}: give two shares, one for each view")
    for view, share in enumerate(value):
        number(f"{name}[{view}]", share, least=0, **limits)
