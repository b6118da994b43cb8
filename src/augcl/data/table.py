"""A table of words and numbers, from a file, a DataFrame or attributes; messages name the row."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
import torch
from torch import Tensor

from augcl.data.labels import one_hot
from augcl.data.limits import LONGEST_LINE, MOST_COLUMNS, check_lines, check_unpacked, lines
from augcl.errors import InputError, did_you_mean, warn_user

Array = np.ndarray[Any, Any]

OURS = ("source", "target", "graph", "node", "id", "label", "y")
"""Columns that mean something to us, however their names are capitalised."""

SEPARATORS = {";": "semicolons", "\t": "tabs"}
TABLES = (".csv", ".parquet")
"""Endings of the files that are tables."""

MISSING = ("error", "zero")
"""What becomes of a missing value."""


class Table:
    """Named columns of equal length: numbers, words, booleans.

    Numbers become one column of features; words and booleans become one-hot columns that are
    called ``name=value``. All readers use this class, so that the same graphs have the same
    features in whatever format they come.

    Parameters
    ----------
    columns : pyarrow.Table
    label : str
        What messages call the table: a path, or "nodes".
    at : callable
        Returns what messages call row i, for instance ``nodes.csv, line 7``.
    head : str, optional
        What messages call the names of the columns, for instance ``nodes.csv, line 1``.

    Examples
    --------
    >>> rows = [{"element": "C", "charge": 0}, {"element": "O", "charge": -1}]
    >>> atoms = Table.from_rows(rows, "nodes", "node {}".format)
    >>> names, values = atoms.numbers()
    >>> names, values.tolist()
    (['element=C', 'element=O', 'charge'], [[1.0, 0.0, 0.0], [0.0, 1.0, -1.0]])
    """

    def __init__(
        self, columns: Any, label: str, at: Callable[[int], str], head: str | None = None
    ) -> None:
        self.label, self.at, self.head = label, at, label if head is None else head
        self._table = columns

    @classmethod
    def read(cls, path: Path, ids: Sequence[str] = ()) -> Table:
        """Read a CSV file with a header, or a Parquet file.

        The columns `ids` are names, not numbers: they stay text, so that 007 stays 007.
        """
        if path.suffix.lower() == ".parquet":
            return cls._read_parquet(path, ids)
        header = read_header(path)
        check_lines(path)
        types = {name: pa.string() for name in header if name in ids}
        try:
            columns = pa.csv.read_csv(
                path,
                read_options=pa.csv.ReadOptions(
                    column_names=header, skip_rows=1, block_size=LONGEST_LINE
                ),
                convert_options=pa.csv.ConvertOptions(column_types=types, null_values=[""]),
            )
        except (pa.ArrowInvalid, UnicodeDecodeError) as error:
            place = _uneven_line(path, len(header))
            if place is not None:
                named = f"{len(header)} column{'s' * (len(header) > 1)} ({', '.join(header)})"
                raise InputError(f"{path}, {place}, but the first line names {named}") from None
            raise InputError(f"{path}: not a CSV file: {str(error).splitlines()[0]}") from None
        return cls(columns, str(path), lambda row: _line(path, row), f"{path}, line 1")

    @classmethod
    def _read_parquet(cls, path: Path, ids: Sequence[str]) -> Table:
        try:
            columns = open_parquet(path).read()
        except (pa.ArrowException, OSError) as error:
            reason = str(error).splitlines()[0]
            raise InputError(f"{path}: not a Parquet file: {reason}") from None
        columns = columns.rename_columns(_our_names(columns.column_names, str(path)))
        return cls(_plain(columns, ids), str(path), lambda row: f"{path}, row {row + 1}")

    @classmethod
    def from_pandas(cls, frame: Any, label: str, ids: Sequence[str] = ()) -> Table:
        """Take the columns of a pandas DataFrame; its index is not used."""
        if not hasattr(frame, "columns") or not hasattr(frame, "iloc"):
            raise InputError(f"{label} is a {type(frame).__name__}: give a pandas DataFrame")
        names = _our_names([str(name) for name in frame.columns], label)
        arrays = []
        for i in range(len(names)):
            try:
                arrays.append(pa.array(frame.iloc[:, i], from_pandas=True))
            except (pa.ArrowInvalid, pa.ArrowTypeError):  # of several kinds
                arrays.append(_array(frame.iloc[:, i].tolist()))
                if arrays[-1] is None:
                    raise InputError(
                        f"{label}: column {names[i]!r} holds objects: give numbers or text"
                    ) from None
        columns = pa.table(arrays, names=names)
        return cls(_plain(columns, ids), label, lambda row: f"{label}, row {row + 1}")

    @classmethod
    def from_rows(
        cls, rows: Sequence[dict[Any, Any]], label: str, at: Callable[[int], str]
    ) -> Table:
        """Take attributes, one dict a row; an attribute that a row lacks is missing there.

        A vector is one column an entry: ``x`` becomes ``x0``, ``x1`` … What is neither number, word
        nor vector of numbers is not used, with a warning.
        """
        names = dict.fromkeys(name for row in rows for name in row)
        columns = {str(name): [row.get(name) for row in rows] for name in names}
        return cls.from_columns(columns, label, at)

    @classmethod
    def from_columns(
        cls, columns: Mapping[str, Sequence[Any]], label: str, at: Callable[[int], str]
    ) -> Table:
        """Take attributes, one list or array a column, as in `from_rows`; None is missing."""
        found: dict[str, Any] = {}
        unused = []
        for name, values in columns.items():
            if isinstance(values, np.ndarray) and values.dtype.kind in "iufb":
                if values.ndim == 1:
                    found[name] = pa.array(values)
                else:
                    found |= {f"{name}{i}": pa.array(part) for i, part in enumerate(values.T)}
            elif any(_is_vector(value) for value in values):
                parts = _vectors(values)
                if parts is None and name in ("x", "feat"):
                    raise InputError(
                        f"{label}: attribute {name!r} must be numbers, the same count for each"
                    )
                if parts is None:
                    unused.append(name)
                found |= {f"{name}{i}": part for i, part in enumerate(parts or ())}
            elif (array := _array(values)) is None:
                unused.append(name)
            else:
                found[name] = array
        if unused:
            warn_unused(label, unused, "give numbers or text")
        return cls(pa.table(found), label, at)

    def __len__(self) -> int:
        return int(self._table.num_rows)

    @property
    def columns(self) -> list[str]:
        """Return the names of the columns, in order."""
        names: list[str] = self._table.column_names
        return names

    @property
    def short(self) -> str:
        """Return the name of the file without its folder, for messages."""
        return Path(self.label).name

    def first_of(self, *names: str) -> str | None:
        """Return the first of `names` that is a column, or None."""
        return next((name for name in names if name in self._table.column_names), None)

    def need(self, *names: str, cure: str = "") -> str:
        """Return the first of `names` that is a column, or raise `InputError` with the `cure`."""
        found = self.first_of(*names)
        if found is None:
            raise InputError(
                f"{self.head}: no column {' or '.join(names)}; "
                f"{did_you_mean(names[0], self.columns)}the columns are {', '.join(self.columns)}"
                f"{cure}"
            )
        return found

    def text(self, name: str) -> Any:
        """Return a column as a stripped pyarrow string array; refuse empty entries."""
        column = pc.utf8_trim_whitespace(pc.cast(self._table[name], pa.string()))
        column = column.combine_chunks()
        empty = pc.index(pc.or_kleene(pc.is_null(column), pc.equal(column, "")), True).as_py()
        if empty >= 0:
            raise InputError(f"{self.at(empty)}: column {name!r} is empty")
        return column

    def strings(self, name: str) -> list[str]:
        """Return a column as stripped strings; a missing entry is an empty string."""
        column = self._table[name]
        if pa.types.is_boolean(column.type):
            return ["" if value is None else str(value) for value in column.to_pylist()]
        column = pc.fill_null(pc.cast(column, pa.string()), "")
        strings: list[str] = pc.utf8_trim_whitespace(column).to_pylist()
        return strings

    def is_text(self, name: str) -> bool:
        """Return whether a column holds words."""
        return bool(pa.types.is_string(self._table[name].type))

    def is_boolean(self, name: str) -> bool:
        """Return whether a column holds True and False."""
        return bool(pa.types.is_boolean(self._table[name].type))

    def values(self, name: str) -> Array:
        """Return a column of numbers or booleans as (rows,) float64, NaN where it is missing."""
        column = self._table[name]
        try:
            found = pc.fill_null(pc.cast(column, pa.float64(), safe=False), math.nan)
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            raise InputError(
                f"{self.label}: column {name!r} holds {column.type}: give numbers or text"
            ) from None
        # Column.to_numpy() would import pandas, which takes 0.3 s.
        values: Array = np.array(np.from_dlpack(found.combine_chunks()))
        return values

    def has_fractions(self, name: str) -> bool:
        """Return whether a column holds fractions, so that it cannot be the class."""
        if not pa.types.is_floating(self._table[name].type):
            return False
        values = self.values(name)
        return bool((values[np.isfinite(values)] % 1).any())

    def numbers(
        self, *, without: Sequence[str | None] = (), missing: str = "error"
    ) -> tuple[list[str], Tensor | None]:
        """Return all columns except `without` as K names and (rows, K) float32; words are one-hot.

        A missing value is an error; with ``missing="zero"`` it is 0, and a column ``name missing``
        holds 1 there.
        """
        columns = [name for name in self._table.column_names if name not in without]
        parts = [self._column(name, missing) for name in columns]
        names = [name for names, _ in parts for name in names]
        return names, torch.cat([part for _, part in parts], dim=1) if parts else None

    def _column(self, name: str, missing: str) -> tuple[list[str], Tensor]:
        if self.is_text(name) or self.is_boolean(name):
            entries = np.asarray(self.strings(name), dtype=object)
            gaps = entries == ""
            words, code = np.unique(entries[~gaps], return_inverse=True)
            table = torch.zeros(len(entries), len(words))
            what = f"{self.label}: column {name!r}"
            table[torch.from_numpy(~gaps)] = one_hot(code, len(words), what)
            names = [f"{name}={word}" for word in words]
        else:
            with np.errstate(over="ignore"):  # beyond single precision is infinite, refused below
                values = self.values(name).astype(np.float32)
            gaps = np.isnan(values)
            if np.isinf(values).any():
                raise _infinite(self.at(int(np.isinf(values).argmax())), name)
            table = torch.from_numpy(np.where(gaps, np.float32(0), values)).unsqueeze(1)
            names = [name]
        if not gaps.any():
            return names, table
        if missing != "zero":
            raise _gap(self.at(int(gaps.argmax())), name)
        flag = torch.from_numpy(gaps.astype(np.float32)).unsqueeze(1)
        return [*names, f"{name} missing"], torch.cat([table, flag], dim=1)


def known_numbers(
    x: Any,
    columns: Sequence[str] | None,
    missing: str,
    at: Callable[[int], str],
    *,
    called: str = "x",
) -> tuple[Any, list[str] | None]:
    """Return a matrix without missing values, and the names of its columns, as a `Table` does.

    Parameters
    ----------
    x : (n, F) array, Tensor or scipy matrix, dense or sparse
        Returned as it is if all its numbers are finite. NaN is a missing value.
    columns : sequence of str, optional
        Names of the columns; if None and something is missing, `called` and a number: ``x0`` …
    missing : {"error", "zero"}
    at : callable
        Returns what messages call row i.

    Examples
    --------
    >>> ages = np.array([[3.0], [np.nan]])
    >>> known_numbers(ages, ["age"], "zero", "node {}".format)
    (array([[3., 0.],
           [0., 1.]], dtype=float32), ['age', 'age missing'])
    """
    names = None if columns is None else list(columns)
    if _all_finite(x):
        return x, names
    dense = x.detach().cpu().to_dense().numpy() if isinstance(x, Tensor) else x
    dense = dense.toarray() if hasattr(dense, "toarray") else np.asarray(dense)
    with np.errstate(over="ignore"):
        dense = dense.astype(np.float32)
    dense = dense[:, None] if dense.ndim == 1 else dense
    names = [f"{called}{i}" for i in range(dense.shape[1])] if names is None else names
    gaps, infinite = np.isnan(dense), np.isinf(dense)
    for column in np.flatnonzero((gaps | infinite).any(axis=0)).tolist():
        if infinite[:, column].any():
            raise _infinite(at(int(infinite[:, column].argmax())), names[column])
        if missing != "zero":
            raise _gap(at(int(gaps[:, column].argmax())), names[column])
    flagged = np.flatnonzero(gaps.any(axis=0))
    filled = np.insert(np.where(gaps, 0, dense), flagged + 1, gaps[:, flagged], axis=1)
    for column in flagged[::-1].tolist():
        names.insert(column + 1, f"{names[column]} missing")
    return filled, names


def _all_finite(x: Any) -> bool:
    """Return whether all numbers stay finite as float32."""
    if isinstance(x, Tensor):
        x = x.detach().cpu()
        x = x.coalesce() if x.layout == torch.sparse_coo else x
        values = x if x.layout == torch.strided else x.values()
        return bool(torch.isfinite(values.to(torch.float32)).all())
    values = x.data if hasattr(x, "tocsr") else np.asarray(x)
    with np.errstate(over="ignore"):
        return bool(np.isfinite(values.astype(np.float32)).all())


def _infinite(where: str, name: str) -> InputError:
    cause = f"column {name!r} is infinite or beyond 3e38"
    return InputError(f"{where}: {cause}: give a finite number")


def _gap(where: str, name: str) -> InputError:
    return InputError(
        f"{where}: column {name!r} is empty or NaN: give a value, or mark what is missing by a "
        "column of its own (missing=zero)"
    )


def warn_unused(where: str, names: Sequence[str], cure: str) -> None:
    """Warn of columns or attributes that have no effect; every reader uses these words."""
    warn_user(f"{where}: column{'s' * (len(names) > 1)} {', '.join(names)} not used: {cure}")


def open_parquet(path: Path) -> Any:
    """Open a Parquet file that is read at once; refuse one that takes far more than its size."""
    file = pa.parquet.ParquetFile(path)
    check_unpacked(8 * file.metadata.num_rows * file.metadata.num_columns, path)
    return file


def read_header(path: Path) -> list[str]:
    """Return the names of the columns of a table in a file; those in `OURS` in lower case."""
    if path.suffix.lower() == ".parquet":
        return Table.read(path).columns
    try:
        with path.open("rb") as stream:
            next(lines(stream, str(path)), None)  # one that is too long ends here
        with path.open(encoding="utf-8-sig", newline="") as text:
            header = [name.strip() for name in next(csv.reader(text), [])]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read as UTF-8 text: {error}") from None
    if not header:
        raise InputError(f"{path} is empty: the first line must name the columns")
    for sign, called in SEPARATORS.items():
        if len(header) == 1 and sign in header[0]:
            raise InputError(
                f"{path}, line 1: {called} between the columns: save the file with commas instead"
            )
    return _our_names(header, f"{path}, line 1")


def _our_names(names: Sequence[str], where: str) -> list[str]:
    names = [name.lower() if name.lower() in OURS else name for name in names]
    if len(names) > MOST_COLUMNS:
        raise InputError(f"{where}: more than {MOST_COLUMNS:,} columns")
    twice = {name for name, times in Counter(names).items() if times > 1}
    if twice:
        raise InputError(f"{where}: column {min(twice)!r} occurs twice")
    return names


def _plain(columns: Any, ids: Sequence[str]) -> Any:
    """Return the columns as string, boolean and number types only; `ids` as strings."""
    for i, name in enumerate(columns.column_names):
        kind = columns[name].type
        if pa.types.is_dictionary(kind):  # categories
            kind = kind.value_type
        if name in ids or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
            kind = pa.string()
        if kind != columns[name].type:
            columns = columns.set_column(i, name, pc.cast(columns[name], kind))
    return columns


def _is_vector(value: Any) -> bool:
    return isinstance(value, list | tuple) or getattr(value, "ndim", 0) == 1


def _vectors(values: Sequence[Any]) -> list[Any] | None:
    """Return the columns of a list of vectors of numbers; None if they are something else."""
    rows = [value for value in values if value is not None]
    try:
        table = np.asarray([np.asarray(row, dtype=np.float64) for row in rows])
    except (TypeError, ValueError):
        return None
    if table.ndim != 2 or any(isinstance(v, str) for row in rows for v in row):
        return None
    whole = np.full((len(values), table.shape[1]), np.nan)
    whole[[value is not None for value in values]] = table
    return [pa.array(column) for column in whole.T]


def _array(values: Sequence[Any]) -> Any:
    """Return values as a pyarrow array of booleans, numbers or words; None if they are none."""
    plain = [value.item() if getattr(value, "ndim", None) == 0 else value for value in values]
    known = [v for v in plain if v is not None and v == v]  # NaN differs from itself
    if all(isinstance(value, bool) for value in known):
        kind = pa.bool_() if known else pa.float64()
    elif all(isinstance(value, int) for value in known):
        kind = pa.int64()
    elif all(isinstance(value, Real) for value in known):
        kind = pa.float64()
    elif all(isinstance(value, Real | str) for value in known):
        kind = pa.string()
    else:
        return None
    to = str if pa.types.is_string(kind) else (lambda value: value)
    try:
        return pa.array([None if v is None or v != v else to(v) for v in plain], kind)
    except (OverflowError, pa.ArrowException):  # whole numbers of more than 18 digits
        return pa.array([None if v is None else float(v) for v in plain], pa.float64())


def _line(path: Path, row: int) -> str:
    """Return the file and line of entry `row` (from 0): ``nodes.csv, line 7``."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.reader(stream)
        entries = (reader.line_num for values in reader if values)
        line = next(line for i, line in enumerate(entries) if i == row + 1)
    return f"{path}, line {line}"


def _uneven_line(path: Path, width: int) -> str | None:
    """Return the first entry whose number of values is not `width`: ``line 7: 3 values``."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        reader = csv.reader(stream)
        for values in reader:
            if values and len(values) != width:
                return f"line {reader.line_num}: {len(values)} value{'s' * (len(values) > 1)}"
    return None
