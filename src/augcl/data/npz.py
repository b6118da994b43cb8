"""Read graphs in two ``.npz`` layouts: gnn-benchmark's and that of the heterophilous graphs.

gnn-benchmark: Amazon, Coauthor, citation networks. Heterophilous graphs: Minesweeper, Roman-empire
and others of Platonov et al., "A critical look at the evaluation of GNNs under heterophily: are we
really making progress?", ICLR 2023, arXiv:2302.11640.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import torch

from augcl.data.labels import node_classes
from augcl.data.limits import check_npz
from augcl.data.node_graph import NodeGraph, Splits
from augcl.data.sparse import csr_from_parts
from augcl.errors import InputError, mistakes_in, readable

_CSR = ("data", "indices", "indptr", "shape")


def read_npz(path: str | os.PathLike[str]) -> NodeGraph:
    """Read one graph from the arrays of either layout.

    Heterophilous graphs: ``node_features`` (N, F), ``node_labels`` (N,), ``edges`` (E, 2) and, as
    the splits, ``train_masks``, ``val_masks`` and ``test_masks`` (S, N).

    gnn-benchmark: ``adj_…``, ``attr_…`` and ``labels``. A matrix is stored as ``…_data``,
    ``…_indices``, ``…_indptr`` and ``…_shape``, or dense as ``…_matrix``. Attributes and labels may
    be absent.

    Other arrays are ignored, and no pickle is loaded: published files hold names of features and
    classes as Python objects, which are not needed here. Edges become undirected.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "pair.npz"
    >>> np.savez(file, adj_matrix=np.array([[0, 1], [0, 0]]), labels=np.array([0, 1]))
    >>> read_npz(file)
    NodeGraph('pair': 2 nodes, 2 edge entries, 1 features, 2 classes)
    """
    path = Path(path)
    with readable(path), path.open("rb") as file:  # NumPy leaves it open when it is damaged
        try:
            arrays: Any = np.load(file, allow_pickle=False)
        except ValueError:
            raise InputError(f"{path} is not an npz file of NumPy arrays") from None
        if isinstance(arrays, np.ndarray):
            raise InputError(f"{path} contains a single array, not the arrays of a graph")
        check_npz(arrays.zip, path)
        if "edges" in arrays.files and "node_features" in arrays.files:
            return _heterophilous(arrays, path)
        adjacency = _matrix(arrays, "adj", path)
        features = _matrix(arrays, "attr", path)
        labels = _array(arrays, "labels", path) if "labels" in arrays.files else None
    if adjacency is None:
        raise InputError(
            f"{path} contains no graph: it needs the arrays adj_data, adj_indices, adj_indptr and "
            "adj_shape (the gnn-benchmark layout) or adj_matrix, or else node_features, edges and "
            "node_labels (the layout of the heterophilous graphs)"
        )
    if adjacency.ndim != 2 or adjacency.shape[0] != adjacency.shape[1]:
        raise InputError(f"{path}: the adjacency has shape {adjacency.shape}: expected (N, N)")
    with mistakes_in(path):
        return NodeGraph.from_arrays(
            pairs=torch.from_numpy(np.stack(adjacency.nonzero()).astype(np.int64)),
            num_nodes=adjacency.shape[0],
            x=features,
            y=None if labels is None else node_classes(labels),
            name=path.stem,
        )


def _heterophilous(arrays: Any, path: Path) -> NodeGraph:
    features, edges = (_array(arrays, key, path) for key in ("node_features", "edges"))
    if features.ndim != 2 or features.dtype.kind not in "fiub":
        raise InputError(
            f"{path}: node_features has shape {features.shape}: expected (N, F) numbers"
        )
    if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
        raise InputError(
            f"{path}: edges has shape {edges.shape} and type {edges.dtype}: expected (E, 2) whole "
            "numbers"
        )
    labels = _array(arrays, "node_labels", path) if "node_labels" in arrays.files else None
    with mistakes_in(path):
        return NodeGraph.from_arrays(
            pairs=torch.from_numpy(edges.T.astype(np.int64)),
            num_nodes=len(features),
            x=features,
            y=None if labels is None else node_classes(labels),
            splits=_masks(arrays, len(features), path),
            name=path.stem,
        )


def _masks(arrays: Any, num_nodes: int, path: Path) -> Splits | None:
    """Return the splits in the file, None if it has none."""
    keys = [f"{part}_masks" for part in ("train", "val", "test")]
    if not any(key in arrays.files for key in keys):
        return None
    masks = [np.atleast_2d(_array(arrays, key, path)) for key in keys]
    for key, mask in zip(keys, masks, strict=True):
        if mask.shape != (len(masks[0]), num_nodes) or mask.dtype.kind not in "biu":
            raise InputError(
                f"{path}: {key} has shape {mask.shape}: expected ({len(masks[0])}, {num_nodes}), "
                "splits × nodes"
            )
    return Splits(*(torch.from_numpy(mask.astype(bool)) for mask in masks))


def _matrix(arrays: Any, prefix: str, path: Path) -> Any:
    """Return the sparse or dense matrix with that prefix, None if there is none."""
    if f"{prefix}_data" in arrays.files:
        *parts, shape = (_array(arrays, f"{prefix}_{part}", path) for part in _CSR)
        return csr_from_parts(parts, shape, f"{path}: {prefix}_data …")
    if f"{prefix}_matrix" in arrays.files:
        dense = _array(arrays, f"{prefix}_matrix", path)
        if dense.ndim != 2 or dense.dtype.kind not in "iufb":
            raise InputError(
                f"{path}: {prefix}_matrix has shape {dense.shape} and type {dense.dtype}: expected "
                "a matrix; all entries must be numbers"
            )
        return dense
    return None


def _array(arrays: Any, key: str, path: Path) -> np.ndarray[Any, Any]:
    if key not in arrays.files:
        raise InputError(f"{path}: the array {key} is missing")
    try:
        values: np.ndarray[Any, Any] = arrays[key]
    except ValueError:
        raise InputError(
            f"{path}: the array {key} holds Python objects, which are never loaded: save it as "
            "numbers or text"
        ) from None
    return values
