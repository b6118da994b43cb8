"""Draw curves, one panel per data set."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from augcl.paper.figures.style import (
    COLUMN,
    FITS,
    PAGE,
    SeriesStyle,
    freeze,
    legend_above,
    looks,
    styled,
    width_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

FEW = 12  # up to this number, every point is marked
LETTER = 0.06  # rough width of a letter of a tick label, in inches


@dataclass(frozen=True)
class Line:
    """A curve: its name, its points and their errors.

    >>> Line("AUGCL", x=[1.5, 1.9], y=[88.4, 89.2], error=[1.1, 0.9]).label
    'AUGCL'
    """

    label: str
    x: Sequence[float] | Sequence[str]
    y: Sequence[float]
    error: Sequence[float] | None = None
    dashed: bool = False

    def __post_init__(self) -> None:
        lengths = {len(self.x), len(self.y), len(self.y if self.error is None else self.error)}
        if len(lengths) > 1:
            raise ValueError(f"x, y and error of line {self.label!r} differ in length")


@styled
def line_panels(panels: Mapping[str, Sequence[Line]], *, xlabel: str, ylabel: str) -> Figure:
    """Draw one panel per data set; a label has the same colour in all panels.

    Parameters
    ----------
    panels : mapping of title to lines
        Positions on the x axis are numbers, or strings for categories. Errors are drawn as bars for
        up to 12 points, with lines shifted so that no bar hides another, and as a band for more.
    xlabel, ylabel : str
        Shared by all panels.

    Examples
    --------
    >>> lines = [Line("AUGCL", ["1/(μ−δ)", "1/μ"], [88.9, 89.2], error=[1.0, 1.1])]
    >>> figure = line_panels({"MUTAG": lines}, xlabel="α", ylabel="accuracy (%)")
    >>> [axes.get_title() for axes in figure.axes]
    ['MUTAG']
    """
    every = [line for lines in panels.values() for line in lines]
    if not every:
        raise ValueError("a figure of lines needs a line")
    style = looks(line.label for line in every)
    rows, columns = _shape(len(panels))
    width = {1: COLUMN, 2: 5.2}.get(columns, PAGE)
    turned = any(_too_wide(_names(lines), width / columns) for lines in panels.values())
    height = rows * ((2.1 if columns == 1 else 1.5) + 0.4 * turned) + 0.45
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    cells = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes, (title, lines) in zip(cells, panels.items(), strict=False):
        axes.set_title(title)
        _panel(axes, lines, style, turned)
    figure.supxlabel(xlabel, size=8)
    figure.supylabel(ylabel, size=8)
    firsts = {line.label: line for line in reversed(every)}
    handles = [_pen(firsts[label], look) for label, look in style.items()]
    _legend(figure, cells[len(panels) :], handles, width / columns)
    return freeze(figure)


def _shape(panels: int) -> tuple[int, int]:
    """Return rows and columns: three columns for 5 and 6 panels, four for 7 and 8.

    >>> [_shape(panels) for panels in (1, 4, 6, 7, 9)]
    [(1, 1), (1, 4), (2, 3), (2, 4), (3, 4)]
    """
    columns = panels if panels <= 4 else 3 if panels <= 6 else 4
    return math.ceil(panels / columns), columns


def _names(lines: Sequence[Line]) -> list[str]:
    """Return the categories in order of first appearance; empty if positions are numbers."""
    positions = [x for line in lines for x in line.x]
    if not any(isinstance(x, str) for x in positions):
        return []
    return list(dict.fromkeys(map(str, positions)))


def _too_wide(names: Sequence[str], width: float) -> bool:
    return sum(len(name) + 1 for name in names) * LETTER > width - 0.6


def _panel(
    axes: Axes, lines: Sequence[Line], style: Mapping[str, SeriesStyle], turned: bool
) -> None:
    axes.grid(axis="y")
    axes.margins(y=0.08)
    from matplotlib.ticker import MaxNLocator

    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10], min_n_ticks=3))
    names = _names(lines)
    positions = [[float(names.index(str(x)) if names else x) for x in line.x] for line in lines]
    values = sorted({x for line in positions for x in line})
    if not values:
        return
    shifts = _shifts(lines, values[-1] - values[0])
    for line, x, shift in zip(lines, positions, shifts, strict=True):
        _draw(axes, line, [position + shift for position in x], style[line.label])
    if names:
        _name_ticks(axes, names, turned)
    else:
        _number_ticks(axes, values)


def _shifts(lines: Sequence[Line], span: float) -> list[float]:
    """Return shifts that place lines with error bars side by side."""
    barred = [number for number, line in enumerate(lines) if _has_bars(line)]
    step = 0.015 * span
    middle = (len(barred) - 1) / 2
    return [
        step * (barred.index(number) - middle) if number in barred else 0.0
        for number in range(len(lines))
    ]


def _has_bars(line: Line) -> bool:
    return line.error is not None and len(line.x) <= FEW


def _draw(axes: Axes, line: Line, x: Sequence[float], look: SeriesStyle) -> None:
    if line.error is not None:
        low = [y - error for y, error in zip(line.y, line.error, strict=True)]
        high = [y + error for y, error in zip(line.y, line.error, strict=True)]
        if _has_bars(line):
            axes.vlines(x, low, high, color=look.colour, linewidth=0.9)
        else:
            axes.fill_between(x, low, high, color=look.colour, alpha=0.18, linewidth=0)
    pen = _pen(line, look)
    pen.set_data(x, line.y)
    axes.add_line(pen)
    axes.autoscale_view()


def _pen(line: Line, look: SeriesStyle) -> Line2D:
    marked = len(line.x) <= FEW and not line.dashed
    from matplotlib.lines import Line2D

    return Line2D(
        [],
        [],
        label=line.label,
        color=look.colour,
        marker=look.marker if marked else "",
        markeredgecolor="white",
        markeredgewidth=0.5,
        linestyle="--" if line.dashed else "-",
    )


def _name_ticks(axes: Axes, names: Sequence[str], turned: bool) -> None:
    axes.set_xticks(range(len(names)), names)
    axes.set_xlim(-0.4, len(names) - 0.6)
    if turned:
        for label in axes.get_xticklabels():
            label.set(rotation=40, ha="right", rotation_mode="anchor")


def _number_ticks(axes: Axes, values: Sequence[float]) -> None:
    """Set ticks at the values themselves if they are few and evenly spaced."""
    gaps = [after - before for before, after in pairwise(values)]
    if len(gaps) <= 5 and (not gaps or max(gaps) < 2 * min(gaps)):
        axes.set_xticks(values, [f"{value:g}".replace("-", "−") for value in values])
    else:
        from matplotlib.ticker import MaxNLocator

        axes.xaxis.set_major_locator(MaxNLocator(5))


def _legend(figure: Figure, spare: Sequence[Axes], handles: Sequence[Line2D], width: float) -> None:
    """Place the legend in a spare cell of the last row if the names fit, else above."""
    for axes in spare:
        axes.set_axis_off()
    if spare and len(handles) <= 6:
        legend = spare[0].legend(handles=handles, loc="center", labelspacing=0.8)
        if width_of(legend, figure) <= FITS * (width - 0.3):
            return
        legend.remove()
    legend_above(figure, handles)
