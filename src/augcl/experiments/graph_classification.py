"""The graph-classification table: which rows it has, and computing the cells that are missing.

    python -m augcl.experiments.graph_classification MUTAG PROTEINS --seeds 5 --jobs 2

A cell is one (data set, row, seed) and one small file below --out; what is there is not computed
again, so a run can be stopped and continued, and rows can be added later.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from joblib import Parallel, delayed

from augcl.errors import one_of
from augcl.experiments.run import Spec, one_thread, run
from augcl.files import write_json
from augcl.training.estimator import plain_settings
from augcl.training.progress import progress_bar

ROWS: dict[str, dict[str, Any]] = {
    "untrained": {"hardness": "none", "epochs": 0},
    "GraphCL-20": {"hardness": "none", "epochs": 20},
    "GraphCL-40": {"hardness": "none", "epochs": 40},
    "GraphCL-own-loss": {
        "hardness": "none",
        "epochs": 20,
        "options": {"positive_in_denominator": False},
    },
    "AUGCL": {"hardness": "augcl"},
    "AUGCL-full": {"hardness": "augcl", "hardness_options": {"temper": 1.0}},
    "AUGCL-authors": {"hardness": "augcl", "recipe": "authors"},
    "AUGCL-paper": {"hardness": "augcl", "recipe": "paper"},
}
ROWS |= {f"{name}+degree": {**row, "features": "degree"} for name, row in ROWS.items()}

FOLDER = "graph-classification"


class Cell(NamedTuple):
    """One number of the table before averaging."""

    dataset: str
    row: str
    seed: int

    @property
    def spec(self) -> Spec:
        return Spec(self.dataset, **ROWS[one_of(self.row, ROWS, "row")])

    def path(self, out: Path) -> Path:
        return out / FOLDER / self.dataset / self.row / f"seed-{self.seed}.json"

    def read(self, out: Path) -> dict[str, Any] | None:
        """The finished record, if there is one for today's settings of the row."""
        path = self.path(out)
        if not path.exists():
            return None
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        now = {
            "spec": asdict(self.spec),
            "hardness_settings": plain_settings(self.spec.hardness_object()),
        }
        return record if all(record[name] == value for name, value in now.items()) else None

    def compute(self, out: Path, data_dir: str | None) -> None:
        one_thread()
        outcome = run(self.spec, self.seed, data_dir=data_dir, progress=False)
        write_json(self.path(out), outcome.record)


def compute_missing(cells: Iterable[Cell], out: Path, *, data_dir: str | None, jobs: int) -> None:
    """Compute the cells that have no file yet, several at a time."""
    missing = [cell for cell in cells if cell.read(out) is None]
    work = (delayed(cell.compute)(out, data_dir) for cell in missing)
    with progress_bar("cells", len(missing)) as report:
        finished = Parallel(n_jobs=jobs, return_as="generator_unordered")(work)
        for done, _ in enumerate(finished, start=1):
            report(done)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--rows", nargs="+", default=[r for r in ROWS if "+" not in r])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--data-dir")
    parser.add_argument("--out", type=Path, default=Path("results"))
    options = parser.parse_args()
    cells = [
        Cell(dataset, row, seed)
        for dataset in options.datasets
        for row in options.rows
        for seed in range(options.seeds)
    ]
    compute_missing(cells, options.out, data_dir=options.data_dir, jobs=options.jobs)


if __name__ == "__main__":
    main()
