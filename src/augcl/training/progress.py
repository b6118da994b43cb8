"""Show progress on a terminal, and print warnings in one line."""

from __future__ import annotations

import itertools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from augcl.errors import printable, shortened


class Report(Protocol):
    """Report the number of steps done, with a note on the last one."""

    def __call__(self, done: int, note: str = "") -> None: ...


@contextmanager
def progress_bar(
    title: str, total: int, *, show: bool = True, stay: bool = True
) -> Iterator[Report]:
    """Show a bar on stderr with steps done, a note and the time left, if stderr is a terminal.

    If it is none, print a line every `LINE_EVERY` seconds. Several threads may report. Without
    `stay`, the bar is removed at the end.
    """
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}", markup=False),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    if show and not console.is_terminal:
        with _lines(printable(title), total) as report:
            yield report
        return
    with Progress(*columns, console=console, disable=not show, transient=not stay) as progress:
        task = progress.add_task(printable(title), total=total, note="")
        yield lambda done, note="": progress.update(task, completed=done, note=note)


LINE_EVERY = 30.0
"""Seconds between two lines of progress where there is no terminal."""


@contextmanager
def _lines(title: str, total: int) -> Iterator[Report]:
    """Print how far the work is, again and again, to a stderr that is no terminal."""
    state, ended, started = [0, ""], threading.Event(), time.monotonic()

    def report(done: int, note: str = "") -> None:
        state[:] = done, note

    def speak() -> None:
        while not ended.wait(LINE_EVERY):
            done, note = state
            text = f", {note}" if note else ""
            seconds = time.monotonic() - started
            print(f"{title}: {done} of {total}{text}, {seconds:.0f} s", file=sys.stderr, flush=True)

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
