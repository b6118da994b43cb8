"""AUGCL's accuracy over its reward o and over α: the paper's figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from augcl.experiments.measured import Measured
from augcl.experiments.table import Table
from augcl.report.comparison import comparison
from augcl.report.figures import Line, line_panels
from augcl.report.findings import Findings
from augcl.report.request import Request

AXES = {"reward": "reward o", "alpha": "α"}


def sensitivity(request: Request, table: Table) -> Findings:
    """The table of all values, and one panel per data set."""
    every = request.results(table)
    results = {dataset: rows for dataset, rows in every.items() if table.competing(rows)}
    findings = comparison(table.name, results, table)
    figures = {}  # without that of the ranks: those of one method's own settings say nothing
    if results:
        panels = {dataset: _lines(rows, table) for dataset, rows in results.items()}
        figures[table.name] = line_panels(panels, xlabel=AXES[table.name], ylabel="accuracy (%)")
    return replace(findings, figures=figures)


def _lines(rows: Mapping[str, Measured], table: Table) -> list[Line]:
    values = table.competing(rows)
    means = [100 * rows[value].mean for value in values]
    errors = [100 * (rows[value].std or 0.0) for value in values]
    lines = [Line("AUGCL", values, means, errors)]
    for row in (table.base, table.ceiling, table.floor):
        if row in rows:
            level = [100 * rows[row].mean] * len(values)
            lines.append(Line(row, values, level, dashed=True))
    return lines
