"""Compare each reading of the paper's AUGCL with the same method without weights."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from augcl.evaluation.statistics import holm
from augcl.paper.comparison import LEVEL, TESTS, against
from augcl.paper.grid import Grid, Outcome
from augcl.paper.study import Accuracies, Study
from augcl.paper.table import Table

READINGS = {
    "AUGCL": ("our default", ""),
    "AUGCL-full": ("our default, temper 1", ""),
    "AUGCL-paper": ("paper, clusters of embeddings", "-paper"),
    "AUGCL-paper-affinity": ("paper, clusters of affinities", "-paper"),
    "AUGCL-authors": ("released code", "-authors"),
    "AUGCL-authors-unit": ("released code, unit rows", "-authors"),
}
"""By row: its name in the table, and the suffix of the name of its base."""

STATES = ("alive", "unlearned", "collapsed")


def base_of(row: str, table: Table) -> str:
    """Return the row without weights that has the same views."""
    own = f"{table.base}{READINGS[row][1]}"
    return own if own in table.rows else table.base  # for graphs, the released code has our views


def reading_rows(table: Table) -> tuple[str, ...]:
    """Return what needs no training, all readings and their bases."""
    bases = dict.fromkeys(base_of(row, table) for row in READINGS)
    return (table.free, *bases, *READINGS)


def readings(study: Study, table: Table) -> Outcome:
    """Return one table per data set: accuracy, difference from the base, state of the model."""
    grids, data, sentences = [], {}, []
    for dataset, rows in study.results(table).items():
        found = {
            row: _facts(study, table, dataset, row, rows[row], rows.get(base_of(row, table)))
            for row in READINGS
            if row in rows
        }
        if found:
            lines = [_line(row, table, facts) for row, facts in found.items()]
            free = rows.get(table.free)
            lines += [] if free is None else [(table.free, "", str(free), "", "", "", "")]
            grids.append(Grid(dataset, HEADER, tuple(lines)))
            data[dataset] = {row: _plain(facts) for row, facts in found.items()}
            sentences.append(f"{dataset}: {_verdict(found)}")
    if grids:
        note = (
            f"Accuracy in percent. p: {TESTS[table.level]}, against the base in the same line, on "
            "the same seeds and splits. Model: in how many trainings the uncertainty model was "
            "alive, unlearned (its weights differ, but it has not learned the groups) or "
            f"collapsed (all weights equal). {table.free}: what needs no training."
        )
        last = grids[-1]
        grids[-1] = Grid(last.title, last.header, last.rows, (note,))
    name = "readings" if table.level == "graph" else "node-readings"
    measured = study.measured(table)
    named = [replace(m, name=READINGS.get(m.name, (m.name,))[0]) for m in measured]
    return Outcome(name, grids, data, {}, sentences, named)


HEADER = ("reading", "its base", "base", "AUGCL", "− base [95 %]", "p", "model")


def _facts(
    study: Study, table: Table, dataset: str, row: str, found: Accuracies, base: Accuracies | None
) -> dict[str, Any]:
    records = study.records(study.cell(table, dataset, row)).values()
    states = [(record["weights"] or {}).get("fit_state", "collapsed") for record in records]
    return {
        "found": found,
        "base": base,
        "difference": None if base is None else found.minus(base),
        "states": {state: states.count(state) for state in STATES if state in states},
    }


def _line(row: str, table: Table, facts: dict[str, Any]) -> tuple[str, ...]:
    found, base = facts["found"], facts["base"]
    seeds = f" ({len(found.runs)})" if base is None or len(found.runs) != len(base.runs) else ""
    return (
        READINGS[row][0],
        base_of(row, table),
        "" if base is None else str(base),
        f"{found}{seeds}",
        *against(found, base),
        ", ".join(f"{count} {state}" for state, count in facts["states"].items()),
    )


def _verdict(found: dict[str, dict[str, Any]]) -> str:
    """Say which readings differ from their base beyond noise, after Holm's correction."""
    tested = {row: f["difference"] for row, f in found.items() if f["difference"] is not None}
    if not tested:
        return "one training of each cannot be tested for noise."
    adjusted = dict(zip(tested, holm([d.p for d in tested.values()]), strict=True))
    sure = [row for row, p in adjusted.items() if p < LEVEL]
    if not sure:
        return f"none of {len(tested)} readings differs from its own base beyond noise."
    said = [
        f"{READINGS[row][0]} is {'above' if tested[row].mean > 0 else 'below'} its base "
        f"({tested[row]})"
        for row in sure
    ]
    return f"{'; '.join(said)}; {len(tested) - len(sure)} other readings are within noise."


def _plain(facts: dict[str, Any]) -> dict[str, Any]:
    found, base, difference = facts["found"], facts["base"], facts["difference"]
    return {
        "mean": found.mean,
        "runs": found.runs,
        "base_mean": None if base is None else base.mean,
        "difference": None if difference is None else difference.mean,
        "p": None if difference is None else difference.p,
        "states": facts["states"],
    }
