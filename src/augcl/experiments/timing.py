"""Seconds of training by method, measured in one process, one thread, turn by turn."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from augcl.experiments.cells import digest, read_record
from augcl.experiments.run import Spec, one_thread, versions
from augcl.experiments.table import Setting, Table, identity
from augcl.files import write_json
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

    def path(self, out: Path) -> Path:
        specs = self._specs()
        what = {row: spec.decides() for row, spec in specs.items()}
        what["data"] = {"hash": identity(next(iter(specs.values())), self.data_dir)}
        return out / FOLDER / f"{Path(self.dataset).name}-{digest([what, self.turns])}.json"

    def read(self, out: Path) -> dict[str, list[float]] | None:
        """Processor seconds of each row's trainings, if they were measured."""
        record = read_record(self.path(out))
        return None if record is None else record["seconds"]

    def measure(self, out: Path) -> None:
        """Processor time of one thread: what else the machine does counts little.

        The rows take turns, so that a slow minute meets all of them.
        """
        one_thread()
        specs = self._specs()
        found: dict[str, list[float]] = {row: [] for row in self.rows}
        data = next(iter(specs.values())).load(self.data_dir)
        total = self.turns * len(self.rows)
        with progress_bar(f"training on {Path(self.dataset).name}", total) as report:
            for done in range(total):
                turn, place = divmod(done, len(self.rows))
                row = self.rows[place]
                model = specs[row].estimator(data, turn, progress=False)
                started = time.process_time()
                model.fit(data)
                found[row].append(time.process_time() - started)
                report(done + 1)
        record = {"dataset": self.dataset, "seconds": found, "versions": versions()}
        write_json(self.path(out), record)

    def _specs(self) -> dict[str, Spec]:
        setting = Setting(epochs=self.epochs)
        return {row: self.table.spec(self.dataset, row, setting) for row in self.rows}


def ratio(seconds: dict[str, list[float]], row: str, base: str) -> float:
    """Median over the turns of row / base: a slow minute meets both trainings of its turn.

    >>> ratio({"slow": [2.0, 6.0, 2.2], "fast": [1.0, 2.0, 1.0]}, "slow", "fast")
    2.2
    """
    return float(np.median(np.divide(seconds[row], seconds[base])))
