"""Seconds of training by method, measured side by side in one process, one at a time."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Semaphore
from typing import Any, TypeVar

import numpy as np

from augcl.files import write_json
from augcl.paper import published
from augcl.paper.cells import Failure, digest
from augcl.paper.grid import Grid, Outcome
from augcl.paper.records import TIME, read
from augcl.paper.study import Study
from augcl.paper.table import Setting, Table, identity
from augcl.runs.run import Spec, one_thread, versions
from augcl.training.estimator import Estimator
from augcl.training.progress import progress_bar

T = TypeVar("T")
Rest = Callable[[], None]
"""Called by a work to let each of the others go on until it rests itself."""


class StoppedError(Exception):
    """Another work has failed, or the user has stopped them all."""


def in_relay(works: Sequence[Callable[[Rest], T]]) -> list[T]:
    """What the works return; each has a thread of its own, and the baton decides which one runs.

    >>> said = []
    >>> def count(word, rest):
    ...     for number in (1, 2):
    ...         said.append(f"{word} {number}")
    ...         rest()
    >>> _ = in_relay([lambda rest: count("one", rest), lambda rest: count("two", rest)])
    >>> said
    ['one 1', 'two 1', 'one 2', 'two 2']
    """
    batons = [Semaphore(0) for _ in works]
    running = list(range(len(works)))
    failed = False

    def hand_over(here: int) -> None:
        after = [there for there in running if there > here] or running
        if after:
            batons[after[0]].release()

    def run(here: int) -> T:
        nonlocal failed

        def wait() -> None:
            batons[here].acquire()
            if failed:
                raise StoppedError

        def rest() -> None:
            hand_over(here)
            wait()

        try:
            wait()
            return works[here](rest)
        except BaseException:
            failed = True
            raise
        finally:
            running.remove(here)
            hand_over(here)

    with ThreadPoolExecutor(max(1, len(works))) as pool:
        futures = [pool.submit(run, here) for here in range(len(works))]
        hand_over(-1)
        try:
            return [future.result() for future in futures]
        except StoppedError:  # of one that waited; the first to fail says why
            errors = [error for f in futures if (error := f.exception()) is not None]
            raise next(error for error in errors if not isinstance(error, StoppedError)) from None
        finally:
            failed = True  # after Ctrl-C: none goes on beyond its next rest


@dataclass(frozen=True)
class Timing:
    """Trainings of some rows on one data set, so many turns."""

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
        """Processor seconds of each row's trainings, if they were measured."""
        record = read(self.path(out), out)
        return None if record is None else record["seconds"]

    def measure(self, out: Path) -> None:
        """Processor time of one thread: what else the machine does counts little.

        In a turn all rows train side by side, an epoch of each after the other, so that a slow
        second meets all of them.
        """
        one_thread()
        specs = self._specs()
        data = next(iter(specs.values())).load(self.data_dir)
        turns = []
        with progress_bar(f"training on {Path(self.dataset).name}", self.turns) as report:
            for turn in range(self.turns):
                works = [partial(_train, spec, data, turn) for spec in specs.values()]
                turns.append(in_relay(works))
                report(turn + 1)
        found = dict(zip(specs, map(list, zip(*turns, strict=True)), strict=True))
        record = {"dataset": self.dataset, "seconds": found, "versions": versions()}
        write_json(self.path(out), record)

    def _specs(self) -> dict[str, Spec]:
        setting = Setting(epochs=self.epochs, recipe=self.recipe)
        return {row: self.table.spec(self.dataset, row, setting) for row in self.rows}


def _train(spec: Spec, data: Any, seed: int, rest: Rest) -> float:
    """Seconds of a training that rests after each epoch, if it has epochs."""
    model = spec.estimator(data, seed, progress=False)
    if isinstance(model, Estimator):
        after_epoch = model._after_epoch

        def and_rest() -> dict[str, Any]:
            found = after_epoch()
            rest()
            return found

        model._after_epoch = and_rest  # type: ignore[method-assign]
    started = time.thread_time()
    model.fit(data)
    return time.thread_time() - started


def ratio(seconds: dict[str, list[float]], row: str, base: str) -> float:
    """Median over the turns of row / base.

    >>> ratio({"slow": [2.0, 6.0, 2.2], "fast": [1.0, 2.0, 1.0]}, "slow", "fast")
    2.2
    """
    return float(np.median(np.divide(seconds[row], seconds[base])))


TIMED = ("GraphCL", "DCL", "HCL", "ProGCL", "AUGCL")
TURNS = 3


def measure_times(request: Study, table: Table) -> list[Failure]:
    """Measure what is not there yet; never several at a time. A mishap ends it."""
    for timing in _timings(request, table):
        if timing.read(request.out) is None:
            timing.measure(request.out)
    return []


def time_table(request: Study, table: Table) -> Outcome:
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
    return Outcome(request.named("time"), [grid], data)


def _timings(request: Study, table: Table) -> list[Timing]:
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
