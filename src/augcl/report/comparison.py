"""Tables of a comparison: floor, base, methods, ceiling, beside the published numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from augcl.evaluation.ranks import Ranks, compare_ranks
from augcl.evaluation.statistics import p_text
from augcl.experiments.measured import Measured
from augcl.experiments.table import Table
from augcl.report.figures import critical_difference
from augcl.report.findings import Findings
from augcl.report.grid import Grid
from augcl.report.verdict import headroom, verdict

Results = Mapping[str, Mapping[str, Measured]]
"""By data set, then by row."""

TESTS = {
    "graph": "corrected resampled t-test over the folds of all seeds",
    "node": "paired t-test over trainings",
}


def comparison(name: str, results: Results, table: Table, *, notes: Sequence[str] = ()) -> Findings:
    """Everything about some rows on some data sets."""
    grids = [_of_dataset(dataset, rows, table) for dataset, rows in results.items() if rows]
    ranks = _ranks(results, table)
    several = len(results) > 1
    if several:
        grids.append(_overview(results, table, ranks))
    if grids:
        notes = (*grids[-1].notes, *_explanation(results, table), *notes)
        grids[-1] = replace(grids[-1], notes=notes)
    sentences = [
        f"{dataset}: {sentence}" if several else sentence
        for dataset, rows in results.items()
        for sentence in verdict(rows, table)
    ]
    figures = {}
    if ranks is not None and len(ranks.names) > 2:
        figures[f"{name}-ranks"] = critical_difference(ranks)
    return Findings(name, grids, _data(results, table, ranks), figures, sentences)


def _of_dataset(dataset: str, rows: Mapping[str, Measured], table: Table) -> Grid:
    seeds = max(len(found.runs) for found in rows.values())
    paper_has_it = any(table.published(row, dataset) for row in rows)
    lines = []
    for row, found in rows.items():
        paper = table.published(row, dataset)
        base = None if row == table.base else rows.get(table.base)
        fewer = f" ({len(found.runs)})" if len(found.runs) < seeds else ""
        lines.append(
            (
                row,
                f"{found}{fewer}",
                *(_beside(found, paper) if paper_has_it else ()),
                *against(found, base),
            )
        )
    beside = ("published", "gap") if paper_has_it else ()
    header = ("", "measured", *beside, f"− {table.base} [95 %]", "p")
    notes = [f"{seeds} seed{'s' * (seeds > 1)}."]
    room = headroom(rows, table)
    if room is not None:
        notes.append(f"Headroom (oracle − {table.base}): {room}.")
    return Grid(dataset, header, tuple(lines), tuple(notes))


def _explanation(results: Results, table: Table) -> list[str]:
    """What a reader needs to know about all grids, once."""
    rows = {row for found in results.values() for row in found}
    notes = ["Accuracy in percent."]
    if table.floor in rows:
        notes.append(f"{table.floor}: the floor.")
    if table.ceiling in rows:
        notes.append(f"{table.ceiling}: looks at the labels, the ceiling of any weighting.")
    return [*notes, f"p: {TESTS[table.level]}, against {table.base}, on the same seeds and splits."]


def _beside(found: Measured, paper: tuple[float, float] | None) -> tuple[str, str]:
    if paper is None:
        return "", ""
    return f"{paper[0]:.2f} ± {paper[1]:.2f}", f"{100 * found.mean - paper[0]:+.2f}"


def against(found: Measured, base: Measured | None) -> tuple[str, str]:
    if base is None:
        return "", ""
    difference = found.minus(base)
    if difference is None:
        gap = found.gap(base)
        return "" if gap is None else f"{100 * gap:+.2f}", ""
    mean, low, high = (100 * value for value in (difference.mean, difference.low, difference.high))
    return f"{mean:+.2f} [{low:+.1f}, {high:+.1f}]", p_text(difference.p).removeprefix("= ")


def _overview(results: Results, table: Table, ranks: Ranks | None) -> Grid:
    rows = list(dict.fromkeys(row for rows in results.values() for row in rows))
    average = {} if ranks is None else dict(zip(ranks.names, ranks.average, strict=True))
    lines = []
    for row in rows:
        cells = [str(found[row]) if row in found else "" for found in results.values()]
        rank = f"{average[row]:.2f}" if row in average else ""
        lines.append((row, *cells, rank))
    notes: tuple[str, ...] = ()
    if ranks is not None:
        chance = "" if ranks.p is None else f"Friedman p {p_text(ranks.p)}; "
        notes = (
            f"Average rank over {ranks.datasets} data sets, without floor and ceiling; {chance}"
            f"ranks closer than {ranks.critical_difference:.2f} do not differ (Nemenyi, 5 %).",
        )
    return Grid("All data sets", ("", *results, "average rank"), tuple(lines), notes)


def _ranks(results: Results, table: Table) -> Ranks | None:
    """Of the base and the methods, on the data sets where all of them were measured."""
    every = dict.fromkeys(row for rows in results.values() for row in rows)
    competing = table.competing(every)
    rows = [row for row in every if row == table.base or row in competing]
    whole = [found for found in results.values() if all(row in found for row in rows)]
    if len(rows) < 2 or len(whole) < 2:
        return None
    return compare_ranks([[found[row].mean for row in rows] for found in whole], rows)


def _data(results: Results, table: Table, ranks: Ranks | None) -> dict[str, Any]:
    datasets: dict[str, Any] = {}
    for dataset, rows in results.items():
        base = rows.get(table.base)
        datasets[dataset] = {
            row: {
                "mean": found.mean,
                "std": found.std,
                "runs": found.runs,
                "published_percent": table.published(row, dataset),
                "against_base": _plain(None if base is None else found.minus(base)),
            }
            for row, found in rows.items()
        }
        datasets[dataset]["headroom"] = _plain(headroom(rows, table))
    return {
        "table": table.name,
        "floor": table.floor,
        "base": table.base,
        "ceiling": table.ceiling,
        "datasets": datasets,
        "ranks": _plain(ranks),
        "tests": TESTS,
    }


def _plain(found: Any) -> dict[str, Any] | None:
    return None if found is None else asdict(found)
