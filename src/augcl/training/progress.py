"""What a person sees while work goes on: a progress bar on a terminal, warnings in one line."""

from __future__ import annotations

import itertools
import sys
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


class Report(Protocol):
    """Tell how many steps are done and what there is to say about the last one."""

    def __call__(self, done: int, note: str = "") -> None: ...


@contextmanager
def progress_bar(
    title: str, total: int, *, show: bool = True, stay: bool = True
) -> Iterator[Report]:
    """A bar on the error stream with steps done, a note and the time left; only on a terminal.

    It may be told of progress from several threads; without `stay` it vanishes at the end.
    """
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    quiet = not (show and console.is_terminal)
    with Progress(*columns, console=console, disable=quiet, transient=not stay) as progress:
        task = progress.add_task(title, total=total, note="")
        yield lambda done, note="": progress.update(task, completed=done, note=note)


def one_more(report: Report) -> Callable[[], None]:
    """Tell `report` of one more step each time it is called, from whichever thread."""
    steps = itertools.count(1)
    return lambda: report(next(steps))


def print_warning(message: Any, *_: Any, **__: Any) -> None:
    """In place of ``warnings.showwarning``: one line, without the place in our code."""
    _print_once(f"augcl: warning: {message}")


@cache
def _print_once(line: str) -> None:
    # Python's own memory of what it has warned of is lost whenever some library catches warnings.
    print(line, file=sys.stderr)
