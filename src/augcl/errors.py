"""The one error that means: the input is wrong, not the program."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class InputError(ValueError):
    """A mistake in what the user gave us, told in one line: what, where, and what would be right.

    The command line prints it without a traceback and exits with 2.
    """


def one_of(value: str, choices: Iterable[str], what: str) -> str:
    """Return `value` if it is among `choices`, else raise and name the closest ones.

    >>> one_of("kmeans", ["kmeans", "spectral"], "partition")
    'kmeans'
    """
    choices = list(choices)
    if value in choices:
        return value
    close = difflib.get_close_matches(str(value), choices, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    raise InputError(f"unknown {what} {value!r}: {hint}choose from {', '.join(choices)}")
