"""The paper's Figure 1: do false negatives get small weights and true negatives large ones?"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from augcl.errors import one_of
from augcl.files import write_json
from augcl.hardness import AffinityUncertainty
from augcl.hardness.affinity import CollapseWarning
from augcl.paper.cells import digest
from augcl.paper.figures.style import INK, PAGE, PALE, SMALL, freeze, legend_above, styled
from augcl.paper.grid import Grid, Outcome
from augcl.paper.records import cell_file
from augcl.paper.rows import AUGCL_READINGS, GRAPHS
from augcl.paper.study import Study
from augcl.runs.run import hardness_settings

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = 40
ANCHORS = (11, 26)
TOYS = {"apart": 120.0, "close": 60.0}
"""Angle between the two centres, seen from the origin, in degrees."""

UPDATE = 2 * SIZE
"""Pairs per update, those of two anchors: with the usual 2,048 a pass would be one update."""

READINGS: dict[str, dict[str, Any]] = {
    "AUGCL": GRAPHS.rows["AUGCL"],
    **AUGCL_READINGS,
}
"""AUGCL's default, and the readings of the paper and of its released code."""


def points(toy: str, seed: int) -> NDArray[np.float64]:
    """Return (40, 2) points: the blue ones, then the orange ones.

    >>> points("close", 0).shape
    (40, 2)
    """
    angle = TOYS[one_of(toy, TOYS, "toy")]
    directions = np.radians([45 - angle / 2, 45 + angle / 2])
    centres = 3 * np.stack([np.cos(directions), np.sin(directions)], axis=1)
    noise = np.random.default_rng(seed).standard_normal((SIZE, 2))
    return centres.repeat(SIZE // 2, axis=0) + 0.8 * noise


def colours() -> NDArray[np.int64]:
    """Return (40,): 0 for blue, 1 for orange."""
    return np.arange(2).repeat(SIZE // 2)


@dataclass(frozen=True)
class ToyCell:
    """One reading fitted on one draw of a toy data set; stored like any other cell."""

    toy: str
    reading: str
    seed: int

    @property
    def name(self) -> str:
        return f"{self.reading} on the toy {self.toy}, seed {self.seed}"

    @property
    def order(self) -> tuple[Any, ...]:
        return (self.toy, self.reading, self.seed)

    def path(self, out: Path) -> Path:
        settings = hardness_settings(_hardness(self.reading, 0))
        decides = digest({"settings": settings, "points": points(self.toy, 0).round(6).tolist()})
        return cell_file(out, f"toy-{self.toy}", f"{self.reading}-{decides}", self.seed)

    def compute(self, out: Path, data_dir: str | None) -> None:
        write_json(self.path(out), self.record())

    def record(self) -> dict[str, Any]:
        """Return weights of both anchors, uncertainty for the first, means over all, vitals."""
        z = torch.from_numpy(points(self.toy, self.seed)).float()
        hardness = _hardness(self.reading, self.seed)
        with warnings.catch_warnings():  # the state is part of the record
            warnings.simplefilter("ignore", CollapseWarning)
            hardness.fit([(z, z)])
        weights, rows = hardness.weights(z, z), [anchor - 1 for anchor in ANCHORS]
        return {
            "toy": self.toy,
            "reading": self.reading,
            "seed": self.seed,
            "vitals": hardness.diagnose(),
            "weights": {str(row + 1): _plain(weights[row]) for row in rows},
            "uncertainty": _plain(hardness.uncertainty(z, z)[rows[0]]),
            **means(weights, torch.from_numpy(colours())),
        }


def _hardness(reading: str, seed: int) -> AffinityUncertainty:
    row = READINGS[one_of(reading, READINGS, "reading")]
    settings = {**row.get("hardness_options", {}), "pair_batch": UPDATE, "random_state": seed}
    return AffinityUncertainty.from_recipe(row.get("recipe", "default"), **settings)


def means(weights: Tensor, labels: Tensor) -> dict[str, float]:
    """Return the mean weights of false negatives (the anchor's own label) and of true negatives.

    >>> means(torch.tensor([[9.0, 1.0, 3.0], [1.0, 9.0, 3.0], [3.0, 3.0, 9.0]]),
    ...       torch.tensor([0, 0, 1]))
    {'weight_false_negatives': 1.0, 'weight_true_negatives': 3.0}
    """
    same = labels[:, None] == labels
    own = torch.eye(len(labels), dtype=torch.bool)
    return {
        "weight_false_negatives": float(weights[same & ~own].mean()),
        "weight_true_negatives": float(weights[~same].mean()),
    }


def _plain(values: Tensor) -> list[float]:
    """Return the values with six digits: enough for a figure, and the files stay small."""
    return [float(f"{value:.6g}") for value in values.tolist()]


GROUPS = {"blue": "#0072B2", "orange": "#E69F00"}
ROW = 1.0  # inches of one reading
DATA = 2.0  # inches of the panels above them

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Toy:
    """(N, 2) points, (N,) groups 0 and 1, and the numbers of the anchors, counted from 1."""

    points: Floats
    groups: NDArray[np.int64]
    anchors: tuple[int, ...]

    @property
    def colours(self) -> list[str]:
        shades = list(GROUPS.values())
        return [shades[group] for group in self.groups]

    def cosines(self, anchor: int) -> Floats:
        """Return the cosines (N,) of instance number `anchor` to all points."""
        unit = self.points / np.linalg.norm(self.points, axis=1, keepdims=True)
        similar: Floats = unit @ unit[anchor - 1]
        return similar


@dataclass(frozen=True)
class Reading:
    """(N,) weights of the negatives of each anchor, and (N,) uncertainty for the first anchor."""

    weights: Mapping[int, Sequence[float]]
    uncertainty: Sequence[float]


@styled
def toy_figure(toy: Toy, readings: Mapping[str, Reading]) -> Figure:
    """Draw the data and similarities, then a row of weights and uncertainty for each reading.

    Examples
    --------
    >>> toy = Toy(np.array([[1.0, 0], [1, 1], [0, 1]]), np.array([0, 0, 1]), (1, 3))
    >>> figure = toy_figure(toy, {"ours": Reading({1: [0, 1, 2], 3: [1, 1, 0]}, [0.1, 0.2, 0.3])})
    >>> [axes.get_title() for axes in figure.axes[:2]]
    ['(a) data', '(c) cosine to instance 1']
    """
    from matplotlib.figure import Figure

    first = toy.anchors[0]
    figure = Figure(figsize=(PAGE, DATA + ROW * len(readings) + 0.5), layout="constrained")
    parts = figure.subfigures(2, 1, height_ratios=[DATA, ROW * len(readings)], squeeze=False)
    above, below = parts[:, 0]
    data, histogram = above.subplots(1, 2)
    _data(data, toy)
    _histogram(histogram, toy)
    columns = [f"(b) weights, anchor {anchor}" for anchor in toy.anchors]
    columns.append(f"(d) uncertainty, anchor {first}")
    grid = below.subplots(len(readings), len(columns), sharex=True, squeeze=False)
    for row, (name, reading) in zip(grid, readings.items(), strict=True):
        shown = [*((anchor, reading.weights[anchor]) for anchor in toy.anchors)]
        for axes, (anchor, values) in zip(row, [*shown, (first, reading.uncertainty)], strict=True):
            _bars(axes, toy, anchor, values)
        row[0].set_ylabel(name.replace("-", "-\n", 1), size=SMALL)
    for axes, title in zip(grid[0], columns, strict=True):
        axes.set_title(title)
    below.supxlabel("instance", size=8)
    legend_above(figure, _groups())
    return freeze(figure)


@styled
def share_figure(toy: Toy, shares: Mapping[str, ArrayLike], plain: ArrayLike) -> Figure:
    """Plot the share of each negative in the first anchor's gradient against its cosine.

    Parameters
    ----------
    toy : Toy
    shares : mapping of reading to (N,)
        Shares with the weights of that reading; the share of the anchor itself is left out.
    plain : (N,)
        Shares with all weights 1, drawn as a line.

    Examples
    --------
    >>> toy = Toy(np.array([[1.0, 0], [1, 1], [0, 1]]), np.array([0, 0, 1]), (1,))
    >>> figure = share_figure(toy, {"ours": [0, 0.1, 0.3]}, [0, 0.2, 0.1])
    >>> figure.axes[0].get_yscale()
    'log'
    """
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

    anchor = toy.anchors[0]
    others = np.arange(len(toy.points)) != anchor - 1
    cosines, level = toy.cosines(anchor)[others], np.asarray(plain)[others]
    order = cosines.argsort()
    figure = Figure(figsize=(PAGE, 2.3), layout="constrained")
    panels = figure.subplots(1, len(shares), sharey=True, squeeze=False)[0]
    for axes, (name, values) in zip(panels, shares.items(), strict=True):
        axes.set_title(name, size=SMALL)
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g} %"))
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.grid(axis="y")
        axes.plot(cosines[order], level[order], color=PALE, linewidth=1.0)
        colours = [colour for colour, other in zip(toy.colours, others, strict=True) if other]
        visible = np.clip(np.asarray(values)[others], 1e-8, None)
        axes.scatter(cosines, visible, c=colours, s=11, linewidths=0, zorder=3)
        axes.xaxis.set_major_locator(MaxNLocator(3))
    figure.supxlabel(f"cosine to instance {anchor}", size=8)
    figure.supylabel("share in the gradient", size=8)
    line = Line2D([], [], color=PALE, linewidth=1.0, label="all weights 1")
    legend_above(figure, [*_groups(), line])
    return freeze(figure)


def _groups() -> list[Artist]:
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], color=colour, marker="o", linestyle="", label=f"{name} instances")
        for name, colour in GROUPS.items()
    ]


def _data(axes: Axes, toy: Toy) -> None:
    axes.set_title("(a) data")
    axes.set_aspect("equal", adjustable="datalim")
    x, y = toy.points.T
    axes.scatter(x, y, c=toy.colours, s=12, linewidths=0)
    axes.plot(0, 0, marker="+", color=PALE)
    for anchor in toy.anchors:
        place = toy.points[anchor - 1].tolist()
        axes.plot(*place, marker="o", markersize=6, markerfacecolor="none", color=INK)
        axes.annotate(str(anchor), place, (4, 4), textcoords="offset points", size=SMALL)


def _histogram(axes: Axes, toy: Toy) -> None:
    from matplotlib.ticker import MaxNLocator

    anchor = toy.anchors[0]
    axes.set_title(f"(c) cosine to instance {anchor}")
    others = np.arange(len(toy.points)) != anchor - 1
    cosines = toy.cosines(anchor)
    bins = np.linspace(min(cosines.min(), 0.0), 1, 17)
    parts = [cosines[others & (toy.groups == group)] for group in range(len(GROUPS))]
    axes.hist(parts, bins=bins.tolist(), stacked=True, color=list(GROUPS.values()))
    axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))


def _bars(axes: Axes, toy: Toy, anchor: int, values: Sequence[float]) -> None:
    """Draw one bar for every negative, and a mark for the anchor."""
    from matplotlib.ticker import MaxNLocator

    numbers = np.arange(1, len(values) + 1)
    height = np.where(numbers == anchor, 0.0, values)
    axes.bar(numbers, height, color=toy.colours, width=0.8)
    axes.plot(anchor, 0, marker="^", color=INK, markersize=3.5, clip_on=False, zorder=3)
    axes.set_xticks(sorted({1, *toy.anchors, len(values)}))
    axes.yaxis.set_major_locator(MaxNLocator(3))
    axes.grid(axis="y")
    axes.margins(x=0.01)


ROWS = tuple(READINGS)
DRAWS = 10

NOTE = (
    "Mean weight of false negatives (points of the anchor's own group) and of true negatives, over "
    "all 40 anchors and all draws of the points. As claimed: draws in which false negatives have a "
    "mean weight below 1 and true negatives above 1; reversed: the opposite. The paper's points "
    "are not "
    "published; ours lie around two centres three units from the origin, in directions 120 degrees "
    "(apart) or 60 degrees (close) apart, with a standard deviation of 0.8. An update of the model "
    f"uses {UPDATE} pairs, so that ten passes are 200 updates. The points have a length of about "
    "3; projections of GraphCL, which the released code uses without scaling, of more than 100."
)

Records = dict[str, dict[str, dict[int, dict[str, Any]]]]
"""Records by toy, reading and seed."""


def toy_cells(study: Study) -> list[ToyCell]:
    """Return the cells of every reading on every draw of both toys."""
    seeds = range(study.seeds or 1)
    return [ToyCell(toy, row, seed) for toy in TOYS for row in study.rows for seed in seeds]


def figure_one(study: Study) -> Outcome:
    """Return one figure of the first draw of each toy, and a table over all draws."""
    found = toy_records(study)
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
    return Outcome("figure-1", grids, {"toys": _by_toy(found)}, figures, _sentences(found))


def toy_records(study: Study) -> Records:
    """Return the finished records by toy, reading and seed."""
    found: Records = {}
    for toy in TOYS:
        every = {row: study.records(ToyCell(toy, row, 0)) for row in study.rows}
        found[toy] = {row: drawn for row, drawn in every.items() if drawn}
    return found


def toy_of(name: str) -> Toy:
    """Return the first draw of a toy."""
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
    """Count the draws in which false negatives weigh less than 1, and true ones more."""
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
    """Return a sentence: in how many draws each reading agrees with the paper's figure."""
    counts = {row: (_claimed(list(drawn.values())), len(drawn)) for row, drawn in rows.items()}
    always = [row for row, (yes, every) in counts.items() if yes == every]
    others = [f"{row} in {yes} of {n}" for row, (yes, n) in counts.items() if yes < n]
    what = "false negatives weigh less than 1 and true ones more than 1"
    draws = [f"with {', '.join(always)} in every draw"] if always else []
    draws += [f"with {', '.join(others)} draws"] if others else []
    return f"Groups {toy}: {what} {' and '.join(draws)}."


def _by_toy(found: Records) -> dict[str, Any]:
    return {
        toy: {row: [record for _, record in sorted(drawn.items())] for row, drawn in rows.items()}
        for toy, rows in found.items()
    }
