"""Read graphs in two ``.npz`` layouts: gnn-benchmark's and that of the heterophilous graphs.

gnn-benchmark: Amazon, Coauthor, citation networks. Heterophilous graphs: Minesweeper, Roman-empire
and others of Platonov et al., "A critical look at the evaluation of GNNs under heterophily: are we
really making progress?", ICLR 2023, arXiv:2302.11640.
"""

from __future__ import annotations

import os
import struct
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.sparse import coo_array
from torch import Tensor

from augcl.data.labels import node_class_names, node_classes
from augcl.data.limits import array_header, check_nodes, check_npz
from augcl.data.node_graph import NodeGraph, Splits
from augcl.data.sparse import csr_from_parts
from augcl.data.table import Table, known_numbers, warn_unused
from augcl.data.targets import Reading, Targets, stacked_targets
from augcl.errors import InputError, mistakes_in, readable

MAPPED = 1 << 26
"""Bytes from which on an unpacked matrix is a memory map."""

_CSR = ("data", "indices", "indptr", "shape")
_NAMES = ("attr_names", "node_names", "class_names")
_SILENT = (*_NAMES, "idx_to_attr", "idx_to_node", "idx_to_class", "metadata")
"""Names in published files; they are Python objects there, which are never loaded."""


def read_npz(path: str | os.PathLike[str], how: Reading | None = None) -> NodeGraph:
    """Read one graph from the arrays of either layout.

    Heterophilous graphs: ``node_features`` (N, F), ``node_labels`` (N,), ``edges`` (E, 2) and, as
    the splits, ``train_masks``, ``val_masks`` and ``test_masks`` (S, N).

    gnn-benchmark: ``adj_…``, ``attr_…`` and ``labels``. A matrix is stored as ``…_data``,
    ``…_indices``, ``…_indptr`` and ``…_shape``, or dense as ``…_matrix``. Attributes and labels may
    be absent; an adjacency with other values than 0 and 1 holds weights. ``attr_names``,
    ``node_names`` and ``class_names`` are read if they are text.

    Features that are words become one-hot, labels with fractions a regression. A warning names
    other arrays. No pickle is loaded: published files hold names as Python objects, which are not
    needed here. Edges become undirected.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "pair.npz"
    >>> np.savez(file, adj_matrix=np.array([[0, 1], [0, 0]]), labels=np.array([0, 1]))
    >>> read_npz(file)
    NodeGraph('pair': 2 nodes, 2 edge entries, 1 features, 2 classes)
    """
    path, how = Path(path), how or Reading()
    with readable(path), path.open("rb") as file:  # NumPy leaves it open when it is damaged
        try:
            loaded: Any = np.load(file, allow_pickle=False)
        except ValueError:
            raise InputError(f"{path} is not an npz file of NumPy arrays") from None
        if isinstance(loaded, np.ndarray):
            raise InputError(f"{path} contains a single array, not the arrays of a graph")
        check_npz(loaded.zip, path)
        arrays = _Arrays(loaded, path)
        features = _features(arrays)
        label = next((key for key in ("labels", "node_labels") if key in arrays), None)
        labels = None if label is None else arrays.read(label)
        rows = [len(part) for part in (labels,) if part is not None and part.ndim]
        rows = [features.shape[0]] if features is not None else rows
        pairs, weight, num_nodes = _edges(arrays, rows)
        splits = _masks(arrays, num_nodes)
        columns, names, classes = (arrays.texts(key) for key in _NAMES)
        arrays.warn_of_the_rest()
    with mistakes_in(path):
        at = _namer(names)
        if features is not None and getattr(features, "dtype", np.dtype(float)).kind in "US":
            called = columns or [f"x{i}" for i in range(features.shape[1])]
            words = dict(zip(called, features.astype(str).T.tolist(), strict=True))
            columns, features = Table.from_columns(words, "features", at).numbers(
                missing=how.missing
            )
        elif features is not None and not isinstance(features, np.memmap):
            features, columns = known_numbers(features, columns, how.missing, at)
        y, own, targets = (None, None, None) if labels is None else node_targets(labels, how)
        return NodeGraph.from_arrays(
            pairs=pairs,
            num_nodes=num_nodes,
            x=features,
            y=y,
            splits=splits,
            columns=columns,
            names=names,
            classes=own or classes,
            targets=targets,
            edge_weight=weight,
            name=path.stem,
        )


class _Arrays:
    """The arrays of a file, and which of them were read."""

    def __init__(self, arrays: Any, path: Path) -> None:
        self.path = path
        self._arrays = arrays
        self._rest = dict.fromkeys(arrays.files)

    def __contains__(self, key: str) -> bool:
        return key in self._arrays.files

    def read(self, key: str) -> np.ndarray[Any, Any]:
        if key not in self:
            raise InputError(f"{self.path}: the array {key} is missing")
        self._rest.pop(key, None)
        try:
            values: np.ndarray[Any, Any] | None = _mapped(self.path, self._arrays.zip, key)
            values = self._arrays[key] if values is None else values
        except ValueError:
            raise InputError(
                f"{self.path}: the array {key} holds Python objects, which are never loaded: save "
                "it as numbers or text"
            ) from None
        assert values is not None
        return values

    def matrix(self, prefix: str) -> Any:
        """Return the sparse or dense matrix with that prefix, None if there is none."""
        if f"{prefix}_data" in self:
            *parts, shape = (self.read(f"{prefix}_{part}") for part in _CSR)
            return csr_from_parts(parts, shape, f"{self.path}: {prefix}_data …")
        if f"{prefix}_matrix" in self:
            dense = self.read(f"{prefix}_matrix")
            words = "US" if prefix == "attr" else ""  # an adjacency holds numbers
            if dense.ndim != 2 or dense.dtype.kind not in "iufb" + words:
                raise InputError(
                    f"{self.path}: {prefix}_matrix has shape {dense.shape} and type {dense.dtype}: "
                    "expected a matrix; all entries must be numbers"
                )
            return dense
        return None

    def texts(self, key: str) -> list[str] | None:
        """Return names, None if there are none or if they are Python objects."""
        try:
            values: Any = self.read(key) if key in self else np.empty(0)
        except InputError:
            return None
        if values.dtype.kind == "S":
            return [str(one, "utf-8", "replace") for one in values.tolist()]
        return [str(one) for one in values.tolist()] if values.dtype.kind == "U" else None

    def warn_of_the_rest(self) -> None:
        rest = [key for key in self._rest if key not in _SILENT]
        if rest:
            warn_unused(str(self.path), rest, "a graph has features, edges, labels and masks")


def _mapped(path: Path, archive: zipfile.ZipFile, key: str) -> np.ndarray[Any, Any] | None:
    """Return a large array of numbers as a memory map; None if it is small, packed or other."""
    member = archive.getinfo(f"{key}.npy")
    if member.compress_type != zipfile.ZIP_STORED or member.file_size < MAPPED:
        return None
    with archive.open(member) as stream:
        shape, by_columns, dtype = array_header(stream)
        header = stream.tell()
    if dtype != np.float32 or len(shape) != 2 or by_columns:
        return None
    with path.open("rb") as file:  # the name and what else stands before the member
        file.seek(member.header_offset + 26)
        start = member.header_offset + 30 + sum(struct.unpack("<HH", file.read(4)))
    # Copy on write: torch wants arrays that it may write to.
    return np.memmap(path, dtype, "c", start + header, shape)


def _features(arrays: _Arrays) -> Any:
    """Return (N, F) numbers or words, or a sparse matrix; None if there are none."""
    found = arrays.matrix("attr")
    if found is not None or "node_features" not in arrays:
        return found
    features = arrays.read("node_features")
    if features.ndim != 2 or features.dtype.kind not in "fiubUS":
        raise InputError(
            f"{arrays.path}: node_features has shape {features.shape}: expected (N, F) numbers"
        )
    return features


def _edges(arrays: _Arrays, rows: Sequence[int]) -> tuple[Tensor, Tensor | None, int]:
    """Return the edges (2, P), their weights if they are not all 1, and the number of nodes."""
    path, adjacency = arrays.path, arrays.matrix("adj")
    if adjacency is not None:
        if adjacency.ndim != 2 or adjacency.shape[0] != adjacency.shape[1]:
            raise InputError(f"{path}: the adjacency has shape {adjacency.shape}: expected (N, N)")
        entries = coo_array(adjacency)
        there = entries.data != 0
        pairs = np.stack(entries.coords).astype(np.int64)[:, there]
        values = entries.data[there]
        weight = None if (values == 1).all() else torch.from_numpy(values.astype(np.float64))
        return torch.from_numpy(pairs), weight, adjacency.shape[0]
    if "edges" not in arrays:
        raise InputError(
            f"{path} contains no graph: it needs the arrays adj_data, adj_indices, adj_indptr and "
            "adj_shape (the gnn-benchmark layout) or adj_matrix, or else node_features, edges and "
            "node_labels (the layout of the heterophilous graphs)"
        )
    edges = arrays.read("edges")
    if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
        raise InputError(
            f"{path}: edges has shape {edges.shape} and type {edges.dtype}: expected (E, 2) whole "
            "numbers"
        )
    num_nodes = rows[0] if rows else int(edges.max(initial=-1)) + 1
    if not rows:
        check_nodes(num_nodes, len(edges), f"{path}: edges")
    return torch.from_numpy(edges.T.astype(np.int64)), None, num_nodes


def _masks(arrays: _Arrays, num_nodes: int) -> Splits | None:
    """Return the splits in the file, None if it has none."""
    keys = [f"{part}_masks" for part in ("train", "val", "test")]
    if not any(key in arrays for key in keys):
        return None
    masks = [np.atleast_2d(arrays.read(key)) for key in keys]
    for key, mask in zip(keys, masks, strict=True):
        if mask.shape != (len(masks[0]), num_nodes) or mask.dtype.kind not in "biu":
            raise InputError(
                f"{arrays.path}: {key} has shape {mask.shape}: expected ({len(masks[0])}, "
                f"{num_nodes}), splits × nodes"
            )
    return Splits(*(torch.from_numpy(mask.astype(bool)) for mask in masks))


def node_targets(labels: np.ndarray[Any, Any], how: Reading) -> Targets:
    """Return classes, as numbers or words, or numbers to predict."""
    if labels.dtype.kind not in "iufb":
        return Targets(node_classes(labels), node_class_names(labels.tolist()))
    whole = labels.dtype.kind != "f"
    y = torch.from_numpy(labels.astype(np.int64 if whole else np.float64))
    found = stacked_targets(y, how.task, of_nodes=True)
    if found is None or not found.is_floating_point():
        return Targets(found)
    several = found.dim() == 2
    names = [f"label{i}" for i in range(found.shape[1])] if several else ["label"]
    return Targets(found, None, names)


def _namer(names: list[str] | None) -> Callable[[int], str]:
    if names is None:
        return "node {}, counted from 0".format
    return lambda row: f"node {names[row]!r}"
