"""Seconds of training by method, measured side by side in one process, one at a time."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from augcl.experiments.cells import digest, read_record
from augcl.experiments.relay import Rest, in_relay
from augcl.experiments.run import Spec, one_thread, versions
from augcl.experiments.table import Setting, Table, identity
from augcl.files import write_json
from augcl.training.estimator import Estimator
from augcl.training.progress import progress_bar

FOLDER = "time"


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
        return out / FOLDER / f"{Path(self.dataset).name}-{key}.json"

    def read(self, out: Path) -> dict[str, list[float]] | None:
        """Processor seconds of each row's trainings, if they were measured."""
        record = read_record(self.path(out))
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
