"""Read one graph from files for large sizes: OGB's folders, NumPy arrays, edge lists in pieces.

Features stay where they are: an array in a ``.npy`` file is a memory map, and what is read from
text goes to the cache, which is one too.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import torch

from augcl.data.limits import (
    LONGEST_LINE,
    MOST_COLUMNS,
    array_header,
    check_nodes,
    check_shape,
    check_unpacked,
    lines,
)
from augcl.data.node_graph import NodeGraph, Splits
from augcl.data.npz import node_targets
from augcl.data.table import warn_unused
from augcl.data.targets import LARGEST_WHOLE, Reading
from augcl.errors import InputError, mistakes_in
from augcl.files import regular

Array = np.ndarray[Any, Any]

EDGES, FEATURES = "edge.csv.gz", "features.npy"
ARRAYS = (FEATURES, "edges.npy", "edges")
"""The files, and a folder, by which the two layouts are known."""
PIECE = 1 << 20
"""Edges of a Parquet file that are read at a time."""


def large_file(folder: Path) -> Path | None:
    """Return the file by which a folder is known as one of these layouts, None if it is none."""
    places = (folder / "raw" / EDGES, folder / EDGES, *(folder / name for name in ARRAYS))
    return next((p for p in places if p.is_file() or any(p.glob("*.parquet"))), None)


def read_large(file: Path, how: Reading) -> NodeGraph:
    """Read the graph of the folder in which `large_file` found the file."""
    return read_arrays(file.parent, how) if file.name in ARRAYS else read_ogb(file, how)


def read_ogb(edges: Path, how: Reading) -> NodeGraph:
    """Read a node data set in the layout of the Open Graph Benchmark.

    ``raw/edge.csv.gz`` has the two nodes of an edge in each line, counted from 0. Optional, with
    one line per node: ``node-feat.csv.gz``, ``node-label.csv.gz``, and ``num-node-list.csv.gz``
    with the number of nodes. `ogb_splits` reads the splits.

    Parameters
    ----------
    edges : path of ``edge.csv.gz``
    how : Reading
    """
    raw = edges.parent
    root = _root(edges)
    pairs = _csv(edges, pa.int64())
    found = {name: _optional(raw / f"node-{name}.csv.gz") for name in ("feat", "label")}
    counted = raw / "num-node-list.csv.gz"
    sizes = [len(part) for part in found.values() if part is not None]
    length = len(pairs) + sum(sizes)
    where = edges
    if counted.is_file():
        where, first = counted, _csv(counted, pa.int64())[:1, 0]
        if not len(first):
            raise InputError(f"{counted} is empty: give the number of nodes, or remove it")
        sizes.insert(0, int(first[0]))
    num_nodes = sizes[0] if sizes else int(pairs.max(initial=-1)) + 1
    check_nodes(num_nodes, length, str(where))
    rest = [f.name for f in raw.glob("*-feat.csv.gz") if f.name != "node-feat.csv.gz"]
    if rest:
        warn_unused(str(raw), rest, "methods for nodes use features of nodes only")
    with mistakes_in(root):
        return _graph(
            pairs=pairs.T,
            num_nodes=num_nodes,
            x=found["feat"],
            labels=found["label"],
            how=how,
            name=root.name,
        )


def read_arrays(folder: Path, how: Reading) -> NodeGraph:
    """Read a folder of arrays; the features are a memory map.

    ``edges.npy`` (E, 2) or (2, E), or ``edges.parquet``, or a folder ``edges`` of such files, with
    the columns ``source``, ``target`` and, if edges have weights, ``weight``. Optional:
    ``features.npy`` (N, F), constant 1 if absent; ``labels.npy`` (N,); ``ids.npy`` (N,), whole
    numbers of any size or text, by which edges name the nodes (else 0 … N − 1); ``train.npy``,
    ``val.npy`` and ``test.npy`` with masks (N,) or places of nodes. An ``edges.parquet`` without
    ``features.npy`` is a table, not this.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> np.save(folder / "features.npy", np.eye(3, dtype=np.float32))
    >>> np.save(folder / "ids.npy", np.array([10**15, 7, 10**18]))
    >>> np.save(folder / "edges.npy", np.array([[7, 10**18]]))
    >>> read_arrays(folder, Reading()).edge_index.tolist()
    [[1, 2], [2, 1]]
    """
    files = (folder / name for name in (FEATURES, "ids.npy", "labels.npy"))
    x, ids, labels = (_mapped(file) if file.is_file() else None for file in files)
    with mistakes_in(folder):
        if x is not None and (x.ndim != 2 or x.dtype.kind not in "iufb"):
            raise InputError(f"{FEATURES} has shape {x.shape}: expected (N, F) numbers")
        known = next((len(part) for part in (x, ids, labels) if part is not None), None)
        if ids is not None and (ids.shape != (known,) or len(np.unique(ids)) < len(ids)):
            raise InputError(f"ids.npy: give {known} different ids, one for each row of features")
        numbered = _Numbered(ids)
        found = [(numbered(pairs), weight) for pairs, weight in _edge_pieces(folder)]
        pairs = np.concatenate([np.empty((2, 0), np.int64), *(p for p, _ in found)], axis=1)
        weights = [weight for _, weight in found if weight is not None]
        if weights and len(weights) < len(found):
            raise InputError(
                "some files of edges have a column weight, others none: give it to all"
            )
        count = int(pairs.max(initial=-1)) + 1 if known is None else known
        if known is None:
            check_nodes(count, pairs.shape[1], f"{folder}: the edges")
        return _graph(
            pairs=pairs,
            num_nodes=count,
            x=x if x is None or x.dtype == np.float32 else np.asarray(x, np.float32),
            labels=labels,
            edge_weight=torch.from_numpy(np.concatenate(weights)) if weights else None,
            splits=_array_splits(folder, count),
            how=how,
            name=folder.name,
        )


def _graph(
    *, pairs: Array, num_nodes: int, labels: Array | None, how: Reading, **more: Any
) -> NodeGraph:
    if labels is not None and labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels is not None and labels.dtype.kind == "f" and _are_whole(labels[~np.isnan(labels)]):
        labels = np.where(np.isnan(labels), -1, labels).astype(np.int64)  # −1: not known
    y, classes, targets = (None, None, None) if labels is None else node_targets(labels, how)
    return NodeGraph.from_arrays(
        pairs=torch.from_numpy(np.ascontiguousarray(pairs, np.int64)),
        num_nodes=num_nodes,
        y=y,
        classes=classes,
        targets=targets,
        **more,
    )


def _are_whole(known: Array) -> bool:
    """Return whether numbers are whole and so small that double precision holds them all."""
    return bool((np.abs(known) < LARGEST_WHOLE).all()) and not bool((known % 1).any())


def _root(edges: Path) -> Path:
    return edges.parent.parent if edges.parent.name == "raw" else edges.parent


def _optional(path: Path) -> Array | None:
    """Return the numbers of a file, single precision if there are many; None without the file."""
    if not path.is_file():
        return None
    return _csv(path, pa.float32() if "feat" in path.name else pa.float64())


def _csv(path: Path, kind: Any) -> Array:
    """Return the numbers of a packed CSV file without a header, piece by piece; blanks are NaN."""
    regular(path)
    pieces: list[Array] = []
    unpacked, names = 0, [""]
    try:
        with gzip.open(path) as stream:
            while text := stream.read(LONGEST_LINE):
                text += next(lines(stream, str(path)), b"")  # the rest of the last line
                unpacked += len(text)
                check_unpacked(unpacked, path)
                if not pieces:
                    names = [f"f{i}" for i in range(text.partition(b"\n")[0].count(b",") + 1)]
                    if len(names) > MOST_COLUMNS:
                        raise InputError(f"{path} has more than {MOST_COLUMNS:,} columns")
                table = pa.csv.read_csv(
                    pa.BufferReader(text),
                    read_options=pa.csv.ReadOptions(column_names=names, block_size=len(text) + 1),
                    convert_options=pa.csv.ConvertOptions(column_types=dict.fromkeys(names, kind)),
                )
                if pa.types.is_integer(kind) and any(c.null_count for c in table.columns):
                    raise InputError(f"{path} has a blank value: give whole numbers")
                columns = [column.to_numpy() for column in table.columns]
                pieces.append(np.stack(columns, axis=1))
    except (pa.ArrowInvalid, EOFError, OSError, zlib.error) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(f"{path}: not a packed table of numbers: {reason}") from None
    return np.concatenate(pieces) if pieces else np.empty((0, len(names)), kind.to_pandas_dtype())


def _mapped(path: Path) -> Array:
    regular(path)
    try:
        with path.open("rb") as stream:
            shape, _, dtype = array_header(stream)
        check_shape(shape, dtype, path.stat().st_size, f"{path}: the array")
        # Copy on write: torch wants arrays that it may write to.
        found: Array = np.load(path, mmap_mode="c", allow_pickle=False)
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"{path} is not an array of numbers: {error}") from None
    return found


def _edge_pieces(folder: Path) -> Iterator[tuple[Array, Array | None]]:
    """Yield (2, P) ids of the ends of edges and (P,) weights, as many as are read at a time."""
    array = folder / "edges.npy"
    if array.is_file():
        edges = _mapped(array)
        if edges.ndim != 2 or 2 not in edges.shape:
            raise InputError(f"edges.npy has shape {edges.shape}: expected (E, 2) or (2, E)")
        edges = edges.T if edges.shape[1] == 2 else edges
        for start in range(0, max(1, edges.shape[1]), PIECE):
            yield np.asarray(edges[:, start : start + PIECE]), None
        return
    files = [folder / "edges.parquet", *sorted((folder / "edges").glob("*.parquet"))]
    files = [file for file in files if file.is_file()]
    if not files:
        raise InputError("no edges: give edges.npy, edges.parquet or a folder edges of .parquet")
    for file in files:
        regular(file)
        try:
            pieces = pa.parquet.ParquetFile(file)
            schema = pieces.schema_arrow
            numeric = [f.name for f in schema if pa.types.is_integer(f.type) or _is_float(f.type)]
            weight = ["weight"] if "weight" in numeric else []
            rest = [name for name in schema.names if name not in ("source", "target", *weight)]
            if rest and file == files[0]:
                cure = "of an edge its source, its target and a number as weight are read"
                warn_unused(str(file), rest, cure)
            check_unpacked(8 * pieces.metadata.num_rows * (2 + len(weight)), file)
            for batch in pieces.iter_batches(PIECE, columns=["source", "target", *weight]):
                ends = [batch[name].to_numpy(zero_copy_only=False) for name in ("source", "target")]
                values = batch["weight"].to_numpy(zero_copy_only=False) if weight else None
                yield np.stack(ends), None if values is None else values.astype(np.float64)
        except InputError:
            raise
        except (pa.ArrowException, KeyError, ValueError, OSError) as error:
            raise InputError(f"{file.name}: give the columns source and target: {error}") from None


def _is_float(kind: Any) -> bool:
    return bool(pa.types.is_floating(kind))


class _Numbered:
    """From the ids of nodes to their numbers 0 … N − 1."""

    def __init__(self, ids: Array | None) -> None:
        self.order = None if ids is None else np.argsort(ids, kind="stable")
        self.sorted = None if ids is None or self.order is None else np.asarray(ids)[self.order]

    def __call__(self, pairs: Array) -> Array:
        if self.order is None or self.sorted is None:
            if pairs.dtype.kind not in "iu":
                raise InputError("edges name nodes by text: say in ids.npy which row is which node")
            return pairs.astype(np.int64)
        if pairs.dtype.kind == "O":
            pairs = pairs.astype(self.sorted.dtype if self.sorted.dtype.kind == "U" else str)
        place = np.searchsorted(self.sorted, pairs).clip(max=len(self.sorted) - 1)
        unknown = self.sorted[place] != pairs
        if unknown.any():
            raise InputError(f"an edge names the node {pairs[unknown][0]}, which ids.npy lacks")
        numbers: Array = self.order[place]
        return numbers


def ogb_splits(edges: Path, num_nodes: int) -> Splits | None:
    """Return the splits of OGB, in the order of their names; None if there are none.

    ``split/NAME/`` holds ``train.csv.gz``, ``valid.csv.gz`` and ``test.csv.gz`` with the numbers of
    nodes. `edges` is the path of ``edge.csv.gz``.
    """
    folder = _root(edges) / "split"
    found = []
    for one in sorted(folder.iterdir()) if folder.is_dir() else ():
        files = [one / f"{part}.csv.gz" for part in ("train", "valid", "test")]
        if all(file.is_file() for file in files):
            found.append([_mask(_csv(f, pa.int64())[:, 0], num_nodes, str(f)) for f in files])
    if not found:
        return None
    return Splits(*(torch.stack(part) for part in zip(*found, strict=True)), usual=True)


def _array_splits(folder: Path, num_nodes: int) -> Splits | None:
    files = [folder / f"{part}.npy" for part in ("train", "val", "test")]
    if not all(file.is_file() for file in files):
        return None
    masks = (_mask(_mapped(file), num_nodes, file.name)[None] for file in files)
    return Splits(*masks, usual=True)


def _mask(nodes: Array, num_nodes: int, what: str) -> torch.Tensor:
    """Return (N,) bool from such a mask, or from the places of nodes."""
    if nodes.dtype == bool and nodes.shape == (num_nodes,):
        return torch.from_numpy(np.array(nodes))
    if nodes.dtype.kind not in "iu" or not ((nodes >= 0) & (nodes < num_nodes)).all():
        raise InputError(f"the split {what} names a node that is not 0 to {num_nodes - 1}")
    mask = torch.zeros(num_nodes, dtype=torch.bool)
    mask[torch.from_numpy(nodes.astype(np.int64))] = True
    return mask
