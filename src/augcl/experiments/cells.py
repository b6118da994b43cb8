"""Cells of a table: each is one (data set, row, seed) and one small file, computed once."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from joblib import Parallel, delayed

from augcl.errors import InputError, one_of
from augcl.experiments.run import Spec, one_thread, run
from augcl.files import write_json
from augcl.training.estimator import plain_settings
from augcl.training.progress import progress_bar


@dataclass(frozen=True)
class Table:
    """The name of a table, which is its folder, and its rows: settings of a `Spec` by name.

    A row may be asked for with other epochs: ``GCA@200`` is ``GCA`` with 200.
    """

    name: str
    rows: dict[str, dict[str, Any]]

    def spec(self, dataset: str, row: str) -> Spec:
        name, _, epochs = row.partition("@")
        if epochs and not epochs.isdigit():
            raise InputError(f"row {row}: after the @ stands a number of epochs")
        spec = Spec(dataset, **self.rows[one_of(name, self.rows, "row")])
        return replace(spec, epochs=int(epochs)) if epochs else spec


class Cell(NamedTuple):
    """One number of a table before averaging."""

    table: Table
    dataset: str
    row: str
    seed: int

    @property
    def spec(self) -> Spec:
        return self.table.spec(self.dataset, self.row)

    def path(self, out: Path) -> Path:
        return out / self.table.name / self.dataset / self.row / f"seed-{self.seed}.json"

    def read(self, out: Path) -> dict[str, Any] | None:
        """The finished record, if there is one for today's settings of the row."""
        path = self.path(out)
        if not path.exists():
            return None
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        today = plain_settings(self.spec.hardness_object())
        up_to_date = self.spec.is_that_of(record) and record["hardness_settings"] == today
        return record if up_to_date else None

    def compute(self, out: Path, data_dir: str | None, work: Path | None = None) -> None:
        """With a folder `work`, a cell that was stopped goes on where it was."""
        one_thread()
        folder = None if work is None else self.path(work).with_suffix("")
        outcome = run(
            self.spec, self.seed, data_dir=data_dir, progress=False, folder=folder, resume=True
        )
        write_json(self.path(out), outcome.record)


def compute_missing(
    cells: Iterable[Cell],
    out: Path,
    *,
    data_dir: str | None,
    jobs: int,
    work: Path | None = None,
) -> None:
    """Compute the cells that have no file yet, several at a time."""
    missing = [cell for cell in cells if cell.read(out) is None]
    tasks = (delayed(cell.compute)(out, data_dir, work) for cell in missing)
    with progress_bar("cells", len(missing)) as report:
        finished = Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks)
        for done, _ in enumerate(finished, start=1):
            report(done)


def command(table: Table, description: str | None) -> None:
    """``python -m augcl.experiments.TABLE``."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--rows", nargs="+", default=[r for r in table.rows if "+degree" not in r])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--data-dir")
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--work", type=Path, help="keep checkpoints here")
    options = parser.parse_args()
    cells = [
        Cell(table, dataset, row, seed)
        for dataset in options.datasets
        for row in options.rows
        for seed in range(options.seeds)
    ]
    compute_missing(
        cells, options.out, data_dir=options.data_dir, jobs=options.jobs, work=options.work
    )
