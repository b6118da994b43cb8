"""Write and read embeddings in files that other programs can read: .npz, .csv or .parquet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import numpy as np
import torch
from numpy.typing import NDArray

from augcl.data import GraphSet
from augcl.data.limits import check_npz
from augcl.data.node_graph import NodeGraph, Splits
from augcl.errors import InputError, one_of, shortened
from augcl.evaluation.inputs import Target
from augcl.files import atomic_path, regular

ENDINGS = (".npz", ".csv", ".parquet")
PARTS = ("train", "val", "test")


@dataclass(frozen=True)
class Embeddings:
    """(n, d) embeddings, the labels (n,) if the file has them, and what describes the task.

    `level` is "graph", "node" or "any" (not known); `kernel` is true if `Z` holds the
    similarities to the training graphs instead; `classes` are the names of the classes 0, 1, …;
    `names` those of the graphs or nodes, `targets` those of the targets. `typed` is true if
    the type of `y` separates classes from numbers; `columns` are all other columns of a table, or
    arrays with one entry per row.
    """

    Z: NDArray[np.float32]
    y: NDArray[Any] | None
    level: str = "any"
    splits: Splits | None = None
    kernel: bool = False
    classes: list[str] | None = None
    names: list[str] | None = None
    targets: list[str] | None = None
    typed: bool = False
    columns: dict[str, NDArray[Any]] = field(default_factory=dict)

    @property
    def task(self) -> Target:
        """Return the labels in the form that `augcl.evaluate` takes."""
        y: Any = self.y
        if self.typed and y is not None and y.dtype.kind == "f":
            y = torch.from_numpy(y)  # numbers to predict, even if all of them are whole
        level = self.level
        if level == "graph" and np.ndim(y) == 1 and np.isin(-1, y) and not np.isin(0, y):
            level = "any"  # classes −1 and 1 of the user; ours begin at 0, and −1 is unlabelled
        return Target(y, level, self.splits, self.classes)


def check_ending(path: Path) -> str:
    """Return the file's ending; raise `InputError` unless it is one of `ENDINGS`."""
    if path.suffix not in ENDINGS:
        raise InputError(f"{path}: the name must end in one of {', '.join(ENDINGS)}")
    return path.suffix


def write_embeddings(
    path: Path,
    embeddings: NDArray[np.float32],
    graphs: GraphSet | NodeGraph,
    *,
    kernel: bool = False,
) -> None:
    """Write embeddings with the names and labels of the graphs or nodes, where they have them.

    An .npz holds the arrays Z, y, classes, names and targets (their names, where they have any),
    level ("graph" or "node") and, for nodes with fixed splits, train, val and test (S, n) and
    usual_split (whether a single split judges by default). A table has the columns graph or node
    (the name), label, class (its name), z0, z1, … For a `kernel`, the .npz has a true value called
    kernel, and the columns of a table are k0, k1, …
    """

    import pyarrow.csv
    import pyarrow.parquet

    ending = check_ending(path)
    with atomic_path(path) as temporary:
        if ending == ".npz":
            with temporary.open("wb") as file:
                np.savez(file, **_arrays(embeddings, graphs, kernel))
        elif ending == ".csv":
            pyarrow.csv.write_csv(_table(embeddings, graphs, kernel), temporary)
        else:
            pyarrow.parquet.write_table(_table(embeddings, graphs, kernel), temporary)


def read_embeddings(path: Path) -> Embeddings:
    """Read a file that `write_embeddings` wrote, or another one with the same arrays or columns."""
    if not path.exists():
        raise InputError(
            f"{path} does not exist: give the folder of a finished run (--out of augcl train) or a "
            "file that augcl embed wrote"
        )
    ending = check_ending(path)
    regular(path)
    try:
        return _read_npz(path) if ending == ".npz" else _checked(path, _read_table(path))
    except (InputError, PermissionError):
        raise
    except Exception as error:  # zipfile, zlib, NumPy and Arrow have errors of many kinds
        reason = " ".join(shortened(error).split()) or type(error).__name__
        raise InputError(f"{path} cannot be read: {reason}") from error


def _read_npz(path: Path) -> Embeddings:
    if not is_zipfile(path):
        raise InputError(f"{path} is not a complete .npz file")
    with (
        path.open("rb") as file,  # NumPy leaves it open when it is damaged
        np.load(file, allow_pickle=False) as arrays,  # reads an array when it is used
    ):
        check_npz(arrays.zip, path)
        if "Z" not in arrays:
            raise InputError(f"{path} has no array Z with the embeddings")
        return _checked(path, arrays)


def _read_table(path: Path) -> dict[str, Any]:
    """Return the arrays that an .npz file would hold."""

    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    reader = pyarrow.csv.read_csv if path.suffix == ".csv" else pyarrow.parquet.read_table
    table = reader(path)
    names = table.column_names
    for name in names:
        if pa.types.is_binary(table[name].type) or pa.types.is_large_binary(table[name].type):
            raise InputError(f"{path}: column {name} holds bytes: store text or numbers")
    kernel = "k0" in names and "z0" not in names
    letter = "k" if kernel else "z"
    columns = [name for name in names if name[:1] == letter and name[1:].isdigit()]
    if not columns:
        raise InputError(f"{path} has no columns z0, z1, … with the embeddings")
    Z = np.column_stack([table[name].to_numpy() for name in columns])
    found = {"Z": Z, "kernel": np.bool_(kernel)}
    if "label" in names:
        found["y"] = table["label"].to_numpy()
    targets = [name for name in names if name.startswith("target:")]
    if targets:
        found["y"] = np.column_stack([table[name].to_numpy() for name in targets])
    found |= {name: table[name].to_numpy() for name in names if name not in {*columns, *found}}
    for level in ("node", "graph"):
        if level in names:
            found["level"] = np.str_(level)
            found["names"] = table[level].to_numpy()
    return found


def _checked(path: Path, arrays: Mapping[str, NDArray[Any]]) -> Embeddings:
    Z, y = _native(arrays["Z"]), _native(arrays.get("y"))
    if Z.dtype.kind not in "fiu":
        raise InputError(f"{path}: some embeddings are not numbers")
    if Z.ndim != 2:
        raise InputError(f"{path}: the embeddings have the shape {Z.shape}: give (n, d)")
    # CSV holds the shortest text that gives the same float32; as float64 it is another number.
    with np.errstate(over="ignore"):  # a number beyond single precision is infinite
        single = Z.astype(np.float32)
    bad = ~np.isfinite(single).all(axis=1)
    if bad.any():
        raise InputError(
            f"{path}: {bad.sum()} of {len(Z)} embeddings hold NaN, infinity or a number beyond "
            f"single precision, the first is entry {bad.argmax() + 1}"
        )
    Z = single if path.suffix == ".csv" else Z
    if y is not None and y.dtype.kind in "OU" and not all(map(bool, y)):
        row = next(i for i, label in enumerate(y) if not label)
        raise InputError(f"{path}: entry {row + 1} has no label; give every entry one, or none")
    level = one_of(str(arrays.get("level", "any")), ("any", "graph", "node"), f"level in {path}:")
    splits = None
    if all(part in arrays for part in PARTS):
        masks = {part: torch.from_numpy(arrays[part]) for part in PARTS}
        splits = Splits(**masks, usual=bool(arrays.get("usual_split", False)))
    kernel = bool(arrays.get("kernel", False))
    words = {
        part: list(map(str, arrays[part].tolist()))
        for part in ("classes", "names", "targets")
        if part in arrays
    }
    if len(words.get("names", Z)) != len(Z):
        raise InputError(f"{path}: {len(words['names'])} names for {len(Z)} embeddings")
    typed = path.suffix == ".npz" and level != "any"
    more = {
        key: arrays[key]
        for key in arrays
        if key not in ("Z", "y", "level", "kernel", "classes", "names", "targets", *PARTS)
        and np.shape(arrays[key]) == (len(Z),)
    }
    return Embeddings(Z, y, level, splits, kernel=kernel, typed=typed, columns=more, **words)


def _native(array: Any) -> Any:
    """Return an array in the byte order of this machine: torch and Arrow take no other."""
    return None if array is None else array.astype(array.dtype.newbyteorder("="), copy=False)


def _arrays(
    embeddings: NDArray[np.float32], graphs: GraphSet | NodeGraph, kernel: bool
) -> dict[str, Any]:
    arrays: dict[str, Any] = {"Z": embeddings, "level": np.str_(_level(graphs))}
    if kernel:
        arrays["kernel"] = np.bool_(True)
    if graphs.y is not None:
        arrays["y"] = graphs.y.cpu().numpy()
    for part in ("classes", "names", "targets"):
        if getattr(graphs, part) is not None:
            arrays[part] = np.asarray(getattr(graphs, part), dtype=np.str_)
    if isinstance(graphs, NodeGraph) and graphs.splits is not None:
        arrays |= {part: getattr(graphs.splits, part).cpu().numpy() for part in PARTS}
        if graphs.splits.usual:
            arrays["usual_split"] = np.bool_(True)
    return arrays


def _level(graphs: GraphSet | NodeGraph) -> str:
    return "node" if isinstance(graphs, NodeGraph) else "graph"


def _table(embeddings: NDArray[np.float32], graphs: GraphSet | NodeGraph, kernel: bool) -> Any:
    import pyarrow as pa

    names = graphs.names or [str(i) for i in range(len(embeddings))]
    columns: dict[str, Any] = {_level(graphs): list(names)}
    if graphs.y is not None and graphs.y.dim() == 2:
        called = graphs.targets or [str(t) for t in range(graphs.y.shape[1])]
        columns |= {f"target:{name}": graphs.y[:, t].cpu().numpy() for t, name in enumerate(called)}
    elif graphs.y is not None:
        columns["label"] = graphs.y.cpu().numpy()
        if graphs.classes is not None:
            columns["class"] = [graphs.classes[c] if c >= 0 else "" for c in graphs.y.tolist()]
    letter = "k" if kernel else "z"
    columns |= {f"{letter}{i}": embeddings[:, i] for i in range(embeddings.shape[1])}
    return pa.table(columns)
