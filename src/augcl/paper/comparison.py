"""Compare methods: tables of floor, base, methods and ceiling beside the published numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from augcl.evaluation.statistics import PairedDifference, Ranks, compare_ranks, holm, p_text
from augcl.paper.figures import critical_difference
from augcl.paper.grid import Grid, Outcome
from augcl.paper.study import Accuracies
from augcl.paper.table import Table

LEVEL = 0.05


def headroom(rows: Mapping[str, Accuracies], table: Table) -> PairedDifference | None:
    """Return oracle − base: the most that a weighting of negatives could gain."""
    return _difference(rows, table.ceiling, table.base)


def verdict(rows: Mapping[str, Accuracies], table: Table) -> list[str]:
    """Say in sentences whether training helps the base, and whether a weighting does or could."""
    sentences = []
    trained = _difference(rows, table.base, table.floor)
    if trained is not None:
        sentences.append(_trained(table.base, trained))
    methods = table.competing(rows)
    differences = {row: _difference(rows, row, table.base) for row in methods}
    tested = {row: found for row, found in differences.items() if found is not None}
    if tested:
        sentences.append(_methods(table.base, tested))
    elif methods and table.base in rows:
        sentences.append("One training cannot be tested for noise: use more seeds.")
    room = headroom(rows, table)
    if room is not None:
        sentences.append(_room(table.base, room))
    trained_rows = [
        r for r in rows if r not in (table.floor, table.free) and not table.knows_labels(r)
    ]
    above = {row: _difference(rows, row, table.free) for row in trained_rows}
    known = {row: found for row, found in above.items() if found is not None}
    if known:
        sentences.append(_without_training(table.free, known))
    return sentences


def _difference(rows: Mapping[str, Accuracies], a: str, b: str) -> PairedDifference | None:
    return rows[a].minus(rows[b]) if a in rows and b in rows else None


def _trained(base: str, gain: PairedDifference) -> str:
    if gain.p >= LEVEL:
        return f"{base} itself does not beat the untrained encoder here beyond noise ({gain})."
    verb = "beats" if gain.mean > 0 else "is worse than"
    return f"{base} {verb} the untrained encoder here ({gain})."


def _methods(base: str, tested: Mapping[str, PairedDifference]) -> str:
    """Return a sentence on the methods, with Holm's correction for their number."""
    adjusted = dict(zip(tested, holm([found.p for found in tested.values()]), strict=True))
    sure = [row for row, p in adjusted.items() if p < LEVEL]
    better = [f"{row} ({tested[row]})" for row in sure if tested[row].mean > 0]
    worse = [f"{row} ({tested[row]})" for row in sure if tested[row].mean < 0]
    text = f"No method beats {base} here beyond noise"
    lucky = [r for r, d in tested.items() if d.p < LEVEL and d.mean > 0 and r not in sure]
    if lucky:
        text += f" ({', '.join(lucky)}: not after Holm's correction for {len(tested)} methods)"
    if better:
        text = f"{base} is beaten here by {', '.join(better)}"
    if worse:
        text += f"; {', '.join(worse)} {'is' if len(worse) == 1 else 'are'} worse than it"
    return text + "."


def _without_training(free: str, tested: Mapping[str, PairedDifference]) -> str:
    """Return a sentence on the rows that beat what needs no training, with Holm's correction."""
    adjusted = dict(zip(tested, holm([found.p for found in tested.values()]), strict=True))
    better = [row for row, p in adjusted.items() if p < LEVEL and tested[row].mean > 0]
    if not better:
        return f"No row beats the {free} one here beyond noise."
    return f"The {free} row is beaten here by {', '.join(f'{r} ({tested[r]})' for r in better)}."


def _room(base: str, room: PairedDifference) -> str:
    """Return a sentence on the oracle, which knows which negatives are false."""
    if room.p < LEVEL and room.mean > 0:
        return f"A weighting of negatives could gain here: the oracle is above {base} ({room})."
    return (
        f"Even the oracle, which knows all false negatives, does not beat {base} here beyond "
        f"noise ({room}): there is no evidence that a weighting of negatives could help here."
    )


Results = Mapping[str, Mapping[str, Accuracies]]
"""Accuracies by data set, then by row."""

MAJORITY = "majority"
"""Name of the row that always predicts the largest class."""


def majority(rows: Mapping[str, Accuracies]) -> str:
    """Return the accuracy of the largest class in percent; empty where it is not recorded."""
    share = next((found.majority for found in rows.values()), None)
    return "" if share is None else f"{100 * share:.2f}"


FREE = {
    "graph": "counts of Weisfeiler–Lehman labels (WLFeatures)",
    "node": "features smoothed over the edges (Propagation)",
}

TESTS = {
    "graph": "corrected resampled t-test over the folds of all seeds",
    "node": "paired t-test over trainings",
}


def comparison(name: str, results: Results, table: Table, *, notes: Sequence[str] = ()) -> Outcome:
    """Return tables, figures, sentences and data for all measured rows and data sets."""
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
    return Outcome(name, grids, _data(results, table, ranks), figures, sentences)


def _of_dataset(dataset: str, rows: Mapping[str, Accuracies], table: Table) -> Grid:
    seeds = max(len(found.runs) for found in rows.values())
    paper_has_it = any(table.published(row, dataset) for row in rows)
    free = rows.get(table.free)
    lines: list[tuple[str, ...]] = []
    if majority(rows):
        beside = ("", "") if paper_has_it else ()
        lines.append((MAJORITY, majority(rows), *beside, "", "", *([""] if free else [])))
    for row, found in rows.items():
        paper = table.published(row, dataset)
        base = None if row == table.base else rows.get(table.base)
        more = against(found, None if row == table.free else free)[:1] if free else ()
        fewer = f" ({len(found.runs)})" if len(found.runs) < seeds else ""
        lines.append(
            (
                row,
                f"{found}{fewer}",
                *(_beside(found, paper) if paper_has_it else ()),
                *against(found, base),
                *more,
            )
        )
    published = ("published", "gap") if paper_has_it else ()
    header = ("", "measured", *published, f"− {table.base} [95 %]", "p")
    header += (f"− {table.free} [95 %]",) if free else ()
    notes = [f"{seeds} seed{'s' * (seeds > 1)}."]
    room = headroom(rows, table)
    if room is not None:
        notes.append(f"Headroom (oracle − {table.base}): {room}.")
    return Grid(dataset, header, tuple(lines), tuple(notes))


def _explanation(results: Results, table: Table) -> list[str]:
    """Return the notes that apply to all tables."""
    rows = {row for found in results.values() for row in found}
    notes = ["Accuracy in percent."]
    if any(map(majority, results.values())):
        notes.append(f"{MAJORITY}: always the largest class of the training part.")
    if table.floor in rows:
        notes.append(f"{table.floor}: the floor, an encoder that is not trained.")
    if table.free in rows:
        notes.append(f"{table.free}: {FREE[table.level]}.")
    if table.ceiling in rows:
        notes.append(f"{table.ceiling}: uses the labels; the ceiling of any weighting.")
    return [*notes, f"p: {TESTS[table.level]}, against {table.base}, on the same seeds and splits."]


def _beside(found: Accuracies, paper: tuple[float, float] | None) -> tuple[str, str]:
    if paper is None:
        return "", ""
    return f"{paper[0]:.2f} ± {paper[1]:.2f}", f"{100 * found.mean - paper[0]:+.2f}"


def against(found: Accuracies, base: Accuracies | None) -> tuple[str, str]:
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
    if any(map(majority, results.values())):
        lines.append((MAJORITY, *map(majority, results.values()), ""))
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
    """Rank the base and the methods on the data sets where all of them were measured."""
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
        base, free = rows.get(table.base), rows.get(table.free)
        datasets[dataset] = {
            row: {
                "mean": found.mean,
                "std": found.std,
                "runs": found.runs,
                "published_percent": table.published(row, dataset),
                "against_base": _plain(None if base is None else found.minus(base)),
                "against_free": _plain(None if free is None else found.minus(free)),
            }
            for row, found in rows.items()
        }
        datasets[dataset]["headroom"] = _plain(headroom(rows, table))
    return {
        "table": table.name,
        "floor": table.floor,
        "base": table.base,
        "ceiling": table.ceiling,
        "competing": {dataset: table.competing(rows) for dataset, rows in results.items()},
        "datasets": datasets,
        "majority": {
            dataset: next((found.majority for found in rows.values()), None)
            for dataset, rows in results.items()
        },
        "ranks": _plain(ranks),
        "tests": TESTS,
    }


def _plain(found: Any) -> dict[str, Any] | None:
    return None if found is None else asdict(found)
