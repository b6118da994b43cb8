"""Draw the critical-difference diagram of Demšar (2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from augcl.evaluation.statistics import Ranks, p_text
from augcl.paper.figures.style import INK, PALE, SMALL, styled, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# All lengths are inches: the axes cover the figure and count in inches from its upper left.
SIZE = 8
MARGIN = 0.06
STUB = 0.36  # room for the number on the horizontal line of a method
ROW = 0.19
BAR = 0.085
RULER_Y, AXIS_Y = 0.2, 0.56


@dataclass(frozen=True)
class _Frame:
    """Positions in the diagram."""

    best: float
    worst: float
    methods: int
    width: float
    height: float
    first_row: float

    def x(self, rank: float) -> float:
        return self.best + (rank - 1) / (self.methods - 1) * (self.worst - self.best)

    def y(self, row: int) -> float:
        return self.first_row + row * ROW


@styled
def critical_difference(ranks: Ranks) -> Figure:
    """Draw average ranks on an axis; thick bars connect methods that do not differ significantly.

    Examples
    --------
    >>> from augcl.evaluation import compare_ranks
    >>> figure = critical_difference(compare_ranks([[2, 1], [4, 3]], ["ours", "theirs"]))
    >>> sorted(text.get_text() for text in figure.axes[0].texts)[-2:]
    ['ours', 'theirs']
    """
    bars = _levels(ranks)
    caption = _caption(ranks)
    frame = _frame(ranks, 1 + max((level for level, _, _ in bars), default=-1), caption)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(frame.width, frame.height))
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, frame.width), ylim=(frame.height, 0))
    axes.set_axis_off()
    _axis(axes, frame)
    _ruler(axes, frame, ranks.critical_difference)
    _hang(axes, frame, ranks)
    for level, low, high in bars:
        y = AXIS_Y + (level + 1) * BAR
        ends = [frame.x(low) - 0.035, frame.x(high) + 0.035]
        axes.plot(ends, [y, y], color=INK, linewidth=2.6, solid_capstyle="round", gid="clique")
    axes.text(
        frame.width / 2, frame.height - MARGIN, caption, color="#666666", size=SMALL, ha="center"
    )
    return figure


def _caption(ranks: Ranks) -> str:
    sets = f"{ranks.datasets} data set{'s' * (ranks.datasets > 1)}"
    if ranks.p is None:
        return f"Average ranks, {sets}"
    return f"Average ranks, {sets}, Friedman p {p_text(ranks.p)}"


def _halves(ranks: Ranks) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
    """Return the better half, best first, and the worse half, worst first: no lines cross."""
    ordered = ranks.ordered()
    middle = (len(ordered) + 1) // 2
    return ordered[:middle], ordered[middle:][::-1]


def _frame(ranks: Ranks, levels: int, caption: str) -> _Frame:
    left, right = (
        max(text_width(name, SIZE) for name, _ in half) + MARGIN + 0.05 + STUB
        for half in _halves(ranks)
    )
    methods = len(ranks.names)
    axis = min(max(0.32 * methods, 1.5), 4.0)
    needed = max(text_width(caption, SMALL), text_width("CD = 10.00", SIZE)) + 2 * MARGIN
    axis = max(axis, needed - left - right)
    first_row = AXIS_Y + levels * BAR + 0.2
    return _Frame(
        best=left,
        worst=left + axis,
        methods=methods,
        width=left + axis + right,
        height=first_row + ((methods + 1) // 2 - 1) * ROW + 0.34,
        first_row=first_row,
    )


def _levels(ranks: Ranks) -> list[tuple[int, float, float]]:
    """Return level, lowest and highest rank of each bar; bars of one level do not overlap."""
    average = dict(zip(ranks.names, ranks.average, strict=True))
    gap = 0.2
    ends: list[float] = []
    bars = []
    for clique in ranks.cliques:
        low, high = average[clique[0]], average[clique[-1]]
        level = next((i for i, end in enumerate(ends) if end + gap < low), len(ends))
        ends[level : level + 1] = [high]
        bars.append((level, low, high))
    return bars


def _axis(axes: Axes, frame: _Frame) -> None:
    axes.plot([frame.best, frame.worst], [AXIS_Y, AXIS_Y], color=INK, linewidth=0.9)
    for rank in range(1, frame.methods + 1):
        x = frame.x(rank)
        axes.plot([x, x], [AXIS_Y - 0.05, AXIS_Y], color=INK, linewidth=0.9)
        axes.text(x, AXIS_Y - 0.07, str(rank), ha="center", va="bottom", size=SMALL)


def _ruler(axes: Axes, frame: _Frame, difference: float) -> None:
    """Draw the critical difference as a length; as an arrow if it is longer than the axis."""
    fits = difference <= frame.methods - 1
    start, end = frame.best, frame.x(1 + difference) if fits else frame.worst
    axes.plot([start, end], [RULER_Y, RULER_Y], color=INK, linewidth=0.9)
    axes.plot(start, RULER_Y, marker="|", color=INK, markersize=6)
    axes.plot(end, RULER_Y, marker="|" if fits else ">", color=INK, markersize=6 if fits else 3.5)
    axes.text((start + end) / 2, RULER_Y - 0.03, f"CD = {difference:.2f}", ha="center", va="bottom")


def _hang(axes: Axes, frame: _Frame, ranks: Ranks) -> None:
    left, right = _halves(ranks)
    for side, half in ((-1, left), (1, right)):
        edge = (frame.best if side < 0 else frame.worst) + side * STUB
        for row, (name, rank) in enumerate(half):
            x, y = frame.x(rank), frame.y(row)
            axes.plot([x, x, edge], [AXIS_Y, y, y], color=PALE, linewidth=0.8)
            axes.plot(x, AXIS_Y, marker="o", color=INK, markersize=2.5)
            axes.text(edge + side * 0.05, y, name, ha="right" if side < 0 else "left", va="center")
            axes.text(
                edge - side * 0.01,
                y - 0.015,
                f"{rank:.2f}",
                ha="left" if side < 0 else "right",
                va="bottom",
                size=6,
                color="#666666",
            )
