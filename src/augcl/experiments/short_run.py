"""A few epochs on a part of the data, to see what all of it will cost here."""

from __future__ import annotations

import contextlib
import sys
import time
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from scipy.sparse import csr_array

from augcl.data import GraphSet, NodeGraph
from augcl.errors import InputError
from augcl.evaluation import evaluate
from augcl.experiments.cost import BATCH, Cost, Plan, estimate
from augcl.experiments.run import NODE_RUNS, Spec
from augcl.training.loop import make_fabric
from augcl.training.progress import progress_bar

GRAPHS, NODES = 2 * BATCH, 1500
EPOCHS, WARMUP = 4, 2  # of the two of each kind the first is slow, and not counted
TRIED_RUNS = 2  # of the protocol that judges nodes


@dataclass(frozen=True)
class ShortRun:
    """How much was tried, of how much, and the cost that follows for all of the data."""

    tried: int
    of: int
    cost: Cost


def short_run(spec: Spec, data: GraphSet | NodeGraph, *, progress: bool = True) -> ShortRun:
    """Train four epochs on a part of the data, and scale the cost up by the rule of `estimate`."""
    some = part_of_data(data)
    plan = Plan.of(spec, data)
    brief = replace(spec, epochs=EPOCHS, options={**spec.options, "warmup": WARMUP})
    make_fabric("cpu")  # what is imported there is not of this run
    with (
        progress_bar("short run", 2, show=progress, stay=False) as report,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # what four epochs do not learn is no news
        before = start_watching_memory()
        model = brief.estimator(some, 0, progress=False).fit(some)
        report(1, "trained")
        judged = _seconds_of_judging(model.transform(some), some)
        report(2, "judged")
        memory = max(0.0, peak_memory() - before)
    epochs = [metrics["seconds"] for metrics in model.history_]
    measured = Cost(
        plain_epoch=epochs[WARMUP - 1],
        weighted_epoch=epochs[-1],
        fit=max(0.0, epochs[WARMUP] - epochs[-1]),
        evaluation=estimate(some, plan).evaluation if judged is None else judged,
        memory=memory,
    )
    cost = scaled(measured, estimate(some, plan), estimate(data, plan))
    return ShortRun(_count(some), _count(data), cost)


def scaled(measured: Cost, expected: Cost, expected_of_all: Cost) -> Cost:
    """The cost of all, from what a part took and what was expected of the part and of all.

    Seconds grow as expected; to the memory is added what is expected of the rest, because much of
    it does not grow.
    """
    parts = ("plain_epoch", "weighted_epoch", "fit", "evaluation")
    grown = {
        part: getattr(measured, part) * getattr(expected_of_all, part) / getattr(expected, part)
        for part in parts
        if getattr(expected, part)
    }
    grown = {**dict.fromkeys(parts, 0.0), **grown}  # without labels nothing is judged
    return Cost(**grown, memory=measured.memory + expected_of_all.memory - expected.memory)


def part_of_data(data: GraphSet | NodeGraph) -> GraphSet | NodeGraph:
    """Some graphs, or some nodes with the edges among them, evenly spread over all."""
    most, count = GRAPHS if isinstance(data, GraphSet) else NODES, _count(data)
    if count <= most:
        return data
    ids = torch.linspace(0, count - 1, most).round().long()
    return data.select(ids) if isinstance(data, GraphSet) else _among(data, ids)


def _among(graph: NodeGraph, ids: torch.Tensor) -> NodeGraph:
    place = torch.full((graph.num_nodes,), -1)
    place[ids] = torch.arange(len(ids))
    ends = place[graph.edge_index]
    x: Any = graph.x
    if x.layout == torch.sparse_csr:
        parts = (x.values(), x.col_indices(), x.crow_indices())
        x = csr_array(tuple(part.numpy() for part in parts), shape=tuple(x.shape))
    return NodeGraph.from_arrays(
        pairs=ends[:, (ends >= 0).all(0)],
        num_nodes=len(ids),
        x=x[ids.numpy()],
        y=None if graph.y is None else graph.y[ids],
        name=graph.name,
    )


def _count(data: GraphSet | NodeGraph) -> int:
    return len(data) if isinstance(data, GraphSet) else data.num_nodes


def _seconds_of_judging(embeddings: Any, data: GraphSet | NodeGraph) -> float | None:
    """Of all runs of the protocol; None if the part cannot be judged, with too few of a class."""
    nodes = isinstance(data, NodeGraph)
    started = time.perf_counter()
    try:
        evaluate(embeddings, data, repeats=TRIED_RUNS if nodes else 1, progress=False)
    except InputError:
        return None
    return (time.perf_counter() - started) * (NODE_RUNS / TRIED_RUNS if nodes else 1)


def start_watching_memory() -> float:
    """Bytes in use; from here on the peak counts, where the system can forget an earlier one."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return peak_memory()


def peak_memory() -> float:
    """The most bytes that this process had in use; 0 where nobody tells."""
    with contextlib.suppress(OSError, StopIteration):  # ru_maxrss also counts who started this one
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(1024.0 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)
