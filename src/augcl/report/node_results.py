"""The node-classification part of docs/RESULTS.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from augcl.evaluation import paired_difference
from augcl.experiments.cells import Cell
from augcl.experiments.node_classification import TABLE
from augcl.experiments.published import node_accuracy
from augcl.report.markdown import percent, table

DATASETS = ("Cora", "Amazon-Photo", "Amazon-Computers")
PUBLISHED = {"raw": "Raw features", "GCA": "GCA", "GCA+AUGCL": "GCA_AUGCL"}

TEXT = """\
## Node classification

A run is one training with the published settings of the data set, judged on 20 random splits of
10 / 10 / 80 % by softmax regression (`linear-10-10-80`; rows with *liblinear* by GRACE's own
protocol); shown is mean ± standard deviation over all splits of all runs, in parentheses the number
of trainings. *Difference*: to the same method without weights at equal epochs; over two or more
trainings with the 95 % interval of a paired t-test over them, of one training the plain number.
*w*: weights of the negatives, and their mean over true negatives (another class) and false ones.
*progcl*: ProGCL's settings in place of GCA's. *sampled*: 512 random nodes a step serve as negatives
instead of all (an unbiased estimate of their mass). @N: N epochs instead of the published number.

    python -m augcl.experiments.node_classification DATASET … --rows ROW … --seeds N --data-dir DIR
"""


def node_section(folder: Path) -> str:
    """One table per data set that has results."""
    parts = [TEXT.strip()]
    for dataset in DATASETS:
        rows = _rows(folder, dataset)
        if rows:
            parts.append(f"### {dataset}\n\n" + _table(folder, dataset, rows))
    return "\n\n".join(parts) if len(parts) > 1 else ""


def _rows(folder: Path, dataset: str) -> list[str]:
    place = folder / TABLE.name / dataset
    found = [path.name for path in place.iterdir()] if place.is_dir() else []
    order = list(TABLE.rows)
    return sorted(found, key=lambda row: (order.index(row.partition("@")[0]), row))


def _records(folder: Path, dataset: str, row: str) -> dict[int, dict[str, Any]]:
    seeds = range(100)
    found = {seed: Cell(TABLE, dataset, row, seed).read(folder) for seed in seeds}
    return {seed: record for seed, record in found.items() if record is not None}


def _table(folder: Path, dataset: str, rows: list[str]) -> str:
    header = ["", "epochs", "accuracy", "published", "difference"]
    header += ["std of w", "w, true", "w, false"]
    lines = []
    for row in rows:
        records = _records(folder, dataset, row)
        if not records:
            continue
        splits = [fold for record in records.values() for fold in record["accuracy"]["folds"]]
        first = next(iter(records.values()))
        lines.append(
            [
                row,
                str(first["settings"]["epochs"]),
                f"{percent(float(np.mean(splits)), float(np.std(splits)))} ({len(records)})",
                _published(dataset, row),
                _difference(folder, dataset, row, records),
                *_weights(records),
            ]
        )
    return table(header, lines)


def _published(dataset: str, row: str) -> str:
    numbers = node_accuracy(PUBLISHED.get(row.partition("@")[0].partition("-")[0], ""), dataset)
    return "" if numbers is None else f"{numbers[0]:.2f} ± {numbers[1]:.2f}"


def _difference(folder: Path, dataset: str, row: str, records: dict[int, dict[str, Any]]) -> str:
    """Weighted minus plain, over the seeds that both have."""
    name, _, epochs = row.partition("@")
    plain = name.replace("+AUGCL-full", "").replace("+AUGCL-live", "").replace("+AUGCL", "")
    if plain == name:
        return ""
    base = _records(folder, dataset, plain + (f"@{epochs}" if epochs else ""))
    seeds = sorted(records.keys() & base.keys())
    means = [[r[s]["accuracy"]["mean"] for s in seeds] for r in (records, base)]
    if len(seeds) < 2:
        return f"{100 * (means[0][0] - means[1][0]):+.2f}" if seeds else ""
    return str(paired_difference(*means, test_to_train=0))


def _weights(records: dict[int, dict[str, Any]]) -> list[str]:
    keys = ("weight_std", "weight_true_negatives", "weight_false_negatives")
    found = [record["weights"] for record in records.values() if record["weights"]]
    if not found:
        return [""] * len(keys)
    return [f"{np.mean([weights[key] for weights in found]):.2f}" for key in keys]
