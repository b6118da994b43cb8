"""Atomic writes of files, records in JSON, and files that are part of the package."""

from __future__ import annotations

import json
import os
import secrets
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from augcl.errors import InputError

FORMAT = 3
"""Format of run and model folders; raise it when older ones can no longer be read."""


def check_format(found: object, path: Path | str, cure: str = "train again") -> None:
    """Raise InputError if a file that says it has the format `found` is not one that we read.

    >>> check_format(None, "runs/x/result.json")
    Traceback (most recent call last):
    augcl.errors.InputError: runs/x/result.json was written by an older augcl: train again
    """
    if str(found) != str(FORMAT):
        newer = str(found).isdigit() and int(str(found)) > FORMAT
        age, cure = ("a newer", "update augcl") if newer else ("an older", cure)
        raise InputError(f"{path} was written by {age} augcl: {cure}")


@contextmanager
def atomic_path(target: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `target`; on success, sync it and rename it to `target`.

    Whatever interrupts the block, `target` is the complete old or the complete new file. An
    OSError while writing names `target`.
    """
    target = Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    prefix = f".{target.name}."
    try:
        temporary = target.parent / f"{prefix}{secrets.token_hex(6)}.tmp"
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        try:
            yield temporary
            _sync(temporary)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        elsewhere = error.filename and not Path(error.filename).name.startswith(prefix)
        if error.errno is None or elsewhere:
            raise
        raise OSError(error.errno, error.strerror, str(target)) from error
    _sync(target.parent)


def remove_temporary(folder: Path, name: str = "*") -> None:
    """Remove temporary files for `name` that a killed `atomic_path` left in `folder`."""
    for path in folder.glob(f".{name}.*.tmp"):
        path.unlink(missing_ok=True)


def append_line(target: Path, line: str) -> None:
    """Append a line to a file; if the disk is full, append nothing."""
    size = target.stat().st_size if target.exists() else 0
    try:
        with target.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
    except OSError as error:
        if target.exists():
            os.truncate(target, size)
        raise OSError(error.errno, error.strerror, str(target)) from error


def write_text(target: str | os.PathLike[str], text: str) -> None:
    """Write `text` atomically."""
    with atomic_path(target) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(target: str | os.PathLike[str], value: Any) -> None:
    """Write `value` as indented JSON, atomically; NaN and Infinity are refused."""
    write_text(target, json.dumps(value, indent=1, allow_nan=False) + "\n")


def read_record(path: Path, cure: str = "run this again") -> dict[str, Any] | None:
    """Read a JSON record; return None without a file. `cure` is the remedy for a damaged file."""
    if not path.exists():
        return None
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path} is damaged ({error}): delete it and {cure}") from None
    return record


def packaged_text(package: str, name: str) -> str:
    """Return the text of a file that is part of a package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


@cache
def packaged_toml(package: str, name: str) -> dict[str, Any]:
    """Parse a TOML file that is part of a package; the result is shared, do not change it."""
    return tomllib.loads(packaged_text(package, name))


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
