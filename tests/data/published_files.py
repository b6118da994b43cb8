"""Small graphs in the files of gnn-benchmark, Wiki-CS and planetoid."""

from __future__ import annotations

import json
import pickle
from collections import defaultdict
from pathlib import Path
from struct import pack

import numpy as np
import scipy.sparse


def write_npz(path: Path, **changes: object) -> Path:
    """A directed graph 0 → 1 → 2, 2 → 2 with 4 nodes, 2 features and 3 classes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    adjacency = scipy.sparse.csr_matrix(([1.0, 1, 1], ([0, 1, 2], [1, 2, 2])), shape=(4, 4))
    features = scipy.sparse.csr_matrix([[1, 0], [0, 3], [0, 0], [1, 1]])
    arrays = {"labels": np.array([0, 1, 2, 1])}
    for prefix, matrix in (("adj", adjacency), ("attr", features)):
        for part in ("data", "indices", "indptr", "shape"):
            arrays[f"{prefix}_{part}"] = np.array(getattr(matrix, part))
    arrays |= changes
    np.savez(path, **{key: value for key, value in arrays.items() if value is not None})
    return path


def wikics(nodes: int = 12, splits: int = 20, **changes: object) -> dict:
    """A ring with loops and random splits; a change to None leaves a part out."""
    rng = np.random.default_rng(0)
    masks = rng.random((3, splits, nodes)) < 0.3
    whole = {
        "features": rng.normal(size=(nodes, 4)).round(3).tolist(),
        "labels": rng.integers(0, 3, nodes).tolist(),
        "links": [[(i + 1) % nodes, i] for i in range(nodes)],
        "train_masks": masks[0].tolist(),
        "stopping_masks": masks[1].tolist(),
        "val_masks": masks[2].tolist(),
        "test_mask": (rng.random(nodes) < 0.5).tolist(),
        "node_ids": list(range(nodes)),
    } | changes
    return {key: value for key, value in whole.items() if value is not None}


def write_wikics(path: Path, **changes: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(wikics(**changes)))
    return path


def number(value: int) -> bytes:
    return b"J" + pack("<i", value)


def text(value: str) -> bytes:
    return b"U" + bytes([len(value)]) + value.encode()


def py2_array(array: np.ndarray) -> bytes:
    kind, order = array.dtype.str[1:], array.dtype.str[0]
    shape = b"(" + b"".join(number(n) for n in array.shape) + b"t"
    dtype = b"cnumpy\ndtype\n(" + text(kind) + number(0) + number(1) + b"tR"
    dtype += b"(" + number(3) + text(order) + b"NNN" + number(-1) * 2 + number(0) + b"tb"
    raw = b"T" + pack("<i", array.nbytes) + array.tobytes()
    empty = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(" + number(0) + b"t"
    return empty + text("b") + b"tR(" + number(1) + shape + dtype + b"\x89" + raw + b"tb"


def py2_matrix(matrix: scipy.sparse.csr_matrix) -> bytes:
    state = text("_shape") + b"(" + b"".join(number(n) for n in matrix.shape) + b"t"
    for part in ("data", "indices", "indptr"):
        state += text(part) + py2_array(getattr(matrix, part))
    made = b"ccopy_reg\n_reconstructor\n(cscipy.sparse.csr\ncsr_matrix\nc__builtin__\nobject\nNtR"
    return made + b"}(" + state + text("maxprint") + number(50) + b"ub"


def py2(value: object) -> bytes:
    """A pickle of protocol 2 with the names and strings of Python 2."""
    if isinstance(value, np.ndarray):
        return b"\x80\x02" + py2_array(value) + b"."
    if isinstance(value, dict):
        items = b"".join(
            number(key) + b"](" + b"".join(number(end) for end in ends) + b"e"
            for key, ends in value.items()
        )
        return b"\x80\x02ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R(" + items + b"u."
    return b"\x80\x02" + py2_matrix(value) + b"."


def py3(value: object) -> bytes:
    return pickle.dumps(value, protocol=2)


def write_planetoid(folder: Path, name: str = "cora", dump=py2, gap: bool = False) -> dict:
    """Ten nodes on a ring with a chord: 2 train, 6 known, 4 test in no order.

    With `gap` the test nodes are 6, 9, 11 and 7: 8 and 10 are left out, as in CiteSeer.
    """
    test = [6, 9, 11, 7] if gap else [8, 6, 9, 7]
    rng = np.random.default_rng(0)
    allx = scipy.sparse.csr_matrix((rng.random((6, 5)) < 0.4).astype(np.float32))
    tx = scipy.sparse.csr_matrix((rng.random((4, 5)) < 0.4).astype(np.float32))
    ally, ty = (
        np.eye(3, dtype=np.int32)[[0, 1, 2, 0, 1, 2]],
        np.eye(3, dtype=np.int32)[[2, 0, 1, 1]],
    )
    graph = defaultdict(list, {i: [(i + 1) % 10, (i - 1) % 10] for i in range(10)})
    graph[0] += [0, 5, 5]  # a loop, and an edge twice in one direction
    parts = {"x": allx[:2], "allx": allx, "tx": tx, "y": ally[:2], "ally": ally, "ty": ty}
    folder.mkdir(parents=True, exist_ok=True)
    for part, value in (parts | {"graph": graph}).items():
        (folder / f"ind.{name}.{part}").write_bytes(dump(value))
    (folder / f"ind.{name}.test.index").write_text("".join(f"{i}\n" for i in test))
    return parts | {"graph": graph, "test": test}
