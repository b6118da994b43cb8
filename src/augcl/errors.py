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
    hint = did_you_mean(value, choices)
    raise InputError(f"unknown {what} {value!r}: {hint}choose from {', '.join(choices)}")


def did_you_mean(value: str, choices: Iterable[str]) -> str:
    """A question that names the closest of the choices, with a blank after it; or nothing.

    >>> did_you_mean("MUTG", ["MUTAG", "PROTEINS"]), did_you_mean("x", ["MUTAG"])
    ('did you mean MUTAG? ', '')
    """
    close = difflib.get_close_matches(str(value), list(choices), n=3, cutoff=0.5)
    return f"did you mean {' or '.join(close)}? " if close else ""
