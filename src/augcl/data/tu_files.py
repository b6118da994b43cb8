"""The text files of a TU data set, read as number columns straight from a folder or a zip."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from augcl.data.where import readable
from augcl.errors import InputError

Array = np.ndarray[Any, Any]


class TUFiles:
    """Where the files ``NAME_A.txt``, ``NAME_graph_indicator.txt`` … of one data set are.

    Nothing is extracted: members of a zip are read as streams, so none can escape from it.

    Parameters
    ----------
    path : Path
        A zip or a folder; the one file whose name ends in ``_A.txt`` tells NAME.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._files: dict[str, str] = {}
        if path.is_dir():
            found = [file.name for file in path.iterdir() if file.is_file()]
        else:
            with readable(path), zipfile.ZipFile(path) as archive:
                found = archive.namelist()
        edges = [
            name
            for name in found  # macOS adds a shadow ._NAME_A.txt to zips
            if name.endswith("_A.txt") and not PurePosixPath(name).name.startswith("._")
        ]
        if len(edges) != 1:
            raise InputError(
                f"{path}: {len(edges)} files end in _A.txt, a TU data set has exactly one "
                "(NAME_A.txt, with NAME_graph_indicator.txt beside it)"
            )
        self.name = PurePosixPath(edges[0]).name.removesuffix("_A.txt")
        prefix = edges[0].removesuffix("A.txt")
        self._files = {
            name.removeprefix(prefix).removesuffix(".txt"): name
            for name in found
            if name.startswith(prefix)
        }

    def __contains__(self, part: str) -> bool:
        return part in self._files

    def label(self, part: str) -> str:
        """How messages call a part: ``MUTAG.zip: MUTAG_A.txt``."""
        return f"{self.path}: {self.name}_{part}.txt"

    def read(self, part: str, dtype: type[np.generic], columns: int | None = None) -> list[Array]:
        """The columns of a part; `columns` is how many there must be (default: as in line 1)."""
        if part not in self:
            raise InputError(f"{self.label(part)} is missing: a TU data set needs this file")
        if columns is None:
            columns = next((line.count(",") + 1 for _, line in self._lines(part)), 1)
        names = [str(i) for i in range(columns)]
        options = pa.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.from_numpy_dtype(dtype)), null_values=[]
        )
        batches: list[list[Array]] = [[np.empty(0, dtype)] * columns]
        try:
            with (
                self._open(part) as stream,
                pa.csv.open_csv(
                    stream,
                    read_options=pa.csv.ReadOptions(column_names=names, block_size=1 << 22),
                    convert_options=options,
                ) as reader,
            ):
                batches += [[c.to_numpy() for c in batch.columns] for batch in reader]
        except pa.ArrowInvalid as error:
            if any(True for _ in self._lines(part)):
                raise InputError(self._first_mistake(part, dtype, columns, error)) from None
        return [np.concatenate(column) for column in zip(*batches, strict=True)]

    def at(self, part: str, row: int) -> str:
        """``MUTAG.zip: MUTAG_A.txt, line 7``: where entry `row`, from 0, stands in the file."""
        line = next(number for i, (number, _) in enumerate(self._lines(part)) if i == row)
        return f"{self.label(part)}, line {line}"

    def _lines(self, part: str) -> Iterator[tuple[int, str]]:
        """Line numbers and lines that are not blank; slow, for messages only."""
        with self._open(part) as stream:
            for number, line in enumerate(stream, start=1):
                if line.strip():
                    yield number, line.decode("utf-8", errors="replace").strip()

    def _first_mistake(
        self, part: str, dtype: type[np.generic], columns: int, error: Exception
    ) -> str:
        whole = np.issubdtype(dtype, np.integer)
        for number, line in self._lines(part):
            where = f"{self.label(part)}, line {number}"
            values = line.split(",")
            if len(values) != columns:
                return f"{where}: {len(values)} values, expected {columns} separated by commas"
            for value in values:
                try:
                    dtype(int(value) if whole else float(value))
                except (ValueError, OverflowError):
                    wanted = "a whole number" if whole else "a number"
                    return f"{where}: {value.strip()!r} is not {wanted} in the allowed range"
        return f"{self.label(part)} cannot be read: {error}"

    @contextmanager
    def _open(self, part: str) -> Iterator[IO[bytes]]:
        name = self._files[part]
        with readable(self.path):
            if self.path.is_dir():
                with (self.path / name).open("rb") as stream:
                    yield stream
            else:
                with zipfile.ZipFile(self.path) as archive, archive.open(name) as member:
                    yield member
