"""Draw differences with their intervals as a forest plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from augcl.paper.figures.style import (
    COLUMN,
    INK,
    PALE,
    SMALL,
    SeriesStyle,
    freeze,
    legend_above,
    looks,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

POINT = 0.11  # inches between the points of one row
PADDING = 0.1  # inches between rows
HEADING = 0.21


@dataclass(frozen=True)
class Dots:
    """One row of points by name; each point is a mean with the ends of its interval.

    >>> Dots("GraphCL", "MUTAG", {"oracle − base": (4.1, 2.0, 6.2)}).group
    'MUTAG'
    """

    label: str
    group: str
    points: Mapping[str, tuple[float, float, float]]


@styled
def dot_map(rows: Sequence[Dots], *, xlabel: str, zero_label: str) -> Figure:
    """Draw rows of points under headings, around a line at zero.

    Parameters
    ----------
    rows : sequence of Dots
        Rows of one group are placed together, groups in order of first appearance. A point name has
        the same colour and mark in all rows; a row need not have all names.
    xlabel : str
        What is measured.
    zero_label : str
        What zero means, written above its line.

    Examples
    --------
    >>> points = {"oracle − base": (4.1, 2.0, 6.2), "AUGCL − base": (0.3, -1.1, 1.7)}
    >>> figure = dot_map([Dots("GraphCL", "MUTAG", points)], xlabel="points", zero_label="base")
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['MUTAG', 'GraphCL']
    """
    names = list(dict.fromkeys(name for row in rows for name in row.points))
    if not names:
        raise ValueError("a forest plot needs a row with a point")
    style = looks(names)
    groups = list(dict.fromkeys(row.group for row in rows))
    height = sum(map(_thickness, rows)) + len(groups) * HEADING
    from matplotlib.figure import Figure

    figure = Figure(figsize=(COLUMN, height + 1.0), layout="constrained")
    axes = figure.subplots()
    axes.set(xlabel=xlabel, ylim=(height, 0))
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.grid(axis="x")
    _rows(axes, rows, groups, style)
    axes.margins(x=0.06)
    above = axes.get_xaxis_transform()
    axes.text(0, 1, zero_label, transform=above, ha="center", va="bottom", size=SMALL)
    legend_above(figure, [_handle(name, style[name]) for name in names])
    return freeze(figure)


def _thickness(row: Dots) -> float:
    return POINT * max(len(row.points), 1) + PADDING


def _rows(
    axes: Axes, rows: Sequence[Dots], groups: Sequence[str], style: Mapping[str, SeriesStyle]
) -> None:
    ticks: list[float] = []
    labels: list[str] = []
    headings: list[int] = []
    top = 0.0
    for group in groups:
        if top:
            axes.axhline(top, color=PALE, linewidth=0.6)
        headings.append(len(ticks))
        ticks.append(top + HEADING / 2 + 0.02)
        labels.append(group)
        top += HEADING
        for row in (row for row in rows if row.group == group):
            ticks.append(top + _thickness(row) / 2)
            labels.append(row.label)
            _points(axes, row, top + (PADDING + POINT) / 2, style)
            top += _thickness(row)
    axes.set_yticks(ticks, labels)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    for number in headings:
        axes.get_yticklabels()[number].set(weight="bold")


def _points(axes: Axes, row: Dots, top: float, style: Mapping[str, SeriesStyle]) -> None:
    present = [name for name in style if name in row.points]
    for number, name in enumerate(present):
        mean, low, high = row.points[name]
        y = top + number * POINT
        axes.plot([low, high], [y, y], color=style[name].colour, linewidth=1.1)
        mark = _handle(name, style[name])
        mark.set_data([mean], [y])
        axes.add_line(mark)


def _handle(name: str, look: SeriesStyle) -> Line2D:
    from matplotlib.lines import Line2D

    return Line2D(
        [],
        [],
        label=name,
        color=look.colour,
        marker=look.marker,
        markersize=4.5,
        markeredgecolor="white",
        markeredgewidth=0.5,
        linewidth=1.1,
    )
