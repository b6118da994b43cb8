"""The toy of two groups of points: its data, its weights, and the shares of its negatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter
from numpy.typing import ArrayLike, NDArray

from augcl.report.figures.style import INK, PAGE, PALE, SMALL, STYLE, freeze, legend_above

GROUPS = {"blue": "#0072B2", "orange": "#E69F00"}
ROW = 1.0  # inches of one reading
DATA = 2.0  # of the panels above them

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
        """(N,) of the instance with that number to all."""
        unit = self.points / np.linalg.norm(self.points, axis=1, keepdims=True)
        similar: Floats = unit @ unit[anchor - 1]
        return similar


@dataclass(frozen=True)
class Reading:
    """(N,) weights of the negatives of each anchor, and (N,) uncertainty for the first anchor."""

    weights: Mapping[int, Sequence[float]]
    uncertainty: Sequence[float]


@matplotlib.rc_context(STYLE)
def toy_figure(toy: Toy, readings: Mapping[str, Reading]) -> Figure:
    """Draw data and similarities once, then weights and uncertainty of each reading in a row.

    Examples
    --------
    >>> toy = Toy(np.array([[1.0, 0], [1, 1], [0, 1]]), np.array([0, 0, 1]), (1, 3))
    >>> figure = toy_figure(toy, {"ours": Reading({1: [0, 1, 2], 3: [1, 1, 0]}, [0.1, 0.2, 0.3])})
    >>> [axes.get_title() for axes in figure.axes[:2]]
    ['(a) data', '(c) cosine to instance 1']
    """
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


@matplotlib.rc_context(STYLE)
def share_figure(toy: Toy, shares: Mapping[str, ArrayLike], plain: ArrayLike) -> Figure:
    """Draw the share of every negative of the first anchor in its gradient over its cosine.

    Parameters
    ----------
    toy : Toy
    shares : mapping of reading to (N,)
        Shares with the weights of that reading; that of the anchor itself is left out.
    plain : (N,)
        Shares with all weights 1, drawn as a line.

    Examples
    --------
    >>> toy = Toy(np.array([[1.0, 0], [1, 1], [0, 1]]), np.array([0, 0, 1]), (1,))
    >>> figure = share_figure(toy, {"ours": [0, 0.1, 0.3]}, [0, 0.2, 0.1])
    >>> figure.axes[0].get_yscale()
    'log'
    """
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
    anchor = toy.anchors[0]
    axes.set_title(f"(c) cosine to instance {anchor}")
    others = np.arange(len(toy.points)) != anchor - 1
    cosines = toy.cosines(anchor)
    bins = np.linspace(min(cosines.min(), 0.0), 1, 17)
    parts = [cosines[others & (toy.groups == group)] for group in range(len(GROUPS))]
    axes.hist(parts, bins=bins.tolist(), stacked=True, color=list(GROUPS.values()))
    axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))


def _bars(axes: Axes, toy: Toy, anchor: int, values: Sequence[float]) -> None:
    """One bar for every negative; the anchor has a mark instead."""
    numbers = np.arange(1, len(values) + 1)
    height = np.where(numbers == anchor, 0.0, values)
    axes.bar(numbers, height, color=toy.colours, width=0.8)
    axes.plot(anchor, 0, marker="^", color=INK, markersize=3.5, clip_on=False, zorder=3)
    axes.set_xticks(sorted({1, *toy.anchors, len(values)}))
    axes.yaxis.set_major_locator(MaxNLocator(3))
    axes.grid(axis="y")
    axes.margins(x=0.01)
