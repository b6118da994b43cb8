"""Messages that name the place where the mistake is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from augcl.errors import InputError


@contextmanager
def mistakes_in(place: Path | str) -> Iterator[None]:
    """Put `place` before the message of an InputError that does not name it yet.

    >>> with mistakes_in(Path("graph.npz")):
    ...     raise InputError("the graph has no nodes")
    Traceback (most recent call last):
    augcl.errors.InputError: graph.npz: the graph has no nodes
    """
    try:
        yield
    except InputError as error:
        if str(error).startswith(str(place)):
            raise
        raise InputError(f"{place}: {error}") from None
