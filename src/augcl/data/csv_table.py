"""Read one CSV file as columns of text and numbers; messages name the line."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import torch
from torch import Tensor

from augcl.data.labels import one_hot
from augcl.errors import InputError

OURS = ("source", "target", "graph", "node", "id", "label", "y")
"""Columns that mean something to us, however their names are capitalised."""

SEPARATORS = {";": "semicolons", "\t": "tabs"}


def read_header(path: Path) -> list[str]:
    """Return the names of the columns from the first line; those in `OURS` in lower case."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            header = [name.strip() for name in next(csv.reader(stream), [])]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as UTF-8 text: {error}") from None
    if not header:
        raise InputError(f"{path} is empty: the first line must name the columns")
    for sign, called in SEPARATORS.items():
        if len(header) == 1 and sign in header[0]:
            raise InputError(
                f"{path}, line 1: {called} between the columns: save the file with commas instead"
            )
    header = [name.lower() if name.lower() in OURS else name for name in header]
    twice = {name for name in header if header.count(name) > 1}
    if twice:
        raise InputError(f"{path}, line 1: column {min(twice)!r} occurs twice")
    return header


class CSVTable:
    """A CSV file with a header.

    Parameters
    ----------
    path : Path
        The file.
    ids : sequence of str
        Columns that are names, not numbers: read as text, so that 007 stays 007.
    """

    def __init__(self, path: Path, ids: tuple[str, ...]) -> None:
        self.path = path
        header = read_header(path)
        types = {name: pa.string() for name in header if name in ids}
        try:
            self._table = pa.csv.read_csv(
                path,
                read_options=pa.csv.ReadOptions(column_names=header, skip_rows=1),
                convert_options=pa.csv.ConvertOptions(column_types=types, null_values=[""]),
            )
        except (pa.ArrowInvalid, UnicodeDecodeError) as error:
            place = _uneven_line(path, len(header))
            if place is not None:
                columns = f"{len(header)} column{'s' * (len(header) > 1)} ({', '.join(header)})"
                raise InputError(f"{path}, {place}, but the first line names {columns}") from None
            raise InputError(f"{path}: not a CSV file: {str(error).splitlines()[0]}") from None

    def __len__(self) -> int:
        return int(self._table.num_rows)

    @property
    def columns(self) -> list[str]:
        """Return the names of the columns, in order."""
        names: list[str] = self._table.column_names
        return names

    def first_of(self, *names: str) -> str | None:
        """Return the first of `names` that is a column, or None."""
        return next((name for name in names if name in self._table.column_names), None)

    def need(self, *names: str) -> str:
        """Return the first of `names` that is a column, or raise `InputError`."""
        found = self.first_of(*names)
        if found is None:
            raise InputError(
                f"{self.path}, line 1: no column {' or '.join(names)}; "
                f"the columns are {', '.join(self._table.column_names)}"
            )
        return found

    def text(self, name: str) -> Any:
        """Return a column as a stripped pyarrow string array; refuse empty entries."""
        column = pc.utf8_trim_whitespace(pc.cast(self._table[name], pa.string())).combine_chunks()
        empty = pc.or_kleene(pc.is_null(column), pc.equal(column, "")).to_numpy(False)
        if empty.any():
            raise InputError(f"{self.at(int(empty.argmax()))}: column {name!r} is empty")
        return column

    def strings(self, name: str) -> list[str]:
        """Return a column as stripped strings; a missing entry is an empty string."""
        column = pc.fill_null(pc.cast(self._table[name], pa.string()), "")
        strings: list[str] = pc.utf8_trim_whitespace(column).to_pylist()
        return strings

    def has_fractions(self, name: str) -> bool:
        """Return whether a column holds fractions, so that it cannot be the class."""
        column = self._table[name]
        if not pa.types.is_floating(column.type):
            return False
        values = column.to_numpy()
        return bool((values[np.isfinite(values)] % 1).any())

    def numbers(self, *, without: tuple[str | None, ...]) -> tuple[list[str], Tensor | None]:
        """Return all columns except `without` as K names and (rows, K) float32; text is one-hot."""
        columns = [name for name in self._table.column_names if name not in without]
        parts = [self._column(name) for name in columns]
        names = [name for names, _ in parts for name in names]
        return names, torch.cat([part for _, part in parts], dim=1) if parts else None

    def _column(self, name: str) -> tuple[list[str], Tensor]:
        column = self._table[name]
        if pa.types.is_string(column.type):
            words, code = np.unique(self.text(name).to_numpy(False), return_inverse=True)
            table = one_hot(code, len(words), f"{self.path}: column {name!r}")
            return [f"{name}={word}" for word in words], table
        try:
            values = pc.cast(column, pa.float32(), safe=False).to_numpy()
        except pa.ArrowNotImplementedError:
            raise InputError(
                f"{self.path}: column {name!r} holds {column.type}: give numbers or text"
            ) from None
        bad = ~np.isfinite(values)
        if bad.any():
            raise InputError(
                f"{self.at(int(bad.argmax()))}: column {name!r} is empty, NaN, infinite or beyond "
                "3e38; give a finite number"
            )
        return [name], torch.tensor(values).unsqueeze(1)

    def at(self, row: int) -> str:
        """Return the file and line of entry `row` (from 0): ``nodes.csv, line 7``."""
        with self.path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream)
            entries = (reader.line_num for values in reader if values)
            line = next(line for i, line in enumerate(entries) if i == row + 1)
        return f"{self.path}, line {line}"


def _uneven_line(path: Path, width: int) -> str | None:
    """Return the first entry whose number of values is not `width`: ``line 7: 3 values``."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        reader = csv.reader(stream)
        for values in reader:
            if values and len(values) != width:
                return f"line {reader.line_num}: {len(values)} value{'s' * (len(values) > 1)}"
    return None
