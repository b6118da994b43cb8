"""Measure one large graph in its own process, print JSON: ``python -m benchmarks.large_graph``.

``epoch N``: GCA with AUGCL in mini-batches on `planted` with N nodes. ``propagation N``. ``onset``:
GCA with AUGCL and 1,000 sampled negatives on a graph with the size of Coauthor-CS.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array

from augcl.data import NodeGraph
from augcl.data.generators import planted
from augcl.data.sparse import compact
from augcl.methods import GCA, Propagation
from augcl.runs.run import peak_memory
from augcl.training.callbacks import Callback


class Clock(Callback):
    """Add the processor time of an epoch to its metrics, and that of all its steps but the first.

    The first one waits for the cut of the graph and the fit of the hardness.
    """

    def on_epoch_begin(self, estimator: Any, metrics: dict[str, Any]) -> None:
        self.started = time.process_time()

    def on_batch_end(self, estimator: Any, metrics: dict[str, Any]) -> None:
        self.last = time.process_time(), time.perf_counter()
        if metrics["batch"] == 1:
            self.first = self.last

    def on_epoch_end(self, estimator: Any, metrics: dict[str, Any]) -> None:
        metrics["cpu"] = time.process_time() - self.started
        metrics["steps"] = [end - begin for begin, end in zip(self.first, self.last, strict=True)]


def like_coauthor_cs(words: int = 60) -> NodeGraph:
    """Return a graph with the size of Coauthor-CS: 18,333 nodes with 60 of 6,805 words each.

    About 82,000 edges, 15 classes. Half of the words of a node are among those of its class.
    """
    graph = planted(18_333, classes=15, degree=9.2, features=1)
    assert graph.y is not None
    rng, y, columns = np.random.default_rng(0), graph.y.numpy(), 6805
    own = rng.random((len(y), words)) < 0.5
    share = columns // 15
    drawn = np.where(
        own,
        y[:, None] * share + rng.integers(share, size=own.shape),
        rng.integers(columns, size=own.shape),
    )
    rows = np.repeat(np.arange(len(y)), words)
    counts = csr_array((np.ones(rows.size), (rows, drawn.ravel())), shape=(len(y), columns))
    counts.data[:] = 1
    return replace(graph, x=compact(counts), name="like-Coauthor-CS", columns=None)


def epoch(nodes: int) -> dict[str, float]:
    """Train for one epoch with weights; time it without what comes before its steps."""
    model = GCA(
        hardness="augcl",
        warmup=0,
        epochs=1,
        batch_nodes=8192,
        callbacks=[Clock()],
        progress=False,
    )
    (only,) = model.fit(planted(nodes)).history_
    batches = -(-nodes // 8192)
    cpu, wall = (part * batches / (batches - 1) for part in only["steps"])
    return {"cpu": cpu, "seconds": wall, "start": only["cpu"] - cpu, "memory": peak_memory() / 1e9}


def propagation(nodes: int) -> dict[str, float]:
    """Fit and transform."""
    graph = planted(nodes)
    cpu, wall = time.process_time(), time.perf_counter()
    Propagation(progress=False).fit_transform(graph)
    return {
        "cpu": time.process_time() - cpu,
        "seconds": time.perf_counter() - wall,
        "memory": peak_memory() / 1e9,
    }


def onset() -> dict[str, float]:
    """Train; the onset is what the first epoch with weights takes more than a later one."""
    graph = like_coauthor_cs()
    model = GCA(
        hardness="augcl",
        preset="published",
        candidates=1000,
        warmup=4,
        epochs=8,
        callbacks=[Clock()],
        progress=False,
    )
    history = model.fit(graph).history_
    plain = statistics.median(m["cpu"] for m in history[1:4])
    weighted = statistics.median(m["cpu"] for m in history[5:])
    return {
        "cpu": history[4]["cpu"] - weighted,
        "epoch": plain,
        "weighted": weighted,
        "seconds": history[4]["seconds"],
        "memory": peak_memory() / 1e9,
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    what, *sizes = sys.argv[1:]
    works: dict[str, Any] = {"epoch": epoch, "propagation": propagation, "onset": onset}
    print(json.dumps(works[what](*map(int, sizes))))
