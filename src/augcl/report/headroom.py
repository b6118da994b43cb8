"""The map of headroom: in which settings could a weighting of negatives help, and does one?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from augcl.experiments.cells import Cell
from augcl.experiments.headroom import settings_for, table_for
from augcl.experiments.measured import Measured
from augcl.experiments.table import Setting
from augcl.report.figures import Dots, dot_map
from augcl.report.findings import Findings
from augcl.report.grid import Grid
from augcl.report.request import Request

BASE = "base"
WORTHWHILE = 0.01
"""One point: headroom below that is not worth a method."""


def headroom_cells(request: Request) -> list[Cell]:
    """Base, oracle and the rows asked for, in every setting of every data set."""
    return [
        cell.with_seed(seed)
        for dataset in request.datasets
        for setting in settings_for(dataset).values()
        for cell in _cells(request, dataset, setting).values()
        for seed in range(request.seeds or 1)
    ]


def headroom_map(request: Request) -> Findings:
    """One table and one figure over all data sets and settings."""
    dots, lines = [], []
    data: dict[str, dict[str, Any]] = {}
    for dataset in request.datasets:
        for name, setting in settings_for(dataset).items():
            rows = _measured(request, dataset, setting)
            if BASE not in rows or "oracle" not in rows:
                continue
            gains = {row: _gain(rows[row], rows[BASE]) for row in rows if row != BASE}
            texts = (_text(gains.get(row)) for row in ("oracle", *request.rows))
            lines.append((f"{dataset}, {name}", str(rows[BASE]), *texts))
            points = {f"{row} − base": _ends(gain) for row, gain in gains.items() if gain}
            if points:
                dots.append(Dots(name, dataset, points))
            data.setdefault(dataset, {})[name] = {BASE: rows[BASE].runs, **gains}
    header = ("", BASE, *(f"{row} − base" for row in ("oracle", *request.rows)))
    note = (
        "Differences in points with their 95 % interval: of graphs by the corrected resampled "
        "t-test over folds, of nodes by a paired t-test over trainings (of one training none)."
    )
    grids = [Grid("Headroom", header, tuple(lines), (note,))]
    label, zero = "difference to the base in points", "base"
    figures = {"headroom": dot_map(dots, xlabel=label, zero_label=zero)} if dots else {}
    return Findings("headroom", grids, {"datasets": data}, figures, _sentences(data))


def _cells(request: Request, dataset: str, setting: Setting) -> dict[str, Cell]:
    """Of each row the first."""
    table = table_for(dataset)
    rows = {BASE: table.base, **{row: row for row in ("oracle", *request.rows)}}
    return {row: table.cell(dataset, name, setting) for row, name in rows.items()}


def _measured(request: Request, dataset: str, setting: Setting) -> dict[str, Measured]:
    cells = _cells(request, dataset, setting)
    found = {row: request.read(cell) for row, cell in cells.items()}
    return {row: one for row, one in found.items() if one is not None}


Gain = dict[str, float]
"""`mean`, and if there is something to test against `low`, `high` and `p`."""


def _gain(found: Measured, base: Measured) -> Gain | None:
    tested, gap = found.minus(base), found.gap(base)
    if tested is not None:
        return asdict(tested)
    return None if gap is None else {"mean": gap}


def _ends(gain: Gain) -> tuple[float, float, float]:
    """Mean and interval in points; a mean alone is its own interval."""
    mean, low, high = (100 * gain.get(end, gain["mean"]) for end in ("mean", "low", "high"))
    return mean, low, high


def _text(gain: Gain | None) -> str:
    if gain is None:
        return ""
    mean, low, high = _ends(gain)
    return f"{mean:+.2f} [{low:+.2f}, {high:+.2f}]" if "low" in gain else f"{mean:+.2f}"


def _sentences(data: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return [text for dataset, settings in data.items() for text in _of_dataset(dataset, settings)]


def _of_dataset(dataset: str, settings: Mapping[str, Any]) -> list[str]:
    """Where the oracle surely gains a point, and how much of that the methods realise."""
    oracle = {name: found["oracle"] for name, found in settings.items() if found["oracle"]}
    if not oracle:
        return []
    if not any("low" in gain for gain in oracle.values()):
        return [
            f"{dataset}: one training of each says nothing about noise; the oracle's "
            f"differences are {_means(oracle)}."
        ]
    sure = [name for name, gain in oracle.items() if gain.get("low", 0) > 0]
    large = [name for name in sure if oracle[name]["mean"] >= WORTHWHILE]
    sentences = []
    for name in large:
        tried = {row: gain for row, gain in settings[name].items() if row not in (BASE, "oracle")}
        realised = _means({row: gain for row, gain in tried.items() if gain is not None})
        more = f"; realised: {realised}" if realised else ""
        room = 100 * oracle[name]["mean"]
        sentences.append(f"{dataset}, {name}: headroom {room:+.2f} points{more}.")
    none = f"in none of {len(settings)} settings does the oracle gain a point beyond noise"
    return sentences or [f"{dataset}: {none}."]


def _means(gains: Mapping[str, Gain]) -> str:
    return ", ".join(f"{name} {100 * gain['mean']:+.2f}" for name, gain in gains.items())
