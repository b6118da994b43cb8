"""Estimate time and memory of a training from the sizes of the data, and check by a short run."""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import torch
from scipy.sparse import csr_array

from augcl.checks import parameters
from augcl.data import GraphSet, NodeGraph
from augcl.data.sparse import share_filled
from augcl.errors import InputError
from augcl.evaluation.svm import LARGEST_MATRIX
from augcl.losses.node_info_nce import stores_weights
from augcl.methods.propagation import Propagation
from augcl.runs.models import METHODS
from augcl.runs.run import (
    JUDGED,
    NODE_RUNS,
    Spec,
    one_thread,
    peak_memory,
    start_watching_memory,
)
from augcl.training.estimator import Estimator
from augcl.training.loop import make_fabric
from augcl.training.parts import AUTOMATIC, USUAL, nodes_per_step
from augcl.training.progress import progress_bar

Level = Literal["ok", "note", "warning"]


@dataclass(frozen=True)
class Finding:
    """One line of `augcl doctor`: what was found, and what to do about it.

    Parameters
    ----------
    level : {"ok", "note", "warning"}
        Fine, good to know, or probably a problem.
    about : str
        The subject, in a word or two.
    what : str
        What was found.
    cure : str
        What to do; empty where there is nothing to do.
    """

    level: Level
    about: str
    what: str
    cure: str = ""


def counted(count: int, thing: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "node"), counted(2500, "node"), counted(2, "class")
    ('1 node', '2,500 nodes', '2 classes')
    """
    ending = "" if count == 1 else "es" if thing.endswith("s") else "s"
    return f"{count:,} {thing}{ending}"


def part_of(count: int, total: int, thing: str) -> str:
    """Return a number out of a total, with its share.

    >>> part_of(1, 4, "node")
    '1 of 4 nodes (25 %)'
    """
    share = 100 * count / total
    shown = "under 1" if 0 < share < 1 else "over 99" if 99 < share < 100 else f"{share:.0f}"
    return f"{count:,} of {counted(total, thing)} ({shown} %)"


BATCH = 128
WIDTH = 128  # of an embedding whose method has no such setting
SVM_CACHE = 200e6  # bytes; the largest cache of kernel rows in libsvm


@dataclass(frozen=True)
class Plan:
    """Epochs of `augcl train`, epochs before the weights, and the width of an embedding.

    Without weights all epochs come before them. A method that is not trained has no epochs.
    `candidates` is the number of negatives that a step samples; None if it takes all nodes.
    `batch_nodes` is the number of nodes of a mini-batch; None if a step takes all nodes.
    `beside` is the number of columns that `Propagation` puts beside an embedding of nodes.
    """

    epochs: int
    warmup: int
    width: int
    candidates: int | None = None
    batch_nodes: int | None = None
    beside: int = 0

    @classmethod
    def of(cls, spec: Spec, data: GraphSet | NodeGraph) -> Plan:
        """Read the plan from the settings of the method."""
        model = replace(spec, beside=None).estimator(data, 0)
        settings = model.settings()
        epochs, width = settings.get("epochs", 0), settings.get("width") or WIDTH
        warmup, step = epochs, None
        if spec.hardness != "none" and isinstance(model, Estimator):
            warmup = model.warmup_epochs()
        if isinstance(data, NodeGraph) and "batch_nodes" in parameters(type(model)):
            step = nodes_per_step(data.num_nodes, settings.get("batch_nodes"))
        beside = 0
        if spec.beside == "Propagation":
            beside = Propagation().columns(data.num_features)
        return cls(epochs, warmup, width, sampled_negatives(settings), step, beside)

    @property
    def weighted(self) -> bool:
        """Return whether some epochs have weights."""
        return self.warmup < self.epochs


def sampled_negatives(settings: Mapping[str, Any]) -> int | None:
    """Return the number of negatives that a step samples; None if it takes all."""
    candidates = settings.get("candidates")
    return candidates if isinstance(candidates, int) else None


@dataclass(frozen=True)
class Cost:
    """The cost of one seed: seconds of each part, and peak memory in bytes.

    `once` are the seconds of a training outside its epochs: all of them for a method without any.
    The data set itself is included in the memory, Python and torch are not.
    """

    plain_epoch: float
    weighted_epoch: float
    fit: float
    evaluation: float
    memory: float
    once: float = 0.0

    def seconds(self, plan: Plan) -> float:
        """Return the seconds of training and evaluation.

        >>> Cost(1.0, 2.0, 5.0, 10.0, memory=0.0).seconds(Plan(epochs=40, warmup=20, width=32))
        75.0
        """
        training = self.once + plan.warmup * self.plain_epoch
        training += (plan.epochs - plan.warmup) * self.weighted_epoch
        return training + (self.fit if plan.weighted else 0.0) + self.evaluation


def estimate(data: GraphSet | NodeGraph, plan: Plan) -> Cost:
    """Estimate the cost from the sizes of the data, with constants measured on one server core.

    This is a rule of thumb: machines differ by a factor of three and more.
    """
    if isinstance(data, GraphSet):
        return _of_set(data, plan.width)
    return _of_graph(data, plan)


def _of_set(graphs: GraphSet, width: int) -> Cost:
    N, V, E = len(graphs), graphs.num_nodes, graphs.num_edges
    batches = max(1.0, N / BATCH)
    epoch = 3e-6 * V + 1e-7 * E + 5e-3 * batches
    # The batches hold a copy, with a CSR matrix.
    data = 8.0 * V * graphs.num_features + 56.0 * E
    layers, kept_per_layer, views = 3, 6, 2
    activations = (4 * width * layers * kept_per_layer * views * V + 100 * E) / batches
    matrices = 8 * 1.9 * N**2 if N <= LARGEST_MATRIX else 0.0  # distances and one kernel
    kernels = min(SVM_CACHE, 8.0 * N**2)
    judging = 0.0 if graphs.y is None else matrices + kernels
    return Cost(
        plain_epoch=epoch,
        weighted_epoch=1.2 * epoch,
        fit=0.5 * batches,
        evaluation=0.0 if graphs.y is None else 0.3 + 7e-6 * N**2,
        memory=data + max(activations, judging),
    )


def _of_graph(graph: NodeGraph, plan: Plan) -> Cost:
    N, E, width, joined = graph.num_nodes, graph.num_edges, plan.width, plan.width + plan.beside
    step = min(plan.batch_nodes or N, N)
    negatives = step if plan.candidates is None else min(step, plan.candidates)
    filled = share_filled(graph.x) * N * graph.num_features
    epoch = 5e-10 * N * negatives * width + 1e-9 * (filled + E) * 2 * width
    epoch += 5e-3 * math.ceil(N / step)  # what a step takes however small it is
    activations = 4.0 * 2 * step * 20 * width  # both views, with their gradients
    features = 3 * (12.0 * filled + 40.0 * E) * step / N
    # Sampled negatives: both views of each against both of each node, and their gradients.
    sampled = 0.0 if plan.candidates is None else 4.0 * 12 * step * negatives
    # A byte for the weight of each pair, and rows of them while their statistics are computed.
    stored = plan.batch_nodes is None and stores_weights(N, sampled=negatives < N)
    weights = N**2 + 40.0 * 256 * N if stored and plan.weighted else 0.0
    # The cut of the graph and, layer by layer, the embeddings of all nodes.
    whole = 0.0 if plan.batch_nodes is None else max(130.0 * E, 4.0 * 4 * width * N)
    # Propagation, beside the other embedding: its own, two blocks of four, the views of the graph.
    beside = 4.0 * (width + 1.5 * plan.beside) * N + 24.0 * filled + 40.0 * E
    beside = max(beside, 8.0 * joined * N) if plan.beside else 0.0  # both, and then side by side
    # The evaluation has the embeddings of those that judge in several forms.
    judging = 0.0 if graph.y is None else 4.0 * joined * (N + 4 * min(N, JUDGED))
    data = (12.0 * filled if graph.x.is_sparse_csr else 4.0 * graph.x.numel()) + 24.0 * E
    return Cost(
        plain_epoch=epoch,
        weighted_epoch=1.2 * epoch if stored else epoch + 4e-7 * N * negatives,
        fit=1 + 7e-7 * N**2 if stored else 20.0,
        evaluation=0.0 if graph.y is None else 1 + (2e-3 * N if N <= JUDGED // 2 else 20.0),
        memory=data + max(whole, weights + activations + features + sampled, beside, judging),
    )


GRAPHS, NODES = 2 * BATCH, 1500
EPOCHS, WARMUP = 4, 2  # two epochs of each kind; the first is slow and not counted
TRIED_RUNS = 2  # runs of the evaluation protocol for nodes


@dataclass(frozen=True)
class ShortRun:
    """How many graphs or nodes were tried, out of how many, and the cost for all of them."""

    tried: int
    of: int
    cost: Cost


def short_run(spec: Spec, data: GraphSet | NodeGraph, *, progress: bool = True) -> ShortRun:
    """Train four epochs on a part of the data; scale the cost to all data as `estimate` does.

    What is not done in epochs, such as walks, is done for the part, and grows with nodes and edges;
    with the pairs of graphs for a kernel.
    """
    some = part_of_data(data)
    plan = Plan.of(spec, data)
    known = parameters(METHODS[spec.method])
    brief = replace(spec, epochs=EPOCHS if "epochs" in known else spec.epochs)
    if "warmup" in known:
        brief = replace(brief, options={**spec.options, "warmup": WARMUP})
    make_fabric("cpu")  # so that its imports are not measured
    with (
        progress_bar("short run", 2, show=progress, stay=False) as report,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # four epochs may learn nothing
        before = start_watching_memory()
        model = brief.estimator(some, 0, progress=False)
        started = time.perf_counter()
        model.fit(some)
        once = time.perf_counter() - started
        report(1, "trained")
        judged = _seconds_of_judging(model.transform(some), some, kernel=model.gives_kernel)
        report(2, "evaluated")
        memory = max(0.0, peak_memory() - before)
    # Some methods end before the fourth epoch, and some have none.
    epochs = [metrics["seconds"] for metrics in model.history_]
    once = max(0.0, once - sum(epochs))
    last = epochs[-1] if epochs else 0.0
    whole = len(epochs) == EPOCHS
    measured = Cost(
        plain_epoch=epochs[WARMUP - 1] if whole else last,
        weighted_epoch=last,
        fit=max(0.0, epochs[WARMUP] - last) if whole else 0.0,
        evaluation=estimate(some, plan).evaluation if judged is None else judged,
        memory=memory,
    )
    cost = scaled(measured, estimate(some, plan), estimate(data, plan))
    growth = _size(data) / _size(some)
    grown = once * (growth**2 if model.gives_kernel else growth)
    return ShortRun(_count(some), _count(data), replace(cost, once=grown))


def scaled(measured: Cost, expected: Cost, expected_of_all: Cost) -> Cost:
    """Scale the measured cost of a part to all data, by the estimates for the part and for all.

    Seconds are multiplied by the ratio of the estimates. Memory grows by their difference, because
    much of it does not depend on the size.
    """
    parts = ("plain_epoch", "weighted_epoch", "fit", "evaluation")
    grown = {
        part: getattr(measured, part) * getattr(expected_of_all, part) / getattr(expected, part)
        for part in parts
        if getattr(expected, part)
    }
    grown = {**dict.fromkeys(parts, 0.0), **grown}  # no evaluation without labels
    return Cost(**grown, memory=measured.memory + expected_of_all.memory - expected.memory)


def part_of_data(data: GraphSet | NodeGraph) -> GraphSet | NodeGraph:
    """Return evenly spaced graphs, or evenly spaced nodes with the edges among them."""
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


def _size(data: GraphSet | NodeGraph) -> int:
    return data.num_nodes + data.num_edges + 1


def _seconds_of_judging(
    embeddings: Any, data: GraphSet | NodeGraph, *, kernel: bool = False
) -> float | None:
    """Time all runs of the protocol; None if a class of the part is too small to evaluate."""
    from augcl.evaluation.protocol import evaluate  # slow to import: scikit-learn

    nodes = isinstance(data, NodeGraph)
    started = time.perf_counter()
    try:
        evaluate(
            embeddings, data, kernel=kernel, repeats=TRIED_RUNS if nodes else 1, progress=False
        )
    except InputError:
        return None
    return (time.perf_counter() - started) * (NODE_RUNS / TRIED_RUNS if nodes else 1)


LONG = 3600.0  # seconds
BASE = 0.5e9  # bytes of Python and torch in each process
MOST = 0.8  # share of the machine's memory


@dataclass(frozen=True)
class Price:
    """Cost of the whole command: wall-clock seconds, bytes of one seed, bytes of all processes."""

    seconds: float
    working_memory: float
    memory: float


def price(cost: Cost, plan: Plan, *, seeds: int, at_once: int) -> Price:
    """Return the price of all seeds, with `at_once` of them in parallel.

    >>> cost = Cost(1.0, 1.0, 0.0, 5.0, memory=1e9)
    >>> price(cost, Plan(epochs=5, warmup=2, width=32), seeds=3, at_once=2)
    Price(seconds=20.0, working_memory=1000000000.0, memory=3000000000.0)
    """
    rounds = math.ceil(seeds / at_once)
    everything = at_once * (BASE + cost.memory)
    return Price(rounds * cost.seconds(plan), cost.memory, everything)


def look_at_price(
    what: str, expected: Price, checked: Price | None, tried: ShortRun | None, *, of_nodes: bool
) -> list[Finding]:
    """Report the estimate and, if there is one, the short run; `what` names the training."""
    best = checked or expected
    time, memory = duration(expected.seconds), size(expected.working_memory)
    if checked is not None and tried is not None:
        things = "nodes" if of_nodes else "graphs"
        part = (
            f"all {tried.of:,}" if tried.tried == tried.of else f"{tried.tried:,} of {tried.of:,}"
        )
        time += f"; by a short run on {part} {things}: {duration(checked.seconds)}"
        memory += f"; by the short run: {size(checked.working_memory)}"
    else:
        time += " (not tried)"
    memory += f"; with Python and torch {size(best.memory)} in all"
    fewer = "--epochs, or --candidates 1000" if of_nodes else "--epochs or --seeds"
    long = best.seconds > LONG
    cure = f"try a smaller {fewer} first" if long else ""
    there = memory_of_machine()
    scarce = there is not None and best.memory > MOST * there
    short = "--hardness none needs no weights of all pairs" if of_nodes else "--jobs 1"
    return [
        Finding("note" if long else "ok", "time", f"{what}: estimate {time}", cure),
        Finding(
            "warning" if scarce else "ok",
            "memory",
            f"estimate for a seed {memory}"
            + (f"; this machine has {size(there or 0)}" if scarce else ""),
            f"{short}, or a machine with more" if scarce else "",
        ),
    ]


def look_at_steps(data: GraphSet | NodeGraph, plan: Plan) -> list[Finding]:
    """Say how many nodes of a graph a step takes, and what of the weights is kept in memory."""
    if isinstance(data, GraphSet):
        return []
    N, step = data.num_nodes, plan.batch_nodes
    fits = Finding("ok", "what fits where", FITS)
    if step is not None:
        what = f"mini-batches of about {step:,} of {counted(N, 'node')}"
        usual = f"usual above {AUTOMATIC:,} nodes; --batch-nodes changes it"
        what += f", with the negatives inside a batch ({usual})"
        return [Finding("ok", "steps", what), fits]
    sampled = plan.candidates is not None and plan.candidates < N
    negatives = f"{plan.candidates:,} sampled negatives" if sampled else "all others as negatives"
    what = f"all {counted(N, 'node')}, with {negatives}"
    if plan.weighted and stores_weights(N, sampled=sampled):
        what += f"; weights of all pairs in {size(N**2)}"
    elif plan.weighted:
        what += "; weights are computed in every step"
    cure = ""
    if N > AUTOMATIC // 4:
        cure = f"--batch-nodes {USUAL} takes less memory (usual above {AUTOMATIC:,} nodes)"
    return [Finding("ok", "steps", what, cure), fits]


FITS = (
    f"one step up to {AUTOMATIC:,} nodes (5 GB with weights); mini-batches above (6 GB for "
    "1,000,000 nodes and 10,000,000 edges); features beyond memory in features.npy or an "
    "unpacked .npz, as a memory map; edges and embeddings must fit into memory (docs/scaling.md)"
)


def look_at_cost(
    spec: Spec, data: GraphSet | NodeGraph, *, seeds: int, try_it: bool, progress: bool
) -> tuple[list[Finding], dict[str, Any]]:
    """Return findings on time and memory of a training, and both estimates as plain JSON."""
    of_nodes = spec.level == "node"
    at_once = min(seeds, os.cpu_count() or 1)
    if not of_nodes:
        one_thread()  # as augcl train does
    plan = Plan.of(spec, data)
    expected = price(estimate(data, plan), plan, seeds=seeds, at_once=at_once)
    tried = short_run(spec, data, progress=progress) if try_it else None
    checked = None
    if tried is not None:
        checked = price(tried.cost, plan, seeds=seeds, at_once=at_once)
    weighted = "" if spec.hardness == "none" else f" + {spec.hardness}"
    beside = "" if spec.beside is None else f" beside {spec.beside}"
    title = f"augcl train, {spec.method}{weighted}{beside}, {plan.epochs} epochs"
    title += "" if of_nodes else f", {seeds} seeds, {at_once} at once"
    findings = look_at_price(title, expected, checked, tried, of_nodes=of_nodes)
    findings += look_at_steps(data, plan)
    return findings, {"estimate": asdict(expected), "short_run": checked and asdict(checked)}


def memory_of_machine() -> float | None:
    """Return the memory of the machine in bytes, or None if the system does not report it."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return None


def duration(seconds: float) -> str:
    """Return seconds in a readable unit.

    >>> duration(0.4), duration(50), duration(200), duration(9000), duration(4e5)
    ('1 s', '50 s', '3 min', '2.5 h', '4.6 days')
    """
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 48 * 3600 else f"{seconds / 86400:.1f} days"


def size(count: float) -> str:
    """Return bytes in a readable unit.

    >>> size(5.4e7), size(2.14e9), size(2.1e10)
    ('54 MB', '2.1 GB', '21 GB')
    """
    if count < 1e9:
        return f"{count / 1e6:.0f} MB"
    return f"{count / 1e9:.1f} GB" if count < 1e10 else f"{count / 1e9:.0f} GB"
