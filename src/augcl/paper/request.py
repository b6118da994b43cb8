"""What a reproduction is asked for, and the cells that answer it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from augcl.paper.cells import Cell, Work, records
from augcl.paper.table import Measured, Setting, Table, measured, select, variants

SELECTED = " (selected)"


@dataclass(frozen=True)
class Request:
    """Data sets, rows and seeds of a table, and where its cells are.

    `epochs` None: those of the table or, of nodes, the published ones. `candidates` are negatives
    sampled per step where nodes are embedded, None: all. `options` are further parameters of the
    base method, the same in all of its rows. `select` adds to each row whose hardness
    has a grid one whose setting is chosen inside the training parts. `recipe` is that of all rows
    of the base method that have none of their own. Without `seeds` everything counts that is there.
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

    def setting(self, table: Table) -> Setting:
        """What all rows share."""
        sampled = {} if self.candidates is None else {"candidates": self.candidates}
        return Setting(
            epochs=self.epochs,
            features=self.features,
            recipe=self.recipe,
            options={**(sampled if table.level == "node" else {}), **self.options},
        )

    def named(self, name: str) -> str:
        """The name of a table's files under this recipe."""
        return name if self.recipe == "default" else f"{name}-{self.recipe}"

    def cells(self, table: Table) -> list[Cell]:
        """All cells of the table."""
        chosen = [
            cell
            for dataset in self.datasets
            for row in self.rows
            for cell in (self.cell(table, dataset, row), *self._grid(table, dataset, row))
        ]
        return [cell.with_seed(seed) for cell in chosen for seed in range(self.seeds or 1)]

    def results(self, table: Table) -> dict[str, dict[str, Measured]]:
        """What is finished, by data set and row."""
        found: dict[str, dict[str, Measured]] = {}
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
                    if chosen.folds:  # all settings have a seed in common
                        found[dataset][row + SELECTED] = chosen
        return found

    def records(self, cell: Work) -> dict[int, dict[str, Any]]:
        """The finished ones of a cell's settings, of the seeds that count."""
        every = records(cell.path(self.out))
        return {seed: r for seed, r in every.items() if self.seeds is None or seed < self.seeds}

    def read(self, cell: Cell) -> Measured | None:
        """What they found."""
        return measured(self.records(cell), cell.spec.level)

    def cell(self, table: Table, dataset: str, row: str) -> Cell:
        """The first cell of a row on a data set."""
        return table.cell(dataset, row, self.setting(table), data_dir=self.data_dir)

    def _grid(self, table: Table, dataset: str, row: str) -> list[Cell]:
        if not self.select:
            return []
        fixed = self.cell(table, dataset, row)
        return [Cell(spec, 0, fixed.data) for spec in variants(fixed.spec)]
