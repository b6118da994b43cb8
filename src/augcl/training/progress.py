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

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column

from augcl.errors import printable, shortened

WIDE = 72
"""Columns of a terminal from which on the line has a bar and the time since the start."""


class Report(Protocol):
    """Report the number of steps done, with a note on the last one."""

    def __call__(self, done: int, note: str = "") -> None: ...


@contextmanager
def progress_bar(
    title: str, total: int, *, unit: str = "", show: bool = True, stay: bool = True
) -> Iterator[Report]:
    """Show a line on stderr with steps done, a note and the time left, if stderr is a terminal.

    The line fits the terminal: a narrow one shows no bar and a shorter title. If stderr is no
    terminal, print a line every `LINE_EVERY` seconds. Several threads may report. Without `stay`,
    the line is removed at the end.

    Parameters
    ----------
    unit : str
        What is counted, in front of the count: "epoch".
    """
    console = Console(stderr=True)
    wide = console.width >= WIDE
    steps = f"{unit} {{task.completed}}/{{task.total}}".strip()
    name = Column(no_wrap=True, overflow="ellipsis", max_width=max(8, console.width // 4))
    columns = (
        TextColumn("{task.description}", markup=False, table_column=name),
        *([BarColumn(None, table_column=Column(ratio=1))] if wide else []),
        TextColumn(steps, table_column=Column(no_wrap=True)),
        TextColumn("{task.fields[note]}", markup=False, table_column=Column(no_wrap=True)),
        *([TimeElapsedColumn()] if wide else []),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    if show and not console.is_terminal:
        with _lines(printable(title), total) as report:
            yield report
        return
    with Progress(
        *columns, console=console, disable=not show, transient=not stay, expand=wide
    ) as progress:
        task = progress.add_task(printable(title), total=total, note="")
        yield lambda done, note="": progress.update(task, completed=done, note=note)


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
