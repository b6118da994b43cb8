"""Training time of the methods relative to their base, beside the paper's."""

from __future__ import annotations

import statistics

from augcl.experiments import published
from augcl.experiments.fanout import Failure
from augcl.experiments.table import Table
from augcl.experiments.timing import Timing, ratio
from augcl.report.findings import Findings
from augcl.report.grid import Grid
from augcl.report.request import Request

TIMED = ("GraphCL", "DCL", "HCL", "ProGCL", "AUGCL")
TURNS = 3


def measure_times(request: Request, table: Table) -> list[Failure]:
    """Measure what is not there yet; never several at a time. A mishap ends it."""
    for timing in _timings(request, table):
        if timing.read(request.out) is None:
            timing.measure(request.out)
    return []


def time_table(request: Request, table: Table) -> Findings:
    """What was measured."""
    rows, data = [], {}
    for timing in _timings(request, table):
        dataset, seconds = timing.dataset, timing.read(request.out)
        if seconds is None:
            continue
        data[dataset] = {
            row: {
                "seconds": seconds[row],
                "ratio": ratio(seconds, row, table.base),
                "published_ratio": _published(row, table.base, dataset),
            }
            for row in request.rows
        }
        for row in request.rows:
            theirs = data[dataset][row]["published_ratio"]
            rows.append(
                (
                    f"{dataset}, {row}",
                    f"{statistics.median(seconds[row]):.1f}",
                    f"{data[dataset][row]['ratio']:.2f}",
                    "" if theirs is None else f"{theirs:.2f}",
                )
            )
    header = ("", "seconds", f"ratio to {table.base}", "published ratio")
    note = (
        "Processor seconds of one thread, median of the turns; ratio: median over the turns, in "
        "each of which all methods train side by side, one epoch of each after the other."
    )
    grid = Grid("Training time", header, tuple(rows), (note,))
    return Findings(request.named("time"), [grid], data)


def _timings(request: Request, table: Table) -> list[Timing]:
    """Of the rows and of their base, without which there is no ratio."""
    turns = request.seeds or TURNS
    rows = request.rows if table.base in request.rows else (table.base, *request.rows)
    return [
        Timing(table, dataset, rows, turns, request.epochs, request.data_dir, request.recipe)
        for dataset in request.datasets
    ]


def _published(row: str, base: str, dataset: str) -> float | None:
    theirs, of_base = (published.training_seconds(name, dataset) for name in (row, base))
    return None if theirs is None or of_base is None else theirs / of_base
