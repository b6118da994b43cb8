"""Citation networks in the files of planetoid: Cora, CiteSeer and PubMed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array, vstack
from torch import Tensor

from augcl.data.node_graph import NodeGraph, Splits
from augcl.data.plain_pickle import read_plain_pickle
from augcl.data.where import mistakes_in
from augcl.errors import InputError

PARTS = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")
VALIDATION = 500  # nodes after the training nodes, in the public split

Array = np.ndarray[Any, Any]


def planetoid_file(path: Path) -> Path | None:
    """``ind.NAME.graph`` if `path` is one of the files of a planetoid graph, or their folder."""
    if path.is_dir():
        found = sorted(path.glob("ind.*.graph"))
        if len(found) > 1:
            raise InputError(f"{path} holds {len(found)} planetoid graphs: give one, {found[0]}")
        return found[0] if found else None
    named = path.name.split(".")
    if len(named) < 3 or named[0] != "ind" or not path.name.endswith(PARTS):
        return None
    return path.with_name(f"ind.{named[1]}.graph")


def read_planetoid(path: Path) -> NodeGraph:
    """Read ``ind.NAME.graph`` and the seven files beside it, with the public split.

    The files are pickles, but none is loaded: see :mod:`augcl.data.plain_pickle`. Test nodes that
    the files leave out (15 in CiteSeer) have features 0 and no class.

    Parameters
    ----------
    path : Path
        ``ind.NAME.graph``, or its folder.
    """
    graph_file = planetoid_file(Path(path))
    if graph_file is None:
        raise InputError(f"{path} holds no planetoid graph: files ind.NAME.x, ind.NAME.y …")
    prefix = graph_file.name.removesuffix("graph")
    files = {part: graph_file.with_name(f"{prefix}{part}") for part in PARTS}
    for file in files.values():
        if not file.is_file():
            raise InputError(
                f"{file} is missing: a planetoid graph needs all of {', '.join(PARTS)}"
            )
    train, known, tested = (_classes(files[part]) for part in ("y", "ally", "ty"))
    features, test_features = (_features(files[part]) for part in ("allx", "tx"))
    test = _test_index(files["test.index"], len(tested))
    if features.shape[0] != len(known) or test_features.shape[0] != len(tested):
        raise InputError(f"{graph_file.parent}: features and classes of {prefix}* differ in length")
    if features.shape[1] != test_features.shape[1]:
        raise InputError(f"{files['tx']} has another number of features than {files['allx'].name}")
    num_nodes = max(len(known), int(test.max(initial=-1)) + 1)

    y = np.full(num_nodes, -1)
    y[: len(known)], y[test] = known, tested
    with mistakes_in(graph_file):
        return NodeGraph.from_arrays(
            pairs=_pairs(graph_file),
            num_nodes=num_nodes,
            x=_in_order(features, test_features, test, num_nodes),
            y=torch.from_numpy(y),
            splits=_public_split(len(train), len(known), test, num_nodes),
            name=prefix.split(".")[1],
        )


def _in_order(features: Any, test_features: Any, test: Array, num_nodes: int) -> Any:
    """The rows of all nodes: first the known ones, then row k of the tests at node test[k]."""
    both = vstack([features, test_features], format="coo")
    place = np.concatenate([np.arange(features.shape[0]), test])
    parts = (both.data, (place[both.row], both.col))
    return csr_array(parts, shape=(num_nodes, features.shape[1]))


def _public_split(train: int, known: int, test: Array, num_nodes: int) -> Splits:
    node = np.arange(num_nodes)
    validation = (node >= train) & (node < min(train + VALIDATION, known))
    masks = (node < train, validation, np.isin(node, test))
    return Splits(*(torch.from_numpy(mask).unsqueeze(0) for mask in masks))


def _features(file: Path) -> Any:
    found = read_plain_pickle(file)
    if not isinstance(found, np.ndarray | csr_array) or found.ndim != 2:
        raise InputError(f"{file} holds no matrix of features")
    return csr_array(found)


def _classes(file: Path) -> Array:
    """(n,) the column of the 1 in each row, −1 where there is none."""
    table = read_plain_pickle(file)
    if not isinstance(table, np.ndarray) or table.ndim != 2:
        raise InputError(f"{file} holds no one-hot classes")
    return np.where(table.any(axis=1), table.argmax(axis=1), -1)


def _test_index(file: Path, count: int) -> Array:
    try:
        index = np.array(file.read_text().split(), np.int64)
    except (OSError, ValueError):
        raise InputError(f"{file} must hold one whole number a line") from None
    if len(index) != count or len(np.unique(index)) != count or index.min(initial=0) < 0:
        raise InputError(f"{file} must number the {count} test nodes of ty, each once")
    return index


def _pairs(file: Path) -> Tensor:
    neighbours = read_plain_pickle(file)
    try:
        counts = [len(ends) for ends in neighbours.values()]
        source = np.repeat(np.array(list(neighbours), np.int64), counts)
        target = np.array([end for ends in neighbours.values() for end in ends], np.int64)
    except (AttributeError, TypeError, ValueError):
        raise InputError(f"{file} holds no dict of the neighbours of each node") from None
    return torch.from_numpy(np.stack([source, target]))
