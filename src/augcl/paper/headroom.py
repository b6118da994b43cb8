"""The map of headroom: in which settings could a weighting of negatives help, and does it?

Headroom is the gain of the oracle, which knows all false negatives, over the base.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from augcl.data.catalogue import GRAPH_SETS, is_node_set
from augcl.errors import InputError
from augcl.methods.presets import get_preset, preset_for
from augcl.paper.cells import Cell
from augcl.paper.figures import Dots, dot_map
from augcl.paper.grid import Grid, Outcome
from augcl.paper.rows import GRAPHS, NODES, NODES_GRACE
from augcl.paper.study import Accuracies, Study
from augcl.paper.table import PLAIN, Setting, Table, node_setting

DATASETS = ("MUTAG", "PROTEINS", "IMDB-BINARY", "NCI1", "Cora", "Amazon-Photo")
"""Data sets of the map."""

GRAPH_SETTINGS: dict[str, Setting] = {
    "as published": PLAIN,
    "two views": Setting(options={"augment_anchor": True, "symmetric": True}),
    **{
        f"views: {name}": Setting(options={"augmentation": name})
        for name in ("node-drop", "edge-perturb", "subgraph", "attribute-mask", "random4")
    },
    **{f"τ {tau}": Setting(options={"tau": tau}) for tau in (0.05, 0.5, 1.0)},
    **{f"batch {size}": Setting(options={"batch_size": size}) for size in (32, 512)},
    "width 128": Setting(options={"width": 128}),
    "1 layer": Setting(options={"layers": 1}),
    "5 layers": Setting(options={"layers": 5}),
    "mean pooling": Setting(options={"pooling": "mean"}),
    "10 epochs": Setting(epochs=10),
    "160 epochs": Setting(epochs=160),
    "degree features": Setting(features="degree"),
}


def table_for(dataset: str) -> Table:
    """Return the table with GraphCL's rows for sets of graphs, GRACE's or GCA's for nodes."""
    if _is_set_of_graphs(dataset):
        return GRAPHS
    return NODES_GRACE if dataset == "Cora" else NODES


def settings_for(dataset: str) -> dict[str, Setting]:
    """Return the settings by name; for nodes, variations of the data set's published settings."""
    return GRAPH_SETTINGS if _is_set_of_graphs(dataset) else _node_settings(dataset)


def _is_set_of_graphs(dataset: str) -> bool:
    if dataset not in GRAPH_SETS and not is_node_set(dataset):
        raise InputError(f"{dataset} has no map of headroom: choose a name listed by augcl data")
    return dataset in GRAPH_SETS


def _node_settings(dataset: str) -> dict[str, Setting]:
    """Return the settings for nodes; Amazon-Photo gets fewer epochs and sampled negatives.

    Its whole schedule takes hours.
    """
    large = dataset != "Cora"
    usual = node_setting(epochs=200 if large else None, candidates=512 if large else None)
    preset = get_preset(preset_for(dataset))
    epochs = usual.epochs or preset["epochs"]
    tau, width = preset["tau"], preset["width"]

    def other(epochs: int | None = usual.epochs, **options: object) -> Setting:
        return Setting(epochs=epochs, options={**usual.options, **options})

    return {
        f"{epochs} epochs, 512 negatives" if large else "as published": usual,
        "half the τ": other(tau=tau / 2),
        "twice the τ": other(tau=2 * tau),
        "half the width": other(width=width // 2),
        "a quarter of the epochs": other(epochs // 4),
        "twice the epochs": other(epochs * 2),
        "views: milder": other(edge_drop=(0.1, 0.1), feature_drop=(0.1, 0.1)),
        "views: stronger": other(edge_drop=(0.5, 0.5), feature_drop=(0.5, 0.5)),
        "128 negatives": other(candidates=128),
    }


BASE = "base"
WORTHWHILE = 0.01
"""Smallest headroom that is reported: one point."""


def headroom_cells(study: Study) -> list[Cell]:
    """Return the cells of base, oracle and requested rows in every setting of every data set.

    What needs no training has one cell for all settings.
    """
    first = [
        cell
        for dataset in study.datasets
        for setting in settings_for(dataset).values()
        for cell in _cells(study, dataset, setting).values()
    ]
    first += [_free(dataset) for dataset in study.datasets]
    return [cell.with_seed(seed) for cell in first for seed in range(study.seeds or 1)]


def _free(dataset: str) -> Cell:
    table = table_for(dataset)
    return table.cell(dataset, table.free)


def headroom_map(study: Study) -> Outcome:
    """Return one table and one figure over all data sets and settings."""
    dots, lines, measured = [], [], []
    data: dict[str, dict[str, Any]] = {}
    for dataset in study.datasets:
        for name, setting in settings_for(dataset).items():
            rows = _measured(study, dataset, setting)
            if BASE not in rows or "oracle" not in rows:
                continue
            gains = {row: _gain(rows[row], rows[BASE]) for row in rows if row != BASE}
            texts = (_text(gains.get(row)) for row in ("oracle", *study.rows))
            free = study.read(_free(dataset))
            accuracies = (str(rows[BASE]), "" if free is None else str(free))
            lines.append((f"{dataset}, {name}", *accuracies, *texts))
            points = {f"{row} − base": _ends(gain) for row, gain in gains.items() if gain}
            if points:
                dots.append(Dots(name, dataset, points))
            data.setdefault(dataset, {})[name] = {BASE: rows[BASE].runs, **gains}
            for row, cell in _cells(study, dataset, setting).items():
                found = study.measured_row(f"{name}: {row}", cell)
                measured += [] if found is None else [found]
    header = ("", BASE, "training-free", *(f"{row} − base" for row in ("oracle", *study.rows)))
    note = (
        "Differences in points with their 95 % interval: for graphs by the corrected resampled "
        "t-test over folds, for nodes by a paired t-test over trainings (no interval for a single "
        "training). training-free: what needs no training, the same in all settings."
    )
    grids = [Grid("Headroom", header, tuple(lines), (note,))]
    label, zero = "difference to the base in points", "base"
    figures = {"headroom": dot_map(dots, xlabel=label, zero_label=zero)} if dots else {}
    return Outcome("headroom", grids, {"datasets": data}, figures, _sentences(data), measured)


def _cells(study: Study, dataset: str, setting: Setting) -> dict[str, Cell]:
    """Return the first cell of each row."""
    table = table_for(dataset)
    rows = {BASE: table.base, **{row: row for row in ("oracle", *study.rows)}}
    return {row: table.cell(dataset, name, setting) for row, name in rows.items()}


def _measured(study: Study, dataset: str, setting: Setting) -> dict[str, Accuracies]:
    cells = _cells(study, dataset, setting)
    found = {row: study.read(cell) for row, cell in cells.items()}
    return {row: one for row, one in found.items() if one is not None}


Gain = dict[str, float]
"""`mean`; and `low`, `high` and `p` if a test is possible."""


def _gain(found: Accuracies, base: Accuracies) -> Gain | None:
    tested, gap = found.minus(base), found.gap(base)
    if tested is not None:
        return asdict(tested)
    return None if gap is None else {"mean": gap}


def _ends(gain: Gain) -> tuple[float, float, float]:
    """Return mean and interval in points; without an interval, the mean three times."""
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
    """Say where the oracle gains a point beyond noise, and how much of it the methods realise."""
    oracle = {name: found["oracle"] for name, found in settings.items() if found["oracle"]}
    if not oracle:
        return []
    if not any("low" in gain for gain in oracle.values()):
        return [
            f"{dataset}: one training of each cannot be tested for noise; the oracle's "
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
    none = f"the oracle gains a point beyond noise in none of {len(settings)} settings"
    return sentences or [f"{dataset}: {none}."]


def _means(gains: Mapping[str, Gain]) -> str:
    return ", ".join(f"{name} {100 * gain['mean']:+.2f}" for name, gain in gains.items())
