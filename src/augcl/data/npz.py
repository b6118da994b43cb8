"""Read graphs in the ``.npz`` layout of gnn-benchmark: Amazon, Coauthor, citation networks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import torch

from augcl.data.labels import node_classes
from augcl.data.node_graph import NodeGraph
from augcl.data.sparse import csr_from_parts
from augcl.errors import InputError, mistakes_in, readable

_CSR = ("data", "indices", "indptr", "shape")


def read_npz(path: str | os.PathLike[str]) -> NodeGraph:
    """Read one graph from the arrays ``adj_…``, ``attr_…`` and ``labels``.

    A matrix is stored as ``…_data``, ``…_indices``, ``…_indptr`` and ``…_shape``, or dense as
    ``…_matrix``. Attributes and labels may be absent. Other arrays are ignored, and no pickle is
    loaded: published files hold names of features and classes as Python objects, which are not
    needed here. Edges become undirected.

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
        adjacency = _matrix(arrays, "adj", path)
        features = _matrix(arrays, "attr", path)
        labels = _array(arrays, "labels", path) if "labels" in arrays.files else None
    if adjacency is None:
        raise InputError(
            f"{path} contains no graph: it needs the arrays adj_data, adj_indices, adj_indptr and "
            "adj_shape (the gnn-benchmark layout) or adj_matrix"
        )
    if adjacency.shape[0] != adjacency.shape[1]:
        raise InputError(f"{path}: the adjacency has shape {adjacency.shape}: expected (N, N)")
    with mistakes_in(path):
        return NodeGraph.from_arrays(
            pairs=torch.from_numpy(np.stack(adjacency.nonzero()).astype(np.int64)),
            num_nodes=adjacency.shape[0],
            x=features,
            y=None if labels is None else node_classes(labels),
            name=path.stem,
        )


def _matrix(arrays: Any, prefix: str, path: Path) -> Any:
    """Return the sparse or dense matrix with that prefix, None if there is none."""
    if f"{prefix}_data" in arrays.files:
        *parts, shape = (_array(arrays, f"{prefix}_{part}", path) for part in _CSR)
        return csr_from_parts(parts, shape, f"{path}: {prefix}_data …")
    if f"{prefix}_matrix" in arrays.files:
        return _array(arrays, f"{prefix}_matrix", path)
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
