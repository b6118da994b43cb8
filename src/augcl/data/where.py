"""Messages that name the place where the mistake is."""

from __future__ import annotations

import zipfile
import zlib
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


@contextmanager
def readable(file: Path) -> Iterator[None]:
    """Turn what goes wrong in reading a file, perhaps a zip, into an InputError that names it."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise InputError(
            f"{file}: the file is damaged or cut short ({error}); get it again"
        ) from error
    except RuntimeError as error:  # zipfile's way to say that a password is needed
        if "password" not in str(error):
            raise
        raise InputError(f"{file}: the zip is encrypted; unpack it first") from error
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror or error})") from error
