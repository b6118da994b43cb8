"""InputError, the error for wrong input, with helpers that raise it, and warnings for users."""

from __future__ import annotations

import difflib
import importlib.util
import os
import re
import sys
import warnings
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


class InputError(ValueError):
    """Wrong input of the user; the message says in one line what is wrong, where, and the remedy.

    The command line prints the message without a traceback and exits with code 2. Long values in
    the message are shortened.
    """

    def __init__(self, message: object = "") -> None:
        line = " ".join(str(message).splitlines())  # a name in a file may hold a line break
        text = re.sub(r"[^\s/]{300,}", lambda value: shortened(value[0]), line)
        super().__init__(shortened(text, most=3000))


class LostProcessError(InputError):
    """Another of several processes that train one model has ended."""


def warn_user(message: str) -> None:
    """Warn, and name the line of the user's own code that called this package."""
    ours, frame, level = f"{Path(__file__).parent}{os.sep}", sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(ours):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)


def one_of(value: str, choices: Iterable[str], what: str) -> str:
    """Return `value` if it is one of `choices`, else raise `InputError` with the closest choices.

    >>> one_of("kmeans", ["kmeans", "spectral"], "partition")
    'kmeans'
    """
    choices = list(choices)
    if value in choices:
        return value
    hint = did_you_mean(value, choices)
    raise InputError(f"unknown {what} {value!r}: {hint}choose from {', '.join(choices)}")


def did_you_mean(value: str, choices: Iterable[str]) -> str:
    """Return "did you mean …? " with the closest choices, or an empty string.

    >>> did_you_mean("MUTG", ["MUTAG", "PROTEINS"]), did_you_mean("x", ["MUTAG"])
    ('did you mean MUTAG? ', '')
    """
    spelled = {choice.lower(): choice for choice in choices}
    close = difflib.get_close_matches(str(value).lower(), list(spelled), n=3, cutoff=0.5)
    return f"did you mean {' or '.join(spelled[name] for name in close)}? " if close else ""


EXTRAS = {
    "distributed": "cluster",
    "gensim": "walks",
    "matplotlib": "paper",
    "pymetis": "large",
    "rdkit": "molecules",
}
"""Packages that the core works without, and the extra that installs each."""
LAST_PYTHON = {"gensim": (3, 13)}
"""The last Python for which a package has wheels, where that is not the newest."""


def need(package: str, purpose: str) -> None:
    """Raise an InputError that names the extra to install if `package` is not installed.

    It is looked for, not imported: gensim and matplotlib take seconds to import.

    >>> need("networkx", "GraphML")
    """
    if importlib.util.find_spec(package) is not None:
        return
    message = f"{purpose} needs {package}: pip install 'augcl[{EXTRAS[package]}]'"
    last = LAST_PYTHON.get(package, sys.version_info[:2])
    if sys.version_info[:2] > last:
        here = ".".join(map(str, sys.version_info[:2]))
        message += f" with Python 3.11 to {'.'.join(map(str, last))}; it has no wheel for {here}"
    raise InputError(message)


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
def ours(place: Path | str, cure: str) -> Iterator[None]:
    """Turn any error that the content of a file of ours causes into one InputError that names it.

    For files that only this package writes: whatever goes wrong while one is read, its content is
    not what we wrote.

    >>> with ours("result.json", "train again"):
    ...     {}["seeds"]
    Traceback (most recent call last):
    augcl.errors.InputError: result.json is damaged or not ours ('seeds' is missing): train again
    """
    try:
        with mistakes_in(place):
            yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise  # the file itself cannot be opened; without a name, its content is at fault
        reason = " ".join(str(error).split()) or type(error).__name__
        reason = f"{reason} is missing" if isinstance(error, KeyError) else shortened(reason)
        raise InputError(f"{place} is damaged or not ours ({reason}): {cure}") from error


def shortened(value: object, most: int = 200) -> str:
    """Return the text of a value, its middle left out if it is long: for messages.

    >>> shortened("abcdefghij", most=5)
    'abc … ij'
    """
    text = str(value)
    return text if len(text) <= most else f"{text[: -(-most // 2)]} … {text[-(most // 2) :]}"


_INVISIBLE = [*range(9), *range(11, 32), *range(127, 160), *range(0x202A, 0x202F)]
_ESCAPES = {
    c: f"\\x{c:02x}" if c < 256 else f"\\u{c:04x}" for c in [*_INVISIBLE, *range(0x2066, 0x206A)]
}


def printable(text: object) -> str:
    """Return a text from a file with its control characters escaped: a terminal would obey them.

    >>> print(printable("class \x1b[2J"))
    class \\x1b[2J
    """
    return str(text).translate(_ESCAPES)


@contextmanager
def readable(file: Path) -> Iterator[None]:
    """Turn errors while reading a file (or zip) into an InputError that names the file."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise InputError(
            f"{file}: the file is damaged or truncated ({error}); get it again"
        ) from error
    except RuntimeError as error:  # zipfile's way to say that a password is needed
        if "password" not in str(error):
            raise
        raise InputError(f"{file}: the zip is encrypted; unpack it first") from error
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror or error})") from error
