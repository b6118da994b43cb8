"""The paper's figures of AUGCL's accuracy by the reward o and by α."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from augcl.paper.comparison import comparison
from augcl.paper.figures import Line, line_panels
from augcl.paper.grid import Outcome
from augcl.paper.study import Accuracies, Study
from augcl.paper.table import Table

AXES = {"reward": "reward o", "alpha": "α"}


def sensitivity(study: Study, table: Table) -> Outcome:
    """Return the table of all values, and a figure with one panel per data set."""
    every = study.results(table)
    # Other tables share the cells of a single value, which shows no sensitivity.
    results = {d: rows for d, rows in every.items() if len(table.competing(rows)) > 1}
    name = study.named(table.name)
    outcome = comparison(name, results, table)
    figures, sentences = {}, list(outcome.sentences)
    if results:  # no figure of ranks: ranks of the settings of one method have no meaning
        panels = {}
        for dataset, rows in results.items():
            undefined = _undefined(study, table, dataset)
            sentences += [f"{dataset}: {sentence}" for sentence in undefined.values()]
            panels[dataset] = _lines(rows, table, undefined)
        figures[name] = line_panels(panels, xlabel=AXES[table.name], ylabel="accuracy (%)")
    shown = [row for row in study.measured(table) if row.dataset in results]
    return replace(outcome, figures=figures, sentences=sentences, rows=shown)


def _undefined(study: Study, table: Table, dataset: str) -> dict[str, str]:
    """Return the values that are undefined in some trainings, with a sentence for each."""
    found = {}
    for value in table.competing(study.rows):
        records = study.records(study.cell(table, dataset, value)).values()
        without = [record for record in records if "undefined" in record]
        if without:
            found[value] = (
                f"α = {value} is not defined in {len(without)} of {len(records)} trainings, "
                "because its denominator is not positive."
            )
    return found


def _lines(
    rows: Mapping[str, Accuracies], table: Table, undefined: Mapping[str, str]
) -> list[Line]:
    """Return curves over the values with an accuracy; the legend names the others."""
    values = table.competing(rows)
    missing = [value for value in undefined if value not in rows]
    label = f"AUGCL (not defined: {', '.join(missing)})" if missing else "AUGCL"
    means = [100 * rows[value].mean for value in values]
    errors = [100 * (rows[value].std or 0.0) for value in values]
    lines = [Line(label, values, means, errors)]
    for row in (table.base, table.ceiling, table.floor):
        if row in rows:
            level = [100 * rows[row].mean] * len(values)
            lines.append(Line(row, values, level, dashed=True))
    return lines
