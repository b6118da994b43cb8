"""Which rows of the paper's tables were measured, on which data sets, with how many seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from augcl.experiments import ablation, graph_classification, node_classification
from augcl.experiments.measured import Measured
from augcl.experiments.table import Table
from augcl.report.markdown import table as markdown_table
from augcl.report.request import Request

GRAPHS = graph_classification.TABLE
NODES = node_classification.TABLE


@dataclass(frozen=True)
class Part:
    """A table of the paper: its rows, its data sets, and what else the `Request` says."""

    title: str
    table: Table
    rows: tuple[str, ...]
    datasets: tuple[str, ...]
    changes: Mapping[str, Any] = field(default_factory=dict)


PARTS = (
    Part("weighted negatives", GRAPHS, GRAPHS.compared, graph_classification.DATASETS),
    Part(
        "other systems of graphs",
        GRAPHS,
        tuple(graph_classification.RIVALS),
        graph_classification.DATASETS,
    ),
    Part("ablation", ablation.TABLE, tuple(ablation.PARTS)[1:], graph_classification.DATASETS),
    *(
        Part(
            f"nodes, {epochs} epochs, 512 negatives",
            NODES,
            node_classification.PAPER,
            (dataset,),
            {"epochs": epochs, "candidates": 512},
        )
        for dataset, epochs in (("Amazon-Photo", 200), ("Amazon-Computers", 100))
    ),
    Part("nodes", NODES, node_classification.PAPER, ("Wiki-CS",)),
)
"""What the paper shows, in the settings in which we measure it."""


def coverage_section(folder: Path) -> str:
    """The part of the results page that names what is missing; empty without any result.

    Examples
    --------
    >>> coverage_section(Path("nothing here"))
    ''
    """
    lines = [line for part in PARTS for line in _lines(part, folder)]
    if not any(line[2] != "0" for line in lines):
        return ""
    header = ["table", "data set", "rows measured", "of", "seeds", "missing"]
    text = "Rows of the paper's tables, with floor and ceiling where we add them."
    return "\n\n".join(["## What is not covered", text, markdown_table(header, lines)])


def _lines(part: Part, folder: Path) -> list[list[str]]:
    """A line for each data set."""
    request = Request(folder, part.datasets, part.rows, seeds=None, **part.changes)
    rows = str(len(part.rows))
    return [
        [part.title, dataset, str(len(found)), rows, _seeds(found), _missing(found, part)]
        for dataset, found in request.results(part.table).items()
    ]


def _seeds(found: Mapping[str, Measured]) -> str:
    """How many, from the row with the fewest to that with the most."""
    counts = sorted({len(row.folds) for row in found.values()})
    if not counts:
        return "–"
    return f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _missing(found: Mapping[str, Measured], part: Part) -> str:
    missing = [row for row in part.rows if row not in found]
    if not missing:
        return "–"
    return "all" if len(missing) == len(part.rows) else ", ".join(missing)
