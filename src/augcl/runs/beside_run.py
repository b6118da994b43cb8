"""What `augcl explore` computes on demand for the page of a run: its floors, and a t-SNE plane."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from augcl.checks import parameters
from augcl.data.graph import GraphSet
from augcl.data.node_graph import NodeGraph
from augcl.errors import InputError
from augcl.files import read_record, write_json
from augcl.runs.embedding_file import Embeddings
from augcl.runs.explored import read_explored, write_explored
from augcl.runs.models import METHODS
from augcl.runs.run import Spec, one_thread, run
from augcl.runs.seeds import read_result

FLOORS, TSNE = "floors.json", "tsne.npz"
FREE = {"graph": "WLFeatures", "node": "Propagation"}
"""What needs no training, by what is embedded."""
PERPLEXITY = 30


def compute_floors(
    folder: Path,
    *,
    data_dir: str | None = None,
    progress: bool = True,
    data: GraphSet | NodeGraph | None = None,
) -> None:
    """Score what needs no training and the untrained network on the splits of a run.

    Data that are loaded already are not read again.
    """
    result = read_result(folder)
    if result["accuracy"] is None:
        raise InputError(f"{folder} was not evaluated: train it with labels to see floors")
    spec = Spec(**result["spec"])
    alone = replace(spec, hardness="none", hardness_options={}, beside=None)
    free = replace(
        alone,
        method=FREE[spec.level],
        options={},
        augmentation=None,
        epochs=None,
        precision="32-true",
    )
    rows = {free.method: free}
    if "epochs" in parameters(METHODS[spec.method]):
        rows["untrained"] = replace(alone, epochs=0)
    if spec.level == "graph":
        one_thread()  # as in the training
    found = {}
    for name, row in rows.items():
        records = [
            run(row, seed, data_dir=data_dir, progress=progress, data=data).record
            for seed in result["seeds"]
        ]
        found[name] = [record["accuracy"]["mean"] for record in records]
    write_json(folder / FLOORS, {"of": _trained(result), "scores": found})


def read_floors(folder: Path, result: dict[str, Any]) -> dict[str, list[float]]:
    """Return the scores of each floor by seed; empty if they were computed for another training."""
    record = read_record(folder / FLOORS)
    if record is None or record["of"] != _trained(result):
        return {}
    return {str(name): [float(v) for v in runs] for name, runs in record["scores"].items()}


def _trained(result: dict[str, Any]) -> dict[str, Any]:
    """What the floors of a run depend on."""
    spec = {k: v for k, v in result["spec"].items() if not k.startswith("hardness")}
    return {"spec": spec, "seeds": result["seeds"], "protocol": result["accuracy"]["protocol"]}


def compute_tsne(folder: Path, stored: Embeddings, ids: NDArray[np.int64]) -> None:
    """Compute the t-SNE plane of the points that a page shows; from principal components."""
    from sklearn import manifold

    if stored.kernel or len(ids) < 5:
        raise InputError(f"{folder} has no embeddings for a t-SNE plane: leave out --tsne")
    perplexity = min(PERPLEXITY, (len(ids) - 1) / 3)
    tsne = manifold.TSNE(init="pca", random_state=0, perplexity=perplexity)
    with threadpool_limits(1):  # threads that wait for each other cost more than they bring
        plane = tsne.fit_transform(np.asarray(stored.Z[ids], dtype=np.float32))
    write_explored(folder / TSNE, {"plane": plane.astype(np.float32), "of": _digest(stored)})


def read_tsne(folder: Path, stored: Embeddings, count: int) -> NDArray[np.float32] | None:
    """Return the plane (count, 2); None if there is none of these embeddings."""
    kept = read_explored(folder / TSNE)
    if not kept or not np.array_equal(kept["of"], _digest(stored)):
        return None
    plane = kept["plane"].astype(np.float32)
    return plane if plane.shape == (count, 2) and np.isfinite(plane).all() else None


def _digest(stored: Embeddings) -> NDArray[np.uint8]:
    content = np.ascontiguousarray(stored.Z).tobytes()
    return np.frombuffer(hashlib.blake2b(content, digest_size=16).digest(), dtype=np.uint8)
