"""Show progress on a terminal, and print warnings in one line."""

from __future__ import annotations

import itertools
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, Protocol

from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.table import Column
from rich.text import Text

from augcl.errors import printable, shortened

WIDE = 72
"""Columns of a terminal from which on the line has a bar."""
BAR, TITLE = 10, 8
"""Columns that the bar has at least, and the shortest title that is shown."""


class Report(Protocol):
    """Report the number of steps done, with a note on the last one."""

    def __call__(self, done: int, note: str = "") -> None: ...


@contextmanager
def progress_bar(
    title: str, total: int, *, unit: str = "", show: bool = True, stay: bool = True
) -> Iterator[Report]:
    """Show a line on stderr with steps done, a note and the time left, if stderr is a terminal.

    The line fits the terminal, see `fitted_line`; a wide one has a bar, too. If stderr is no
    terminal, print a line every `LINE_EVERY` seconds. Several threads may report. Without `stay`,
    the line is removed at the end.

    Parameters
    ----------
    unit : str
        What is counted, in front of the count: "epoch".
    """
    console = Console(stderr=True)
    wide = console.width >= WIDE
    columns: list[ProgressColumn] = [_Line(unit, console, BAR + 1 if wide else 0)]
    columns += [BarColumn(None, table_column=Column(ratio=1))] if wide else []
    if show and not console.is_terminal:
        with _lines(printable(title), total) as report:
            yield report
        return
    with Progress(
        *columns, console=console, disable=not show, transient=not stay, expand=wide
    ) as progress:
        task = progress.add_task(printable(title), total=total, note="")
        yield lambda done, note="": progress.update(task, completed=done, note=note)


class _Line(ProgressColumn):
    """The words of the line; `beside` columns of the terminal are for something else."""

    def __init__(self, unit: str, console: Console, beside: int) -> None:
        super().__init__(Column(no_wrap=True))
        self.unit, self.console, self.beside = unit, console, beside

    def render(self, task: Task) -> Text:
        count = f"{task.completed:g}/{task.total:g}"
        time = (
            f"in {clock(task.finished_time)}"
            if task.finished
            else f"{clock(task.time_remaining)} left"
        )
        width = self.console.width - self.beside
        return Text(
            fitted_line(task.description, self.unit, count, task.fields["note"], time, width)
        )


def fitted_line(title: str, unit: str, count: str, note: str, time: str, width: int) -> str:
    """Return one line of at most `width` columns; the title gives way first, then single words.

    Two blanks separate the parts of the line and those of the note.

    >>> fitted_line("GraphCL on MUTAG", "epoch", "3/40", "loss 1.250", "0:12 left", 60)
    'GraphCL on MUTAG  epoch 3/40  loss 1.250  0:12 left'
    >>> fitted_line("GraphCL on MUTAG", "epoch", "3/40", "loss 1.250", "0:12 left", 45)
    'GraphCL o…  epoch 3/40  loss 1.250  0:12 left'
    >>> fitted_line("GraphCL on MUTAG", "epoch", "3/40", "loss 1.250", "0:12 left", 30)
    '3/40  loss 1.250  0:12 left'
    """
    steps = f"{unit} {count}".strip()
    parts = [steps, note, time] if note else [steps, time]
    line = "  ".join(parts)
    room = width - cell_len(line) - 2
    if room >= min(TITLE, cell_len(title)):
        return f"{_cut(title, room)}  {line}"
    if cell_len(line) > width:
        line = line.replace(steps, count, 1)
    if cell_len(line) > width:
        line = line.replace("  ", " ")
    if cell_len(line) > width and "  " in note:  # its later parts are worth less
        return fitted_line(title, unit, count, note.rpartition("  ")[0], time, width)
    if cell_len(line) > width:  # the count and the time are never cut
        line = f"{count} {_cut(note, max(0, width - len(count) - len(time) - 2))} {time}"
    return line


def _cut(text: str, width: int) -> str:
    short = Text(text)
    short.truncate(width, overflow="ellipsis")
    return short.plain


def clock(seconds: float | None) -> str:
    """Return a time as minutes and seconds, with hours where there are some.

    >>> clock(75), clock(3675.2), clock(None)
    ('1:15', '1:01:15', '-:--')
    """
    if seconds is None:
        return "-:--"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def training_note(metrics: Mapping[str, Any]) -> str:
    """Return what a line about the last epoch shows: its loss, and the spread of the weights.

    >>> training_note({"epoch": 3, "loss": 1.25, "weight_std": 0.5}), training_note({"loss": 1.0})
    ('loss 1.250 spread 0.50', 'loss 1.000')
    """
    spread = metrics.get("weight_std")
    return f"loss {metrics['loss']:.3f}" + ("" if spread is None else f" spread {spread:.2f}")


@contextmanager
def phase(title: str, *, show: bool = True) -> Iterator[None]:
    """Show on stderr what is going on, where nothing can be counted; remove the line at the end.

    If stderr is no terminal, print a line every `LINE_EVERY` seconds.
    """
    console = Console(stderr=True)
    if show and not console.is_terminal:
        with _lines(printable(title)):
            yield
        return
    columns = TextColumn("{task.description}", markup=False), TimeElapsedColumn()
    with Progress(*columns, console=console, disable=not show, transient=True) as progress:
        progress.add_task(printable(title), total=None)
        yield


LINE_EVERY = 30.0
"""Seconds between two lines of progress where there is no terminal."""


@contextmanager
def _lines(title: str, total: int | None = None) -> Iterator[Report]:
    """Print how far the work is, again and again, to a stderr that is no terminal."""
    state, ended, started = [0, ""], threading.Event(), time.monotonic()

    def report(done: int, note: str = "") -> None:
        state[:] = done, note

    def speak() -> None:
        while not ended.wait(LINE_EVERY):
            done, note = state
            text = "" if total is None else f": {done} of {total}"
            text += f", {note}" if note else ""
            seconds = time.monotonic() - started
            print(f"{title}{text}, {seconds:.0f} s", file=sys.stderr, flush=True)

    thread = threading.Thread(target=speak, daemon=True)
    thread.start()
    try:
        yield report
    finally:
        ended.set()
        thread.join()


def one_more(report: Report) -> Callable[[], None]:
    """Return a function that reports one more step per call, from any thread."""
    steps = itertools.count(1)
    return lambda: report(next(steps))


def print_warning(message: Any, *_: Any, **__: Any) -> None:
    """Replace ``warnings.showwarning``: print one line, without the line of code."""
    _print_once(f"augcl: warning: {printable(shortened(message, most=3000))}")


@cache
def _print_once(line: str) -> None:
    # Python forgets which warnings it has shown whenever a library uses catch_warnings.
    print(line, file=sys.stderr)
