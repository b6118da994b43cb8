"""Training time by method: all methods train in turns in one process."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from augcl.files import write_json
from augcl.paper import published
from augcl.paper.cells import Failure, digest
from augcl.paper.grid import Grid, Outcome
from augcl.paper.records import TIME, read
from augcl.paper.study import Study
from augcl.paper.table import Setting, Table, identity
from augcl.runs.recommend import Scores
from augcl.runs.rows_page import SECONDS, Row
from augcl.runs.run import Spec, one_thread, versions
from augcl.training.estimator import Estimator
from augcl.training.progress import progress_bar


def seconds_in_turn(works: Iterable[Iterator[Any]]) -> list[float]:
    """Return the processor seconds of each iterator; take one step of each in turn to the end.

    >>> steps = []
    >>> def work(name, count):
    ...     for number in range(count):
    ...         steps.append(f"{name}{number}")
    ...         yield
    >>> seconds = seconds_in_turn([work("a", 1), work("b", 3), work("c", 2)])
    >>> steps
    ['a0', 'b0', 'c0', 'b1', 'c1', 'b2']
    """
    running = dict(enumerate(works))
    seconds = [0.0] * len(running)
    while running:
        for place, work in list(running.items()):
            started = time.thread_time()
            if next(work, ENDED) is ENDED:
                del running[place]
            seconds[place] += time.thread_time() - started
    return seconds


ENDED = object()


@dataclass(frozen=True)
class Timing:
    """Trainings of some rows on one data set, repeated `turns` times."""

    table: Table
    dataset: str
    rows: tuple[str, ...]
    turns: int
    epochs: int | None = None
    data_dir: str | None = None
    recipe: str = "default"

    def path(self, out: Path) -> Path:
        specs = self._specs()
        what = {row: spec.decides() for row, spec in specs.items()}
        what["data"] = {"hash": identity(next(iter(specs.values())), self.data_dir)}
        key = digest(["side by side", what, self.turns])
        return out / TIME / f"{Path(self.dataset).name}-{key}.json"

    def read(self, out: Path) -> dict[str, list[float]] | None:
        """Return the processor seconds of each row's trainings; None if not measured."""
        record = read(self.path(out), out)
        return None if record is None else record["seconds"]

    def measure(self, out: Path) -> None:
        """Measure the processor time of one thread, which depends little on other load.

        In a turn all rows train side by side, one epoch of each after the other, so that a slow
        phase of the machine affects all of them.
        """
        one_thread()
        specs = self._specs()
        data = next(iter(specs.values())).load(self.data_dir)
        turns = []
        with progress_bar(f"training on {Path(self.dataset).name}", self.turns) as report:
            for turn in range(self.turns):
                works = [_epochs(spec, data, turn) for spec in specs.values()]
                turns.append(seconds_in_turn(works))
                report(turn + 1)
        found = dict(zip(specs, map(list, zip(*turns, strict=True)), strict=True))
        record = {"dataset": self.dataset, "seconds": found, "versions": versions()}
        write_json(self.path(out), record)

    def measured(self, seconds: dict[str, list[float]]) -> list[Row]:
        """Return the seconds of each row by turn, for the page."""
        return [
            Row(
                row,
                self.dataset,
                Scores(
                    np.array(seconds[row])[:, None],
                    level="node",  # turns are compared in pairs
                    protocol="processor time of one thread, a turn per seed",
                    scoring=SECONDS,
                ),
                spec,
            )
            for row, spec in self._specs().items()
        ]

    def _specs(self) -> dict[str, Spec]:
        setting = Setting(epochs=self.epochs, recipe=self.recipe)
        return {row: self.table.spec(self.dataset, row, setting) for row in self.rows}


def _epochs(spec: Spec, data: Any, seed: int) -> Iterator[Any]:
    """Train; yield after every epoch if the method has epochs."""
    model = spec.estimator(data, seed, progress=False)
    if isinstance(model, Estimator):
        yield from model.fit_epochs(data)
    else:
        model.fit(data)


def ratio(seconds: dict[str, list[float]], row: str, base: str) -> float:
    """Return the median over the turns of row / base.

    >>> ratio({"slow": [2.0, 6.0, 2.2], "fast": [1.0, 2.0, 1.0]}, "slow", "fast")
    2.2
    """
    return float(np.median(np.divide(seconds[row], seconds[base])))


TIMED = ("GraphCL", "DCL", "HCL", "ProGCL", "AUGCL")
TURNS = 3


def measure_times(request: Study, table: Table) -> list[Failure]:
    """Measure the missing timings, one at a time; stop at the first failure."""
    for timing in _timings(request, table):
        if timing.read(request.out) is None:
            timing.measure(request.out)
    return []


def time_table(request: Study, table: Table) -> Outcome:
    """Return the table of the measured times."""
    rows, data, shown = [], {}, []
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
        shown += timing.measured(seconds)
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
    return Outcome(request.named("time"), [grid], data, rows=shown)


def _timings(request: Study, table: Table) -> list[Timing]:
    """Return the timings of the rows and of their base, which the ratio needs."""
    turns = request.seeds or TURNS
    rows = request.rows if table.base in request.rows else (table.base, *request.rows)
    return [
        Timing(table, dataset, rows, turns, request.epochs, request.data_dir, request.recipe)
        for dataset in request.datasets
    ]


def _published(row: str, base: str, dataset: str) -> float | None:
    theirs, of_base = (published.training_seconds(name, dataset) for name in (row, base))
    return None if theirs is None or of_base is None else theirs / of_base
