"""Is the uncertainty model alive? The part of docs/RESULTS.md that tells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from augcl.experiments import liveness
from augcl.experiments.cells import read_record, records
from augcl.experiments.graph_classification import DATASETS, TABLE
from augcl.report.grid import Grid

RECIPES = ("AUGCL", "AUGCL-full", "AUGCL-authors", "AUGCL-paper")
TEXT = """\
## Is the uncertainty model alive?

After 20 epochs of GraphCL, one fit per reward with the default settings. *Agreement*: share of
pairs whose group the model names rightly; in parentheses the share of the larger group. *w*: mean
weight of candidates with another label (true negatives) and with the anchor's label (false ones);
the paper's first figure claims the former to be larger."""


def life_section(folder: Path) -> str:
    """Vital signs by reward, and how many runs of each recipe learned weights at all."""
    grids = [grid for grid in (_vital_signs(folder), _alive_runs(folder)) if grid.rows]
    return "\n\n".join([TEXT, *(grid.markdown() for grid in grids)]) if grids else ""


def _vital_signs(folder: Path) -> Grid:
    rows = [
        (
            dataset,
            f"{fit['reward']:.1f}",
            fit["state"],
            f"{fit['uncertainty_mean']:.3f} ± {fit['uncertainty_std']:.3f}",
            f"{fit['weight_std']:.2f}",
            f"{100 * fit['near_one']:.1f} %",
            f"{100 * fit['agreement']:.1f} % ({100 * fit['majority']:.1f} %)",
            f"{fit['weight_true_negatives']:.3f}",
            f"{fit['weight_false_negatives']:.3f}",
        )
        for dataset in DATASETS
        for fit in _fits(folder, dataset)
    ]
    header = (
        "",
        "reward o",
        "state",
        "u",
        "std of w",
        "w within 1 % of 1",
        "agreement (majority)",
        "w, true",
        "w, false",
    )
    return Grid("One fit per reward", header, tuple(rows))


def _fits(folder: Path, dataset: str) -> list[dict[str, Any]]:
    found = read_record(folder / liveness.FOLDER / f"{dataset}.json")
    return [] if found is None else found["fits"]


def _alive_runs(folder: Path) -> Grid:
    rows = []
    for dataset in DATASETS:
        cells = [_count(folder, dataset, row) for row in RECIPES]
        if any(cells):
            rows.append((dataset, *cells))
    return Grid("Trainings whose weights differ from 1 at all", ("", *RECIPES), tuple(rows))


def _count(folder: Path, dataset: str, row: str) -> str:
    found = [r["weights"] for r in records(TABLE.cell(dataset, row).path(folder)).values()]
    alive = [weights for weights in found if weights and weights["fit_state"] == "alive"]
    return f"{len(alive)} of {len(found)}" if found else ""
