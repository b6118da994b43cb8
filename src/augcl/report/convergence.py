"""The loss over the epochs: the paper's figure of convergence."""

from __future__ import annotations

import numpy as np

from augcl.experiments.table import Table
from augcl.report.figures import Line, line_panels
from augcl.report.findings import Findings
from augcl.report.grid import Grid
from augcl.report.request import Request

NOTE = (
    "The loss with weighted negatives is another one than the loss before: its jump where the "
    "weights set in is no progress, and losses of different methods cannot be compared."
)


def convergence(request: Request, table: Table) -> Findings:
    """Mean loss of each epoch over the seeds, by method."""
    curves: dict[str, dict[str, list[float]]] = {}
    for dataset in request.datasets:
        curves[dataset] = {}
        for row in request.rows:
            found = request.records(request.cell(table, dataset, row)).values()
            losses = [record["losses"] for record in found if record.get("losses")]
            if losses:
                curves[dataset][row] = np.mean(losses, axis=0).tolist()
    panels = {
        dataset: [Line(row, list(range(1, len(y) + 1)), y) for row, y in rows.items()]
        for dataset, rows in curves.items()
        if rows
    }
    figures = {}
    if panels:
        figures["convergence"] = line_panels(panels, xlabel="epoch", ylabel="loss")
    return Findings("convergence", [_grid(curves)], {"losses": curves}, figures)


def _grid(curves: dict[str, dict[str, list[float]]]) -> Grid:
    rows = []
    for dataset, methods in curves.items():
        for row, y in methods.items():
            quarters = [y[0], *(y[max(len(y) * k // 4, 1) - 1] for k in (1, 2, 3, 4))]
            rows.append((f"{dataset}, {row}", *(f"{value:.4f}" for value in quarters)))
    header = ("loss after", "1 epoch", "¼", "½", "¾", "all")
    return Grid("Convergence", header, tuple(rows), (NOTE,))
