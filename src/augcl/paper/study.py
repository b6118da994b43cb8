"""A study: rows of a table, data sets and seeds; the cells they need, and their results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from augcl.errors import InputError
from augcl.evaluation.statistics import PairedDifference, paired_difference
from augcl.paper.cells import Cell, CellLike
from augcl.paper.published import REWARDS
from augcl.paper.records import merged_lines, read_seeds
from augcl.paper.table import Setting, Table
from augcl.runs.rows_page import Row
from augcl.runs.run import Spec

Folds = Mapping[int, tuple[float, ...]]


@dataclass(frozen=True)
class Accuracies:
    """Accuracies of a row by seed, for each fold (graphs) or each random split (nodes).

    `inner` has the accuracies inside the training parts, see `Score`; `majority` is the accuracy of
    always predicting the largest class, None where it is not recorded.
    """

    folds: Folds
    inner: Folds
    level: str
    majority: float | None = None

    @classmethod
    def from_records(
        cls, records: Mapping[int, dict[str, Any]], level: str, protocol: str | None = None
    ) -> Accuracies | None:
        """Read the accuracies of finished cells by seed; return None if there are none.

        `protocol` names the one besides the row's own by which a cell of nodes was judged too.
        """
        every = {
            seed: record.get("also", {}).get(protocol) if protocol else record["accuracy"]
            for seed, record in records.items()
        }
        found = {seed: accuracy for seed, accuracy in every.items() if accuracy}
        if not found:
            return None
        return cls(
            {seed: tuple(accuracy["folds"]) for seed, accuracy in found.items()},
            {seed: tuple(accuracy.get("inner", ())) for seed, accuracy in found.items()},
            level,
        )

    @property
    def runs(self) -> list[float]:
        """Return the mean accuracy of each seed."""
        return [float(np.mean(folds)) for folds in self.folds.values()]

    @property
    def mean(self) -> float:
        return float(np.mean(self.runs))

    @property
    def std(self) -> float | None:
        """Return the population standard deviation over seeds, for nodes over all splits."""
        if self.level == "node":
            return float(np.std([fold for folds in self.folds.values() for fold in folds]))
        return float(np.std(self.runs)) if len(self.runs) > 1 else None

    def minus(self, other: Accuracies) -> PairedDifference | None:
        """Return the tested difference over the common seeds; None if no test is possible.

        Graphs use the corrected resampled t-test over all folds. Nodes use a paired t-test over
        trainings, because the splits of one training are not independent.
        """
        seeds = sorted(self.folds.keys() & other.folds.keys())
        if self.level == "node":
            means = [[float(np.mean(m.folds[s])) for s in seeds] for m in (self, other)]
            return paired_difference(*means, test_to_train=0) if len(seeds) > 1 else None
        both = [[m.folds[seed] for seed in seeds] for m in (self, other)]
        return paired_difference(*both) if seeds else None

    def gap(self, other: Accuracies) -> float | None:
        """Return the mean difference over the common seeds; None if there are none."""
        seeds = self.folds.keys() & other.folds.keys()
        if not seeds:
            return None
        means = [np.mean([np.mean(m.folds[seed]) for seed in sorted(seeds)]) for m in (self, other)]
        return float(means[0] - means[1])

    def __str__(self) -> str:
        spread = "" if self.std is None else f" ± {100 * self.std:.2f}"
        return f"{100 * self.mean:.2f}{spread}"


SHARES = (0.01, 0.05, 0.1)
GRIDS: dict[str, list[dict[str, Any]]] = {
    "augcl": [{"reward": reward} for reward in REWARDS],
    "dcl": [{"tau_plus": share} for share in SHARES],
    "hcl": [{"beta": b, "tau_plus": share} for b, share in product((0.1, 0.5, 1.0, 2.0), SHARES)],
}
"""Grids for the selection of settings: the paper's for the reward, recommended ones else."""

PROTOCOL = (
    "Selected rows: every setting of the grid is trained without labels; in each fold the setting "
    "with the best accuracy inside the training part (cross-validation; for nodes, the validation "
    "nodes) is tested once on the test part. Test labels are never used for a choice."
)


def variants(spec: Spec) -> list[Spec]:
    """Return the spec with each setting of its hardness's grid; empty if it has no grid."""
    options = spec.hardness_options
    return [replace(spec, hardness_options={**options, **s}) for s in GRIDS.get(spec.hardness, [])]


def select(found: Sequence[Accuracies]) -> Accuracies:
    """Select in each fold the setting that is best inside the training part.

    Examples
    --------
    >>> mild = Accuracies({0: (0.8, 0.9)}, {0: (0.85, 0.7)}, "graph")
    >>> strong = Accuracies({0: (0.7, 1.0)}, {0: (0.8, 0.75)}, "graph")
    >>> select([mild, strong]).folds
    {0: (0.8, 1.0)}
    """
    seeds = sorted(set.intersection(*(set(m.folds) for m in found)))
    if not all(m.inner[seed] for m in found for seed in seeds):
        raise InputError(
            "these results have no accuracies inside the training parts, because an older version "
            "computed them: delete them and compute them again"
        )
    folds, inner = {}, {}
    for seed in seeds:
        inside = np.array([m.inner[seed] for m in found])
        best = inside.argmax(0)  # the first of equal settings
        folds[seed] = tuple(found[i].folds[seed][fold] for fold, i in enumerate(best))
        inner[seed] = tuple(inside.max(0).tolist())
    return Accuracies(folds, inner, found[0].level)


SELECTED = " (selected)"
"""Suffix of the rows whose setting was selected."""


@dataclass(frozen=True)
class Study:
    """Data sets, rows and seeds of a table, and the folder of their cells.

    Parameters
    ----------
    out : Path
        Folder of the cells.
    datasets, rows : tuple of str
        Names.
    seeds : int, optional
        Use the seeds 0 to `seeds` − 1; all finished seeds if None.
    epochs : int, optional
        Epochs of all rows; if None those of the table or, for nodes, the published ones.
    features : str
        Node features, see `augcl.load`.
    recipe : str
        Recipe of all rows of the base method that do not name one.
    candidates : int, optional
        Negatives sampled per step where nodes are embedded; all if None.
    select : bool
        For each row whose hardness has a grid, add a row whose setting is selected inside the
        training parts.
    data_dir : str, optional
        Folder that is searched first for data sets.
    options : mapping
        Further parameters of the base method, the same in all of its rows.
    reading : mapping
        How the data are read: target, task, missing; see `augcl.load`.
    protocol : str, optional
        Show the accuracies by this second protocol, where cells have them.
    """

    out: Path
    datasets: tuple[str, ...]
    rows: tuple[str, ...]
    seeds: int | None = 5
    epochs: int | None = None
    features: str = "auto"
    recipe: str = "default"
    candidates: int | None = None
    select: bool = False
    data_dir: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    reading: Mapping[str, Any] = field(default_factory=dict)
    protocol: str | None = None

    def setting(self, table: Table) -> Setting:
        """Return the settings that all rows share."""
        sampled = {} if self.candidates is None else {"candidates": self.candidates}
        return Setting(
            epochs=self.epochs,
            features=self.features,
            recipe=self.recipe,
            options={**(sampled if table.level == "node" else {}), **self.options},
            reading=self.reading,
        )

    def named(self, name: str) -> str:
        """Return the name of a table's files, which includes the recipe."""
        return name if self.recipe == "default" else f"{name}-{self.recipe}"

    def cells(self, table: Table) -> list[Cell]:
        """Return all cells of the table."""
        chosen = [
            cell
            for dataset in self.datasets
            for row in self.rows
            for cell in (self.cell(table, dataset, row), *self._grid(table, dataset, row))
        ]
        return [cell.with_seed(seed) for cell in chosen for seed in range(self.seeds or 1)]

    def results(self, table: Table) -> dict[str, dict[str, Accuracies]]:
        """Return the finished results by data set and row."""
        found: dict[str, dict[str, Accuracies]] = {}
        for dataset in self.datasets:
            found[dataset] = {}
            for row in self.rows:
                fixed = self.read(self.cell(table, dataset, row))
                if fixed is not None:
                    found[dataset][row] = fixed
                several = [self.read(cell) for cell in self._grid(table, dataset, row)]
                whole = [one for one in several if one is not None]
                if whole and len(whole) == len(several):
                    chosen = select(whole)
                    if chosen.folds:  # empty if the settings have no seed in common
                        found[dataset][row + SELECTED] = chosen
            majority = self._majority(table, dataset)
            found[dataset] = {
                row: replace(one, majority=majority) for row, one in found[dataset].items()
            }
        return found

    def _majority(self, table: Table, dataset: str) -> float | None:
        """Return the accuracy of always predicting the largest class; None if no record has it.

        Older records lack it: any record of the data set with the same protocol will do.
        """
        cells = [self.cell(table, dataset, row) for row in self.rows]
        every = [found for cell in cells for found in self.records(cell).items()]
        for place, record in merged_lines(self.out, cells[0].path(self.out)).items():
            every += [(place.seed, record)] if self.seeds is None or place.seed < self.seeds else []
        judged = [
            (seed, record.get("also", {}).get(self.protocol) if self.protocol else one)
            for seed, record in every
            if isinstance(one := record.get("accuracy"), dict)
        ]
        known = [(seed, one) for seed, one in judged if one and "protocol" in one]
        floors = {
            seed: one["floor"]
            for seed, one in known
            if one["protocol"] == known[0][1]["protocol"] and one.get("floor") is not None
        }
        return float(np.mean(list(floors.values()))) if floors else None

    def records(self, cell: CellLike) -> dict[int, dict[str, Any]]:
        """Return the finished records of a cell's settings for the seeds of the study."""
        every = read_seeds(cell.path(self.out), self.out)
        return {seed: r for seed, r in every.items() if self.seeds is None or seed < self.seeds}

    def read(self, cell: Cell) -> Accuracies | None:
        """Return the accuracies of a cell's settings; None if there are none."""
        return Accuracies.from_records(self.records(cell), cell.spec.level, self.protocol)

    def measured(self, table: Table) -> list[Row]:
        """Return the finished rows with their settings, for the page of an outcome."""
        found = []
        for dataset in self.datasets:
            for name in self.rows:
                row = self.measured_row(name, self.cell(table, dataset, name))
                if row is not None:
                    found.append(replace(row, published=table.published(name, dataset)))
        return found

    def measured_row(self, name: str, cell: Cell) -> Row | None:
        """Return what was measured of a cell's settings; None if there is nothing."""
        records = [record for record in self.records(cell).values() if record["accuracy"]]
        return Row.of(name, cell.spec, records) if records else None

    def cell(self, table: Table, dataset: str, row: str) -> Cell:
        """Return the first cell of a row on a data set."""
        return table.cell(dataset, row, self.setting(table), data_dir=self.data_dir)

    def _grid(self, table: Table, dataset: str, row: str) -> list[Cell]:
        if not self.select:
            return []
        fixed = self.cell(table, dataset, row)
        return [Cell(spec, 0, fixed.data) for spec in variants(fixed.spec)]
