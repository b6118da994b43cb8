"""List which rows of the paper's tables were measured, and which are missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from augcl.paper.grid import Grid
from augcl.paper.rows import (
    ABLATED,
    ABLATION,
    GRAPH_DATASETS,
    GRAPH_RIVALS,
    GRAPHS,
    NODE_PAPER,
    NODES,
)
from augcl.paper.study import Accuracies, Study
from augcl.paper.table import Table


@dataclass(frozen=True)
class Part:
    """A table of the paper: its rows, its data sets, and further settings of the `Study`."""

    title: str
    table: Table
    rows: tuple[str, ...]
    datasets: tuple[str, ...]
    changes: Mapping[str, Any] = field(default_factory=dict)


PARTS = (
    Part("weighted negatives", GRAPHS, GRAPHS.compared, GRAPH_DATASETS),
    Part(
        "other systems of graphs",
        GRAPHS,
        tuple(GRAPH_RIVALS),
        GRAPH_DATASETS,
    ),
    Part("ablation", ABLATION, tuple(ABLATED)[1:], GRAPH_DATASETS),
    *(
        Part(
            f"nodes, {epochs} epochs, 512 negatives",
            NODES,
            NODE_PAPER,
            (dataset,),
            {"epochs": epochs, "candidates": 512},
        )
        for dataset, epochs in (("Amazon-Photo", 200), ("Amazon-Computers", 100))
    ),
    Part("nodes", NODES, NODE_PAPER, ("Wiki-CS",)),
)
"""The tables of the paper, with the settings that we measure."""


def coverage(folder: Path) -> Grid:
    """Return a table of measured rows, seeds and missing rows by data set.

    Examples
    --------
    >>> coverage(Path("nothing here")).rows
    ()
    """
    lines = [line for part in PARTS for line in _lines(part, folder)]
    if all(line[2] == "0" for line in lines):
        lines = []
    header = ("table", "data set", "rows measured", "of", "seeds", "missing")
    return Grid("Rows of the paper's tables", header, tuple(lines))


def _lines(part: Part, folder: Path) -> list[tuple[str, ...]]:
    """Return one line per data set."""
    study = Study(folder, part.datasets, part.rows, seeds=None, **part.changes)
    rows = str(len(part.rows))
    return [
        (part.title, dataset, str(len(found)), rows, _seeds(found), _missing(found, part))
        for dataset, found in study.results(part.table).items()
    ]


def _seeds(found: Mapping[str, Accuracies]) -> str:
    """Return the range of the number of seeds over the rows."""
    counts = sorted({len(row.folds) for row in found.values()})
    if not counts:
        return "–"
    return f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _missing(found: Mapping[str, Accuracies], part: Part) -> str:
    missing = [row for row in part.rows if row not in found]
    if not missing:
        return "–"
    return "all" if len(missing) == len(part.rows) else ", ".join(missing)
