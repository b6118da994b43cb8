"""docs/RESULTS.md from the result files: ``python -m augcl.report.results``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from augcl.evaluation import paired_difference
from augcl.experiments import liveness
from augcl.experiments.cells import Cell, Table
from augcl.experiments.graph_classification import TABLE
from augcl.experiments.published import graph_accuracy
from augcl.files import write_text
from augcl.report.markdown import percent, table
from augcl.report.node_results import node_section

DATASETS = ("MUTAG", "PROTEINS", "IMDB-BINARY", "NCI1", "DD", "REDDIT-BINARY", "COLLAB")
LABELS = {
    "untrained": "untrained encoder (floor)",
    "GraphCL-20": "GraphCL, 20 epochs",
    "GraphCL-40": "GraphCL, 40 epochs",
    "GraphCL-own-loss": "GraphCL, 20 epochs, positive not in the denominator",
    "AUGCL": "AUGCL, default (temper 0.25), 20 + 20",
    "AUGCL-full": "AUGCL, weights at full strength (temper 1), 20 + 20",
    "AUGCL-authors": "AUGCL, recipe authors, 20 + 20",
    "AUGCL-paper": "AUGCL, recipe paper, 10 + 30",
}
WEIGHTED = [row for row in LABELS if row.startswith("AUGCL")]

INTRODUCTION = """\
# Results

This page is generated: `make results` (that is `python -m augcl.report.results`) writes it from the
small files under `results/`, one per run. Missing cells are computed by

    python -m augcl.experiments.graph_classification DATASET … --rows ROW … --seeds N --data-dir DIR
    python -m augcl.experiments.liveness DATASET … --data-dir DIR

Numbers are accuracies in percent, mean ± population standard deviation over seeds, in
parentheses the number of seeds. One seed is one training and one stratified 10-fold
cross-validation with an RBF-SVM, C chosen inside the training folds (`tu-svm-10fold`); the last
epoch is reported; no setting was chosen on test folds. All rows of a data set see the same folds.
Every trained row has the positive in the denominator. "Published" are the paper's numbers.
"""


class Results:
    """All finished records below a folder."""

    def __init__(self, folder: Path, of: Table = TABLE) -> None:
        self.folder = folder
        self.table = of

    def records(self, dataset: str, row: str) -> list[dict[str, Any]]:
        """Finished seeds of one row, in order."""
        place = Cell(self.table, dataset, row, 0).path(self.folder).parent
        seeds = sorted(int(path.stem.removeprefix("seed-")) for path in place.glob("seed-*.json"))
        found = (Cell(self.table, dataset, row, seed).read(self.folder) for seed in seeds)
        return [record for record in found if record is not None]

    def accuracy(self, dataset: str, row: str) -> str:
        runs = [record["accuracy"]["mean"] for record in self.records(dataset, row)]
        if not runs:
            return ""
        spread = float(np.std(runs)) if len(runs) > 1 else None
        return f"{percent(float(np.mean(runs)), spread)} ({len(runs)})"

    def difference(self, dataset: str, row: str, base: str) -> str:
        """`row` − `base` over the seeds that both have, fold by fold."""
        ours = {r["seed"]: r["accuracy"]["folds"] for r in self.records(dataset, row)}
        theirs = {r["seed"]: r["accuracy"]["folds"] for r in self.records(dataset, base)}
        seeds = sorted(ours.keys() & theirs.keys())
        if not seeds:
            return ""
        return str(paired_difference([ours[s] for s in seeds], [theirs[s] for s in seeds]))

    def fits(self, dataset: str) -> list[dict[str, Any]]:
        path = self.folder / liveness.FOLDER / f"{dataset}.json"
        return json.loads(path.read_text())["fits"] if path.exists() else []


def accuracies(results: Results, suffix: str = "") -> str:
    """The main table: methods by data sets."""
    datasets = [d for d in DATASETS if results.records(d, f"untrained{suffix}")]
    rows = [
        [label, *(results.accuracy(d, row + suffix) for d in datasets)]
        for row, label in LABELS.items()
        if any(results.records(d, row + suffix) for d in datasets)
    ]
    if not suffix:
        for label, method in (("GraphCL", "GraphCL"), ("AUGCL", "GraphCL_AUGCL")):
            numbers = [graph_accuracy(method, d) for d in datasets]
            cells = ["" if n is None else f"{n[0]:.2f} ± {n[1]:.2f}" for n in numbers]
            rows.append([f"*published {label}*", *(f"*{c}*" if c else "" for c in cells)])
    return table(["", *datasets], rows)


def differences(results: Results, suffix: str = "") -> str:
    """AUGCL against GraphCL at equal epochs."""
    rows = []
    for dataset in DATASETS:
        base = f"GraphCL-40{suffix}"
        cells = [results.difference(dataset, row + suffix, base) for row in WEIGHTED]
        if any(cells):
            rows.append([dataset, *cells])
    return table(["", *(LABELS[row].removeprefix("AUGCL, ") for row in WEIGHTED)], rows)


def development(results: Results) -> str:
    """The set on which the default temper was chosen."""
    rows = [
        [label, results.accuracy("digits", row)]
        for row, label in LABELS.items()
        if results.records("digits", row)
    ]
    return table(["", "digits"], rows)


def published_gap(results: Results) -> str:
    """Our GraphCL minus the paper's."""
    rows = []
    for dataset in DATASETS:
        theirs = graph_accuracy("GraphCL", dataset)
        if theirs is None:
            continue
        gaps = []
        for row in ("GraphCL-20", "GraphCL-40"):
            runs = [record["accuracy"]["mean"] for record in results.records(dataset, row)]
            gaps.append(f"{100 * float(np.mean(runs)) - theirs[0]:+.2f}" if runs else "")
        rows.append([dataset, f"{theirs[0]:.2f}", *gaps])
    return table(["", "published GraphCL", "ours − published, 20 epochs", "40 epochs"], rows)


def vital_signs(results: Results) -> str:
    """One line per data set and reward."""
    rows = [
        [
            dataset,
            f"{fit['reward']:.1f}",
            "yes" if fit["alive"] else "NO",
            f"{fit['uncertainty_mean']:.3f} ± {fit['uncertainty_std']:.3f}",
            f"{fit['weight_std']:.2f}",
            f"{100 * fit['near_one']:.1f} %",
            f"{100 * fit['agreement']:.1f} % ({100 * fit['majority']:.1f} %)",
            f"{fit['weight_true_negatives']:.3f}",
            f"{fit['weight_false_negatives']:.3f}",
        ]
        for dataset in DATASETS
        for fit in results.fits(dataset)
    ]
    header = [
        "",
        "reward o",
        "alive",
        "u",
        "std of w",
        "w within 1 % of 1",
        "agreement (majority)",
        "w, true negatives",
        "w, false negatives",
    ]
    return table(header, rows)


def collapses(results: Results) -> str:
    """How many runs of each recipe learned weights at all."""
    rows = []
    for dataset in DATASETS:
        cells = []
        for row in WEIGHTED:
            weights = [record["weights"] for record in results.records(dataset, row)]
            alive = [w for w in weights if w and w["fit_alive"]]
            cells.append(f"{len(alive)} of {len(weights)}" if weights else "")
        if any(cells):
            rows.append([dataset, *cells])
    return table(["", *(LABELS[row].removeprefix("AUGCL, ") for row in WEIGHTED)], rows)


def seconds(results: Results) -> str:
    """Training time of one seed on one thread; the machine is shared, so look at ratios."""
    rows = []
    for dataset in DATASETS:
        times = []
        for row in ("GraphCL-40", "AUGCL"):
            runs = [record["seconds"]["training"] for record in results.records(dataset, row)]
            times.append(float(np.median(runs)) if runs else None)
        if times[0] and times[1]:
            rows.append([dataset, f"{times[0]:.1f}", f"{times[1]:.1f}"])
    return table(["", "GraphCL, 40 epochs (s)", "AUGCL, 20 + 20 (s)"], rows)


def page(results: Results, findings: str) -> str:
    """The whole document."""
    parts = [
        INTRODUCTION,
        findings,
        "## Graph classification\n\n" + accuracies(results),
        "### AUGCL − GraphCL at equal epochs (40)\n\nMean difference in points with its 95 % "
        "interval, corrected resampled t-test over the folds of all seeds.\n\n"
        + differences(results),
        "### GraphCL against the paper's GraphCL\n\n" + published_gap(results),
        "### Where the default temper was chosen\n\nOn `digits`, which is in no table of the paper."
        "\n\n" + development(results),
        "## With degree features\n\nThe paper gives nodes without labels a constant feature. Here "
        "they get the one-hot degree (capped at 64).\n\n"
        + accuracies(results, "+degree")
        + "\n\n"
        + differences(results, "+degree"),
        "## Is the uncertainty model alive?\n\nAfter 20 epochs of GraphCL, one fit per reward with "
        "the default settings. *Agreement*: share of pairs whose group the model names rightly; in "
        "parentheses the share of the larger group. *w*: mean weight of candidates with another "
        "label (true negatives) and with the anchor's label (false negatives); the paper's first "
        "figure claims the former to be larger.\n\n" + vital_signs(results),
        "Runs whose weights differ from 1 at all, by recipe:\n\n" + collapses(results),
        "## Seconds of training\n\nMedian over seeds, one thread, while other work ran on the "
        "machine; `make bench` measures ratios in one run.\n\n" + seconds(results),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def render(folder: Path) -> str:
    """The page for the result files in `folder` and the findings written beside them."""
    findings = folder / "FINDINGS.md"
    text = findings.read_text(encoding="utf-8") if findings.exists() else ""
    nodes = node_section(folder)
    return page(Results(folder), text) + (f"\n{nodes}\n" if nodes else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--out", type=Path, default=Path("docs/RESULTS.md"))
    options = parser.parse_args()
    if not (options.results / TABLE.name).is_dir():
        sys.exit(
            f"no result files in {options.results / TABLE.name}: compute some first, see --help"
        )
    write_text(options.out, render(options.results))


if __name__ == "__main__":
    main()
