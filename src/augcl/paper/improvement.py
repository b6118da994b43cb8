"""The paper's table "base against AUGCL" on all ten data sets: gains with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from augcl.data.catalogue import GRAPH_SETS, is_node_set
from augcl.data.formats import is_one_graph
from augcl.evaluation.statistics import PairedDifference, holm, p_text
from augcl.paper.cells import Cell
from augcl.paper.comparison import LEVEL
from augcl.paper.figures import Dots, dot_map
from augcl.paper.grid import Grid, Outcome
from augcl.paper.published import improvement as published
from augcl.paper.readings import READINGS, base_of
from augcl.paper.rows import GRAPH_DATASETS, GRAPHS, NODE_DATASETS, NODES
from augcl.paper.study import Accuracies, Study
from augcl.paper.table import Table

ROWS = ("AUGCL",)
KNOWN = tuple(READINGS)
DATASETS = (*GRAPH_DATASETS, *NODE_DATASETS)
SHORT = 200
"""Epochs of GCA with sampled negatives, chosen for a laptop."""

NOTE = (
    "Difference in points with its 95 % interval: for graphs by the corrected resampled t-test "
    "over the folds of all seeds, for nodes by a paired t-test over trainings (no interval for a "
    "single training). Base and AUGCL have the same seeds, folds and number of epochs. Published: "
    "the paper's improvement, without an interval."
)


@dataclass(frozen=True)
class Gain:
    """A base, AUGCL and what needs no training on one data set; None: not measured."""

    label: str
    dataset: str
    row: str
    base_name: str
    base: Accuracies | None
    found: Accuracies | None
    free: Accuracies | None

    @property
    def difference(self) -> PairedDifference | None:
        """Return the tested difference; None if no test is possible."""
        return None if not (self.base and self.found) else self.found.minus(self.base)

    @property
    def gap(self) -> float | None:
        """Return the difference of the mean accuracies."""
        return None if not (self.base and self.found) else self.found.gap(self.base)


def improvement_cells(study: Study) -> list[Cell]:
    """Return the cells of base and AUGCL on every data set with every seed."""
    return [cell for part in split(study) for cell in _with_bases(part).cells(_table(part))]


def improvement_table(study: Study) -> Outcome:
    """Return the table of the measured rows of a study."""
    parts = split(study)
    rows = [row for part in parts for row in _with_bases(part).measured(_table(part))]
    return replace(improvement(parts), rows=rows)


def split(study: Study) -> list[Study]:
    """Split into one study of sets of graphs and one of nodes, whose settings differ."""
    of_nodes = tuple(name for name in study.datasets if _is_nodes(name))
    graphs = tuple(name for name in study.datasets if name not in of_nodes)
    epochs = study.epochs or (SHORT if study.candidates else None)
    parts = [replace(study, datasets=graphs), replace(study, datasets=of_nodes, epochs=epochs)]
    return [part for part in parts if part.datasets]


def improvement(studies: Sequence[Study]) -> Outcome:
    """Return one line per data set and row of each study; a study has one kind of data."""
    gains = [gain for study in studies for gain in _gains(study)]
    measured = [gain for gain in gains if gain.gap is not None]
    lines = [_line(gain) for gain in gains] if measured else []
    header = ("", "base", "AUGCL", "difference [95 %]", "p", "published", "training-free", "seeds")
    grid = Grid("Base against AUGCL", header, tuple(lines), (NOTE,))
    figures = {}
    if measured:
        label, zero = "AUGCL − base in points", "base"
        dots = [Dots(gain.label, f"on {gain.base_name}", _points(gain)) for gain in measured]
        figures["improvement"] = dot_map(dots, xlabel=label, zero_label=zero)
    sentences = [*_summary(measured), *_missing(gains)]
    return Outcome("improvement", [grid], {"datasets": _data(gains)}, figures, sentences)


def _gains(study: Study) -> list[Gain]:
    table, found = _table(study), _with_bases(study).results(_table(study))
    return [
        Gain(
            _label(study, table, dataset, row),
            dataset,
            row,
            base_of(row, table),
            found[dataset].get(base_of(row, table)),
            found[dataset].get(row),
            found[dataset].get(table.free),
        )
        for dataset in study.datasets
        for row in study.rows
    ]


def _label(study: Study, table: Table, dataset: str, row: str) -> str:
    schedule = f"{study.epochs} epochs" if study.epochs else "whole schedule"
    parts = [dataset]
    parts += [schedule] if table.level == "node" else []
    parts += [row] if len(study.rows) > 1 else []
    return ", ".join(parts)


def _table(study: Study) -> Table:
    of_nodes = _is_nodes(study.datasets[0])
    return NODES if of_nodes else GRAPHS


def _with_bases(study: Study) -> Study:
    table = _table(study)
    bases = dict.fromkeys(base_of(row, table) for row in study.rows)
    return replace(study, rows=(table.free, *bases, *study.rows))


def _is_nodes(dataset: str) -> bool:
    known = dataset in GRAPH_SETS or is_node_set(dataset)
    return is_node_set(dataset) if known else is_one_graph(Path(dataset))


def _line(gain: Gain) -> tuple[str, ...]:
    theirs = published(gain.dataset)
    beside = "" if theirs is None else f"{theirs:+.2f}"
    if gain.base is None or gain.found is None or gain.gap is None:
        label = f"{gain.dataset} (on {gain.base_name})"
        return (label, "not measured", "", "", "", beside, _free(gain), "")
    difference, p = f"{100 * gain.gap:+.2f}", ""
    if gain.difference is not None:
        low, high = 100 * gain.difference.low, 100 * gain.difference.high
        difference += f" [{low:+.2f}, {high:+.2f}]"
        p = p_text(gain.difference.p).removeprefix("= ")
    seeds = len(gain.base.folds.keys() & gain.found.folds.keys())
    label = f"{gain.label} (on {gain.base_name})"
    accuracies = (str(gain.base), str(gain.found))
    return (label, *accuracies, difference, p, beside, _free(gain), str(seeds))


def _free(gain: Gain) -> str:
    return "" if gain.free is None else str(gain.free)


def _points(gain: Gain) -> dict[str, tuple[float, float, float]]:
    assert gain.gap is not None
    mean = 100 * gain.gap
    ends = (mean, mean)
    if gain.difference is not None:
        ends = (100 * gain.difference.low, 100 * gain.difference.high)
    points = {"measured": (mean, *ends)}
    theirs = published(gain.dataset)
    if theirs is not None:
        points["published"] = (theirs, theirs, theirs)
    return points


def _summary(gains: Sequence[Gain]) -> list[str]:
    """Say how often AUGCL is above its base, also beyond noise, and if the paper's gain fits."""
    if not gains:
        return []
    above = sum(gain.gap is not None and gain.gap > 0 for gain in gains)
    text = f"AUGCL is above its base in {above} of {len(gains)} comparisons"
    tested = [(gain, gain.difference) for gain in gains if gain.difference is not None]
    if not tested:
        return [f"{text}; one training of each cannot be tested for noise."]
    adjusted = holm([difference.p for _, difference in tested])
    sure = [found for found, p in zip(tested, adjusted, strict=True) if p < LEVEL]
    better = [gain.label for gain, found in sure if found.mean > 0]
    worse = [gain.label for gain, found in sure if found.mean < 0]
    text += (
        f". {len(tested)} of them can be tested: AUGCL is above its base beyond noise in "
        f"{_names(better)} and below in {_names(worse)} (with Holm's correction)."
    )
    return [text, *_against_the_paper(tested)]


def _names(labels: Sequence[str]) -> str:
    return f"{len(labels)} ({', '.join(labels)})" if labels else "none"


def _against_the_paper(tested: Sequence[tuple[Gain, PairedDifference]]) -> list[str]:
    known = [(found, published(gain.dataset)) for gain, found in tested]
    pairs = [(found, theirs) for found, theirs in known if theirs is not None]
    if not pairs:
        return []
    below = sum(theirs > 100 * found.high for found, theirs in pairs)
    inside = sum(100 * found.low <= theirs <= 100 * found.high for found, theirs in pairs)
    ours = sum(100 * found.mean for found, _ in pairs) / len(pairs)
    paper = sum(theirs for _, theirs in pairs) / len(pairs)
    return [
        f"The published improvement lies inside our interval in {inside} of {len(pairs)} and above "
        f"it in {below}; on average we measure {ours:+.2f} points, the paper has {paper:+.2f}."
    ]


def _missing(gains: Sequence[Gain]) -> list[str]:
    measured = {(gain.dataset, gain.row) for gain in gains if gain.gap is not None}
    every = dict.fromkeys((gain.dataset, gain.row) for gain in gains)
    return [
        f"{dataset} was not measured. With its file in DIR, augcl reproduce improvement --datasets "
        f"{dataset} --methods {row} --data-dir DIR measures it."
        for dataset, row in every
        if (dataset, row) not in measured
    ]


def _data(gains: Sequence[Gain]) -> dict[str, Any]:
    return {
        gain.label: {
            "base": None if gain.base is None else {gain.base_name: gain.base.runs},
            "augcl": None if gain.found is None else gain.found.runs,
            "difference": None if gain.difference is None else asdict(gain.difference),
            "gap": gain.gap,
            "published_points": published(gain.dataset),
        }
        for gain in gains
    }
