"""What a file of data may be: a regular file of bounded size, lines and arrays.

Data may come from strangers. A file, what it unpacks to, and what its header promises are measured
before they are read. ``$AUGCL_MAX_GB`` raises the limit of the size, which is 4 GB.
"""

from __future__ import annotations

import errno
import gzip
import math
import os
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from augcl.errors import InputError, shortened
from augcl.files import regular

LONGEST_HEADER = 2**16
"""Bytes of the header of an array."""
LONGEST_LINE = 1 << 24
"""Bytes of the longest line of a text file."""
PARSED = 8
"""A file that is parsed as a whole (JSON, GraphML, GML) may have this part of `most_bytes` only:
its numbers and words take many times their own size."""
NO_MEMORY = "not enough memory to read it: give less data, or use a larger machine"
FEW_NODES, PER_LINE = 1_000_000, 10
"""Nodes that a file may always claim; beyond them, at most so many for each of its lines."""
MOST_COLUMNS = 100_000
"""Columns of a table."""
SMALL = 1 << 28
"""Bytes that an archive may always unpack to; beyond them, at most `RATIO` times its own size."""
RATIO = 200


def most_bytes() -> int:
    """Return the size of the largest file that is read."""
    given = os.environ.get("AUGCL_MAX_GB", "4")
    try:
        limit = float(given)
    except ValueError:
        limit = math.nan
    if not 0 < limit < math.inf:
        raise InputError(f"$AUGCL_MAX_GB is {given!r}: give a number of gigabytes")
    return int(limit * 1e9)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Refuse what cannot be a file or folder of data; name it in any error of its content."""
    try:
        _check_place(path)
        yield
    except (InputError, Warning):
        raise
    except Exception as error:  # the content is not as its format says
        words = ("can't allocate memory", "Cannot allocate memory")  # torch's, the system's
        if isinstance(error, MemoryError) or any(said in str(error) for said in words):
            raise InputError(f"{path}: {NO_MEMORY}") from None
        reason = " ".join(shortened(error).split()) or type(error).__name__
        raise InputError(
            f"{path} cannot be read ({reason}): it is damaged or of another format"
        ) from error


def _check_place(path: Path) -> None:
    """Refuse pipes, devices, circular links and files that are too large."""
    entries = [path]
    if path.is_dir():
        entries = [*path.iterdir(), *(path / "raw").glob("*")]
    for entry in entries:
        try:
            found = entry.stat()
        except FileNotFoundError:
            continue  # a link to nothing, which no reader opens
        except OSError as error:
            if error.errno == errno.EACCES:
                continue  # whoever needs it says so
            raise InputError(f"{entry} cannot be read ({error.strerror}): remove it") from None
        if stat.S_ISDIR(found.st_mode):
            continue
        regular(entry)
        if found.st_size > most_bytes():
            raise too_large(f"{entry} has {found.st_size:,} bytes")


def too_large(what: str) -> InputError:
    """Return the error for something above the limit."""
    gigabytes = most_bytes() / 1e9
    return InputError(f"{what}, more than {gigabytes:g} GB: set $AUGCL_MAX_GB to read it anyway")


def lines(stream: IO[bytes] | gzip.GzipFile, what: str) -> Iterator[bytes]:
    """Yield the lines of a file; raise `InputError` for one that is too long."""
    while line := stream.readline(LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE:
            raise InputError(f"{what} has a line of more than {LONGEST_LINE:,} bytes: split it")
        yield line


def check_lines(path: Path) -> None:
    """Refuse a file with a line that is too long, before a reader takes it whole.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(b"1,2\\n" + bytes(LONGEST_LINE + 1))
    ...     file.flush()
    ...     check_lines(Path(file.name))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    augcl.errors.InputError: ... has a line of more than 16,777,216 bytes: split it
    """
    if path.stat().st_size <= LONGEST_LINE:
        return
    length = 0
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            ends = [place for end in (b"\n", b"\r") if (place := block.find(end)) >= 0]
            length += min(ends, default=len(block))
            if length > LONGEST_LINE:
                raise InputError(f"{path} has a line of more than {LONGEST_LINE:,} bytes: split it")
            if ends:
                length = len(block) - 1 - max(block.rfind(b"\n"), block.rfind(b"\r"))


def check_parsed(path: Path) -> None:
    """Refuse a file that is too large to be parsed as a whole."""
    size, most = path.stat().st_size, most_bytes() // PARSED
    if size > most:
        raise InputError(
            f"{path} has {size:,} bytes, more than the {most:,} of a file that is parsed as a "
            f"whole: set $AUGCL_MAX_GB to {math.ceil(size * PARSED / 1e9)} to read it anyway"
        )


def check_nodes(claimed: int, lines: int, where: str) -> None:
    """Refuse far more nodes than a file has lines (of edges or nodes).

    >>> check_nodes(10**12, 3, "edges")
    Traceback (most recent call last):
    augcl.errors.InputError: edges: 1,000,000,000,000 nodes for 3 lines: number them without gaps
    """
    if claimed > max(FEW_NODES, PER_LINE * lines):
        raise InputError(
            f"{where}: {claimed:,} nodes for {lines:,} lines: number them without gaps"
        )


def check_archive(archive: zipfile.ZipFile, path: Path) -> None:
    """Refuse a zip that unpacks to far more than its own size."""
    check_unpacked(sum(member.file_size for member in archive.infolist()), path)


def check_unpacked(unpacked: int, path: Path) -> None:
    """Refuse a packed file if it unpacks to far more than its own size."""
    if unpacked > most_bytes():
        raise too_large(f"{path} unpacks to {unpacked:,} bytes")
    packed = path.stat().st_size
    if unpacked > max(SMALL, RATIO * packed) and "AUGCL_MAX_GB" not in os.environ:
        raise InputError(
            f"{path} has {packed:,} bytes and unpacks to {unpacked:,}: set $AUGCL_MAX_GB to read "
            "it anyway"
        )


def check_npz(archive: zipfile.ZipFile, path: Path) -> None:
    """Refuse arrays whose header promises more than the file holds."""
    check_archive(archive, path)
    for member in archive.infolist():
        if not member.filename.endswith(".npy"):
            continue
        with archive.open(member) as stream:
            shape, _, dtype = array_header(stream)
        check_shape(shape, dtype, member.file_size, f"{path}: the array {member.filename[:-4]}")


def array_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, whether columns come first, and type of an array in NumPy's format.

    >>> import io
    >>> packed = io.BytesIO()
    >>> np.save(packed, np.zeros((2, 3), np.float32))
    >>> _ = packed.seek(0)
    >>> array_header(packed)
    ((2, 3), False, dtype('float32'))
    """
    if np.lib.format.read_magic(stream) == (1, 0):
        return np.lib.format.read_array_header_1_0(stream)
    place = stream.tell()  # NumPy would take as much memory as these four bytes say
    length = int.from_bytes(stream.read(4), "little")
    if length > LONGEST_HEADER:
        raise ValueError(f"the header of an array claims {length:,} bytes")
    stream.seek(place)
    return np.lib.format.read_array_header_2_0(stream)


def check_shape(shape: Any, dtype: Any, size: int, what: str) -> None:
    """Refuse a shape that needs more than `size` bytes, or is long without any.

    >>> check_shape((10**12,), np.dtype("f4"), 4000, "the array x")
    Traceback (most recent call last):
    augcl.errors.InputError: the array x of shape (1000000000000,) does not fit into its file
    """
    if dtype.hasobject:
        return  # never loaded
    if math.prod(shape) * dtype.itemsize > size or max(shape, default=0) > max(size, 1_000_000):
        raise InputError(f"{what} of shape {shape} does not fit into its file")
