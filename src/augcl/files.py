"""Atomic writes of files, records in JSON, and files that are part of the package."""

from __future__ import annotations

import json
import math
import os
import secrets
import stat
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from augcl.errors import InputError, shortened

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

FORMAT = 4
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


LARGEST_TEXT = 1 << 30
"""Bytes of the largest text file that is read as a whole."""


def regular(path: Path) -> Path:
    """Return the path if it is a regular file; a pipe or a device could last forever.

    >>> regular(Path("/dev/zero"))
    Traceback (most recent call last):
    augcl.errors.InputError: /dev/zero is not a regular file: give a file on the disk
    """
    try:
        mode = path.stat().st_mode
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"{path} cannot be read ({reason}): give a file on the disk") from None
    if not stat.S_ISREG(mode):
        raise InputError(f"{path} is not a regular file: give a file on the disk")
    return path


def read_text(path: Path, most: int = LARGEST_TEXT) -> str:
    """Read a text file as a whole, if it is regular and has at most `most` bytes."""
    size = regular(path).stat().st_size
    if size > most:
        raise InputError(f"{path} has {size:,} bytes, more than {most:,}: it is not what we read")
    return path.read_text(encoding="utf-8")


def from_json(text: str) -> Any:
    """Return what `write_json` wrote; a number that is not finite is refused.

    >>> from_json('{"mean": 1e999}')
    Traceback (most recent call last):
    ValueError: 1e999 is no finite number
    """
    return json.loads(text, parse_float=_finite, parse_constant=_finite)


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(f"{text} is no finite number")
    return value


def read_record(path: Path, cure: str = "run this again") -> dict[str, Any] | None:
    """Read a JSON record; return None without a file. `cure` is the remedy for a damaged file."""
    if not path.exists():
        return None
    try:
        record = from_json(read_text(path))
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        reason = shortened(error)
        raise InputError(f"{path} is damaged ({reason}): delete it and {cure}") from None
    if not isinstance(record, dict):
        raise InputError(f"{path} is damaged (it holds no record): delete it and {cure}")
    return record


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep a folder for this process alone; raise InputError if another process has it.

    The lock ends with the process, however it ends. Where the system has no such locks, there is
    none.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place, locked(Path(place)):
    ...     sorted(path.name for path in Path(place).iterdir())
    ['.lock']
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / LOCK
    handle = _lock(file)
    try:
        yield
    finally:
        if handle is not None:
            with suppress(OSError):
                file.unlink()  # still ours
            os.close(handle)


LOCK = ".lock"


def _lock(file: Path) -> int | None:
    if fcntl is None:
        return None
    while True:
        try:
            handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(file.parent)) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(handle, 20, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(handle)
            raise InputError(
                f"{file.parent} is in use by another augcl (process {holder}): wait for it or "
                "choose another folder"
            ) from None
        except OSError:  # a file system without locks
            os.close(handle)
            return None
        with suppress(OSError):
            if os.fstat(handle).st_ino == file.stat().st_ino:  # nobody has removed it meanwhile
                os.truncate(handle, 0)
                os.pwrite(handle, str(os.getpid()).encode(), 0)
                return handle
        os.close(handle)


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
