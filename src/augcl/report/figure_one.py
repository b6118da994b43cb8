"""The paper's first figure: do false negatives get small weights and true ones large ones?"""

from __future__ import annotations

from typing import Any

import numpy as np

from augcl.experiments.toy import ANCHORS, READINGS, TOYS, UPDATE, ToyCell, colours, points
from augcl.report.figures.toy_panels import Reading, Toy, toy_figure
from augcl.report.findings import Findings
from augcl.report.grid import Grid
from augcl.report.request import Request

ROWS = tuple(READINGS)
DRAWS = 10

NOTE = (
    "Mean weight of false negatives (points of the anchor's own group) and of true ones, over all "
    "40 anchors and all draws of the points. As claimed: draws in which false negatives weigh less "
    "than 1 and true ones more than 1; reversed: the other way round. The paper's points are not "
    "published; ours lie around two centres three units from the origin, in directions 120 degrees "
    "(apart) or 60 degrees (close) apart, with a standard deviation of 0.8. An update of the model "
    f"sees {UPDATE} pairs, so that ten passes are 200 updates. Points as they are have a length of "
    "about 3; projections of GraphCL, which the released code takes as they are, of more than 100."
)

Records = dict[str, dict[str, dict[int, dict[str, Any]]]]
"""By toy, reading and seed."""


def toy_cells(request: Request) -> list[ToyCell]:
    """Every reading on every drawing of both toys."""
    seeds = range(request.seeds or 1)
    return [ToyCell(toy, row, seed) for toy in TOYS for row in request.rows for seed in seeds]


def figure_one(request: Request) -> Findings:
    """One figure of the first drawing of each toy, and a table over all drawings."""
    found = toy_records(request)
    lines = [
        _line(toy, row, list(drawn.values()))
        for toy, rows in found.items()
        for row, drawn in rows.items()
    ]
    header = ("", "state of the model", "w, false", "w, true", "as claimed", "reversed")
    grids = [Grid("Weights of a toy", header, tuple(lines), (NOTE,))]
    figures = {
        f"figure-1-{toy}": toy_figure(toy_of(toy), {row: _reading(d[0]) for row, d in rows.items()})
        for toy, rows in found.items()
        if rows and all(0 in drawn for drawn in rows.values())
    }
    return Findings("figure-1", grids, {"toys": _data(found)}, figures, _sentences(found))


def toy_records(request: Request) -> Records:
    """What is finished, by toy, reading and seed."""
    found: Records = {}
    for toy in TOYS:
        every = {row: request.records(ToyCell(toy, row, 0)) for row in request.rows}
        found[toy] = {row: drawn for row, drawn in every.items() if drawn}
    return found


def toy_of(name: str) -> Toy:
    """The first drawing of a toy."""
    return Toy(points(name, 0), colours(), ANCHORS)


def _reading(record: dict[str, Any]) -> Reading:
    weights = {anchor: record["weights"][str(anchor)] for anchor in ANCHORS}
    return Reading(weights, record["uncertainty"])


def _line(toy: str, row: str, drawn: list[dict[str, Any]]) -> tuple[str, ...]:
    false, true = _means(drawn)
    return (
        f"{toy}: {row}",
        _states(drawn),
        f"{false.mean():.2f} ± {false.std():.2f}",
        f"{true.mean():.2f} ± {true.std():.2f}",
        f"{_claimed(drawn)} of {len(drawn)}",
        f"{_reversed(drawn)} of {len(drawn)}",
    )


def _means(drawn: list[dict[str, Any]]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    false, true = (
        np.array([record[f"weight_{kind}_negatives"] for record in drawn])
        for kind in ("false", "true")
    )
    return false, true


def _claimed(drawn: list[dict[str, Any]]) -> int:
    """Draws in which false negatives weigh less than 1, and true ones more."""
    false, true = _means(drawn)
    return int(((false < 1) & (true > 1)).sum())


def _reversed(drawn: list[dict[str, Any]]) -> int:
    false, true = _means(drawn)
    return int(((false > 1) & (true < 1)).sum())


def _states(drawn: list[dict[str, Any]]) -> str:
    """
    >>> _states([{"vitals": {"state": s}} for s in ("alive", "collapsed", "alive")])
    'alive 2, collapsed 1'
    """
    states = [record["vitals"]["state"] for record in drawn]
    if len(set(states)) == 1:
        return str(states[0])
    return ", ".join(f"{state} {states.count(state)}" for state in sorted(set(states)))


def _sentences(found: Records) -> list[str]:
    return [_of_toy(toy, rows) for toy, rows in found.items() if rows]


def _of_toy(toy: str, rows: dict[str, dict[int, dict[str, Any]]]) -> str:
    """In how many draws each reading does what the paper's figure shows."""
    counts = {row: (_claimed(list(drawn.values())), len(drawn)) for row, drawn in rows.items()}
    always = [row for row, (yes, every) in counts.items() if yes == every]
    others = [f"{row} in {yes} of {n}" for row, (yes, n) in counts.items() if yes < n]
    what = "false negatives weigh less than 1 and true ones more than 1"
    told = [f"with {', '.join(always)} in every draw"] if always else []
    told += [f"with {', '.join(others)} draws"] if others else []
    return f"Groups {toy}: {what} {' and '.join(told)}."


def _data(found: Records) -> dict[str, Any]:
    return {
        toy: {row: [record for _, record in sorted(drawn.items())] for row, drawn in rows.items()}
        for toy, rows in found.items()
    }
