"""The nearest graphs or nodes of a run, as a table with their names and classes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import torch

from augcl.errors import InputError, did_you_mean
from augcl.files import atomic_path
from augcl.ops.neighbors import nearest
from augcl.runs.embedding_file import Embeddings, read_embeddings

ENDINGS = (".csv", ".parquet")
SHOWN = 5  # numbers of graphs with the same name


def embeddings_of(path: Path) -> Embeddings:
    """Read the embeddings of a run's folder, or those of a file that `augcl embed` wrote."""
    file = path / "embeddings.npz" if path.is_dir() else path
    if path.is_dir() and not file.is_file():
        raise InputError(
            f"{path} holds no embeddings: give the folder of a finished run (--out of augcl train) "
            "or a file that augcl embed wrote"
        )
    embeddings = read_embeddings(file)
    if embeddings.kernel:
        raise InputError(
            f"{path} holds a kernel instead of embeddings: train a method that embeds "
            "(augcl methods lists them)"
        )
    y, count = embeddings.y, len(embeddings.Z)
    if y is not None and (y.ndim not in (1, 2) or len(y) != count):
        raise InputError(f"{path}: labels of shape {y.shape} for {count} embeddings")
    called = embeddings.classes
    if called is not None and y is not None and y.ndim == 1 and y.dtype.kind in "iu":
        bad = (y < -1) | (y >= len(called))
        if bad.any():
            raise InputError(f"{path}: label {y[bad][0]}, but there are {len(called)} classes")
    return embeddings


def chosen(queries: Sequence[str], embeddings: Embeddings) -> list[int]:
    """Return the number of each query, which is a name or a number counted from 0.

    A text that is both is read as a name.

    >>> z = np.eye(3, dtype=np.float32)
    >>> chosen(["water", "2"], Embeddings(z, None, names=["salt", "water", "7"]))
    [1, 2]
    """
    count, things = len(embeddings.Z), _things(embeddings)
    places: dict[str, list[int]] = {}
    for i, name in enumerate(embeddings.names or []):
        places.setdefault(name, []).append(i)
    found = []
    for query in queries:
        here = places.get(query, [])
        if len(here) > 1:
            numbers = ", ".join(map(str, here[:SHOWN])) + (" …" if len(here) > SHOWN else "")
            raise InputError(f"{len(here)} {things} are called {query!r}: give a number, {numbers}")
        if not here and not (query.isascii() and query.isdigit() and int(query) < count):
            raise InputError(
                f"there is no {things[:-1]} {query!r}: {did_you_mean(query, places)}give a name or "
                f"a number from 0 to {count - 1}"
            )
        found.append(here[0] if here else int(query))
    return found


def neighbor_table(embeddings: Embeddings, queries: Sequence[int] | None, k: int) -> pa.Table:
    """Return one row per query and neighbour, the nearest first; all queries if None.

    The columns are query, rank (from 1), neighbor, similarity and, where there are labels, the
    class or the targets of both: query_class and class, or query_NAME and NAME.

    >>> z = np.array([[1, 0], [0, 1], [1, 1]], dtype=np.float32)
    >>> neighbor_table(Embeddings(z, None), [0], 1).to_pylist()
    [{'query': '0', 'rank': 1, 'neighbor': '2', 'similarity': 0.7071067690849304}]
    """
    with np.errstate(over="ignore"):  # `nearest` refuses what is infinite
        z = torch.from_numpy(np.asarray(embeddings.Z, dtype=np.float32))
    wanted = np.arange(len(z)) if queries is None else np.asarray(queries, dtype=np.int64)
    found = nearest(z, k, queries=torch.from_numpy(wanted))
    width = found.indices.shape[1]
    query, neighbor = wanted.repeat(width), found.indices.ravel()
    names = np.asarray(embeddings.names or [str(i) for i in range(len(z))], dtype=object)
    columns: dict[str, Any] = {
        "query": names[query],
        "rank": np.tile(np.arange(1, width + 1), len(wanted)),
        "neighbor": names[neighbor],
        "similarity": found.similarity.ravel(),
    }
    for name, values in labels_of(embeddings).items():
        columns |= {f"query_{name}": values[query], name: values[neighbor]}
    return pa.table(columns)


def labels_of(embeddings: Embeddings) -> dict[str, Any]:
    """Return what is known of each graph or node: its class, or its targets by name.

    >>> z = np.eye(2, dtype=np.float32)
    >>> labels_of(Embeddings(z, np.array([1, -1]), classes=["liquid", "solid"]))["class"].tolist()
    ['solid', '']
    """
    y = embeddings.y
    if y is None:
        return {}
    if y.ndim == 1 and y.dtype.kind != "f":
        if embeddings.classes is None or y.dtype.kind not in "iu":
            return {"class": y}
        called = np.asarray([*embeddings.classes, ""], dtype=object)  # the last one is -1, unknown
        return {"class": called[y]}
    values = y.reshape(len(y), -1)
    default = ["target"] if y.ndim == 1 else [f"target{i}" for i in range(values.shape[1])]
    names = embeddings.targets or default
    taken = {"query", "rank", "neighbor", "similarity"}
    return {
        f"{name}_target" if name in taken else name: values[:, i] for i, name in enumerate(names)
    }


def check_ending(path: Path) -> None:
    """Raise `InputError` unless the file's ending is one that `write_table` writes."""
    if path.suffix not in ENDINGS:
        raise InputError(f"{path}: the name must end in one of {', '.join(ENDINGS)}")


def write_table(table: pa.Table, path: Path) -> None:
    """Write a table to a .csv or .parquet file, atomically."""
    check_ending(path)
    write = pyarrow.csv.write_csv if path.suffix == ".csv" else pyarrow.parquet.write_table
    with atomic_path(path) as temporary:
        write(table, temporary)


def _things(embeddings: Embeddings) -> str:
    return "nodes" if embeddings.level == "node" else "graphs"
