"""Read graph sets in the text format of TU Dortmund's benchmark collection."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import torch
from torch import Tensor

from augcl.data.graph import GraphSet
from augcl.data.labels import class_numbers, one_hot
from augcl.data.limits import MOST_COLUMNS, check_archive, lines
from augcl.data.table import Table, known_numbers, warn_unused
from augcl.data.targets import Reading, Targets, chosen_columns, read_targets
from augcl.errors import InputError, readable, shortened

Array = np.ndarray[Any, Any]


class TUFiles:
    """The files ``NAME_A.txt``, ``NAME_graph_indicator.txt`` … of one data set.

    Nothing is extracted: members of a zip are read as streams, so none can escape from it.

    Parameters
    ----------
    path : Path
        A zip or a folder; the only file whose name ends in ``_A.txt`` gives NAME.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._files: dict[str, str] = {}
        if path.is_dir():
            found = [file.name for file in path.iterdir() if file.is_file()]
        else:
            with readable(path), zipfile.ZipFile(path) as archive:
                check_archive(archive, path)
                found = archive.namelist()
        edges = [
            name
            for name in found  # macOS adds a shadow ._NAME_A.txt to zips
            if name.endswith("_A.txt") and not PurePosixPath(name).name.startswith("._")
        ]
        if len(edges) != 1:
            raise InputError(
                f"{path}: {len(edges)} files end in _A.txt, but a TU data set has exactly one "
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
        """Return the name of a part in messages: ``MUTAG.zip: MUTAG_A.txt``."""
        return f"{self.path}: {self.name}_{part}.txt"

    def read(self, part: str, dtype: type[np.generic], columns: int | None = None) -> list[Array]:
        """Return the columns of a part; `columns` is their number (default: as in line 1)."""
        if part not in self:
            raise InputError(f"{self.label(part)} is missing: a TU data set needs this file")
        if columns is None:
            columns = next((line.count(",") + 1 for _, line in self._lines(part)), 1)
        if columns > MOST_COLUMNS:
            raise InputError(f"{self.label(part)} has more than {MOST_COLUMNS:,} columns")
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
                # Column.to_numpy() would import pandas, which takes 0.3 s.
                batches += [[np.from_dlpack(c) for c in batch.columns] for batch in reader]
        except pa.ArrowInvalid as error:
            if any(True for _ in self._lines(part)):
                raise InputError(self._first_mistake(part, dtype, columns, error)) from None
        return [np.concatenate(column) for column in zip(*batches, strict=True)]

    def at(self, part: str, row: int) -> str:
        """Return the file and line of entry `row` (from 0): ``MUTAG.zip: MUTAG_A.txt, line 7``."""
        line = next(number for i, (number, _) in enumerate(self._lines(part)) if i == row)
        return f"{self.label(part)}, line {line}"

    def _lines(self, part: str) -> Iterator[tuple[int, str]]:
        """Yield line numbers and lines that are not blank; slow, for messages only."""
        with self._open(part) as stream:
            for number, line in enumerate(lines(stream, self.label(part)), start=1):
                if line.strip():
                    yield number, line.decode("utf-8", errors="replace").strip()

    def _first_mistake(
        self, part: str, dtype: type[np.generic], columns: int, error: Exception
    ) -> str:
        whole = np.issubdtype(dtype, np.integer)
        for number, line in self._lines(part):
            place = f"{self.label(part)}, line {number}"
            values = line.split(",")
            if len(values) != columns:
                return f"{place}: {len(values)} values, expected {columns} separated by commas"
            for value in values:
                try:
                    with np.errstate(over="raise"):
                        dtype(int(value) if whole else float(value))
                except (ValueError, OverflowError, FloatingPointError):
                    wanted = "a whole number" if whole else "a number"
                    return f"{place}: {value.strip()!r} is not {wanted} in the allowed range"
        reason = " ".join(shortened(error).split())  # a value may hold a line break of Unicode
        return f"{self.label(part)} cannot be read: {reason}"

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


def read_tu(path: str | os.PathLike[str], how: Reading | None = None) -> GraphSet:
    """Read a TU data set, a zip or a folder.

    Node labels become one-hot features over their whole range from the smallest to the largest
    (constant 1 without labels); continuous node attributes go to ``node_attr``; edge attributes
    and one-hot edge labels go to ``edge_attr``. Graph labels are numbered 0 … C − 1 in order; graph
    attributes (``attribute0`` …) are the targets of a regression, if there are no labels or if
    `how` names them.

    Parameters
    ----------
    path : path
        Holds ``NAME_A.txt`` and ``NAME_graph_indicator.txt``; optionally ``…_graph_labels.txt``,
        ``…_graph_attributes.txt``,
        ``…_node_labels.txt``, ``…_node_attributes.txt``, ``…_edge_labels.txt`` and
        ``…_edge_attributes.txt``.
    how : Reading, optional

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "TWO_A.txt").write_text("1, 2\\n2, 1\\n3, 4\\n4, 3\\n")
    >>> _ = (folder / "TWO_graph_indicator.txt").write_text("1\\n1\\n2\\n2\\n")
    >>> _ = (folder / "TWO_graph_labels.txt").write_text("-1\\n1\\n")
    >>> read_tu(folder)
    GraphSet('TWO': 2 graphs, 4 nodes, 4 edge entries, 1 features, 2 classes)
    """
    files = TUFiles(Path(path))
    y, targets = None, Targets()
    if "graph_labels" in files:
        (labels,) = files.read("graph_labels", np.int64, columns=1)
        y = class_numbers(labels)
        targets = Targets(y)
    told = how or Reading()
    if told.mark or "graph_attributes" in files:
        targets = _targets(files, told)
    graph = _graph_of_node(files, None if y is None else len(y))
    pairs = _pairs(files, graph)
    columns, node_labels = _labels(files, "node_labels", "graph_indicator", len(graph))
    attr_columns, node_attr = _attributes(
        files, "node_attributes", "graph_indicator", len(graph), told.missing
    )
    edge_columns, attributes = _attributes(
        files, "edge_attributes", "A", pairs.shape[1], told.missing
    )
    names, labels_of_edges = _labels(files, "edge_labels", "A", pairs.shape[1])
    edge_attr = [table for table in (attributes, labels_of_edges) if table is not None]
    edge_columns += names or []
    if bool((graph[1:] < graph[:-1]).any()):  # nodes of one graph need not stand together
        order = torch.from_numpy(np.argsort(graph, kind="stable"))
        pairs = torch.argsort(order)[pairs]
        graph = graph[order.numpy()]
        node_labels = None if node_labels is None else node_labels[order]
        node_attr = None if node_attr is None else node_attr[order]
    return GraphSet.from_arrays(
        pairs=pairs,
        graph_of_node=torch.from_numpy(graph.astype(np.int64)),
        num_graphs=int(graph[-1]) + 1,
        x=node_labels,
        node_attr=node_attr,
        attr_columns=attr_columns or None,
        edge_attr=torch.cat(edge_attr, dim=1) if edge_attr else None,
        edge_columns=edge_columns or None,
        columns=columns,
        name=files.name,
        **targets._asdict(),
    )


def _targets(files: TUFiles, how: Reading) -> Targets:
    """Return graph labels (``label``) or attributes (``attribute0`` …) as `how` says."""
    columns: dict[str, Array] = {}
    if "graph_labels" in files:
        columns["label"] = files.read("graph_labels", np.int64, columns=1)[0]
    if "graph_attributes" in files:
        found = files.read("graph_attributes", np.float64)
        columns |= {f"attribute{i}": column for i, column in enumerate(found)}
    if not columns:
        if how.wanted is not None:
            raise InputError(f"{files.path} has no graph labels and no graph attributes")
        return Targets()
    if len({len(column) for column in columns.values()}) > 1:
        raise InputError(
            f"{files.label('graph_attributes')} has another number of lines than "
            f"{files.name}_graph_labels.txt: both need one line per graph"
        )
    part = "graph_attributes" if "graph_attributes" in files else "graph_labels"
    table = Table(pa.table(columns), str(files.path), lambda row: files.at(part, row))
    if how.wanted is not None:
        chosen = chosen_columns(list(columns), how.wanted, str(files.path))
    else:
        chosen = ["label"] if "label" in columns else list(columns)
        unused = [name for name in columns if name not in chosen]
        if unused:
            warn_unused(str(files.path), unused, "target= (--target) makes columns targets")
    return read_targets(table, chosen, how, of_nodes=False)


def _graph_of_node(files: TUFiles, num_graphs: int | None) -> Array:
    """Return (V,) int32 the graph of each node, from 0; every graph has a node."""
    part = "graph_indicator"
    (graph,) = files.read(part, np.int32, columns=1)
    if not len(graph):
        raise InputError(f"{files.label(part)} is empty: it needs one line per node")
    total = int(graph.max()) if num_graphs is None else num_graphs
    bad = (graph < 1) | (graph > total)
    if bad.any():
        row = int(bad.argmax())
        why = f" does not exist, {files.name}_graph_labels.txt has {total} lines"
        why = ", but graphs are numbered from 1" if num_graphs is None else why
        raise InputError(f"{files.at(part, row)}: graph {graph[row]}{why}")
    few = min(total, len(graph) + 1)  # of more graphs than nodes, one of the first is empty
    empty = np.bincount(graph[graph <= few], minlength=few + 1)[1:] == 0
    if empty.any():
        raise InputError(
            f"{files.label(part)}: graph {int(empty.argmax()) + 1} of {total} has no nodes; "
            "remove its label or give it a node"
        )
    return graph - 1


def _pairs(files: TUFiles, graph: Array) -> Tensor:
    """(2, P) int64 edges from 0; both ends exist and lie in one graph."""
    source, target = files.read("A", np.int32, columns=2)
    for end in (source, target):
        if len(end) and not (end.min() >= 1 and end.max() <= len(graph)):
            row = int(((end < 1) | (end > len(graph))).argmax())
            raise InputError(
                f"{files.at('A', row)}: node {end[row]} does not exist, "
                f"{files.name}_graph_indicator.txt has {len(graph)} nodes"
            )
    source -= 1
    target -= 1
    apart = graph[source] != graph[target]
    if apart.any():
        row = int(apart.argmax())
        raise InputError(
            f"{files.at('A', row)}: the edge {source[row] + 1}, {target[row] + 1} joins two graphs"
        )
    pairs = torch.empty((2, len(source)), dtype=torch.long)
    pairs[0] = torch.from_numpy(source)
    pairs[1] = torch.from_numpy(target)
    return pairs


def _columns(
    files: TUFiles, part: str, dtype: type[np.generic], rows_of: str, rows: int
) -> list[Array]:
    """Return the columns of a part with one line for each of the `rows` lines of another part."""
    columns = files.read(part, dtype)
    if len(columns[0]) != rows:
        raise InputError(
            f"{files.label(part)} has {len(columns[0])} lines but {files.name}_{rows_of}.txt has "
            f"{rows}: both files must have the same number of lines"
        )
    return columns


def _attributes(
    files: TUFiles, part: str, rows_of: str, rows: int, missing: str
) -> tuple[list[str], Tensor | None]:
    """Return the names of K columns and (rows, K) float32, None if there is no such file."""
    if part not in files:
        return [], None
    table = np.stack(_columns(files, part, np.float32, rows_of, rows), axis=1)
    names = [f"attribute{i}" for i in range(table.shape[1])]
    known, columns = known_numbers(table, names, missing, lambda row: files.at(part, row))
    return columns or [], torch.from_numpy(known)


def _labels(
    files: TUFiles, part: str, rows_of: str, rows: int
) -> tuple[list[str] | None, Tensor | None]:
    """Return one-hot labels (rows, K) and the names of the columns; None without such a file.

    Every number from the smallest label to the largest has a column, even if it never occurs.
    """
    if part not in files:
        return None, None
    names: list[str] = []
    tables = []
    for number, label in enumerate(_columns(files, part, np.int64, rows_of, rows)):
        low, high = (int(label.min()), int(label.max())) if len(label) else (0, 0)
        prefix = "label" if number == 0 else f"label{number + 1}"
        tables.append(one_hot(label - low, high - low + 1, files.label(part)))
        names += [f"{prefix}={value}" for value in range(low, high + 1)]
    return names, torch.cat(tables, dim=1)
