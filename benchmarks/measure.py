"""Measure seconds, and make the rows of the result table."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from rich.table import Table
from threadpoolctl import threadpool_limits


@dataclass(frozen=True)
class Row:
    """A row of the result: both measurements as text, and whether the target is met.

    `ok` is None if nothing was measured or there is no target.
    """

    what: str
    textbook: str = ""
    ours: str = ""
    ratio: str = ""
    target: str = ""
    ok: bool | None = None


class NoData(Exception):  # noqa: N818 - not an error: the item is left out
    """The data set of an item is not on this machine."""


def faster(
    what: str,
    textbook: float,
    ours: float,
    target: float | None,
    *,
    same: bool = True,
    note: str = "",
) -> Row:
    """Return a row "textbook / ours ≥ target"; `same` says whether the results agree.

    Without a target the row is for information only.
    """
    ratio = textbook / ours
    return Row(
        what=f"{what}{note and f' ({note})'}{'' if same else ', RESULTS DIFFER'}",
        textbook=seconds_text(textbook),
        ours=seconds_text(ours),
        ratio=f"{ratio:.1f}×",
        target="" if target is None else f"≥ {target:g}×",
        ok=(None if same else False) if target is None else same and ratio >= target,
    )


def at_most(what: str, base: str, theirs: float, ours: float, most: float) -> Row:
    """Return a row "ours / theirs ≤ most"; `base` is the name of theirs."""
    return Row(
        what=what,
        textbook=f"{base} {seconds_text(theirs)}",
        ours=seconds_text(ours),
        ratio=f"{ours / theirs:.2f}×",
        target=f"≤ {most:g}×",
        ok=ours <= most * theirs,
    )


def seconds(
    work: Callable[[], object], repeats: int = 1, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Return the shortest time of `repeats` calls: noise of a shared machine only adds time."""
    times = []
    for _ in range(repeats):
        begin = clock()
        work()
        times.append(clock() - begin)
    return min(times)


def in_turns(
    *works: Callable[[], object], repeats: int, clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """Return median seconds of each piece of work, done in turns so that noise affects all."""
    times = [[seconds(work, clock=clock) for work in works] for _ in range(repeats)]
    return [statistics.median(column) for column in zip(*times, strict=True)]


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """Fit p of cost ~ size^p by least squares in logarithms.

    >>> round(exponent([1, 2, 4], [3.0, 12.0, 48.0]), 6)
    2.0
    """
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit torch and scikit-learn to one thread, on both sides of a comparison."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(before)


def seconds_text(value: float) -> str:
    """
    >>> seconds_text(0.0123), seconds_text(12.3)
    ('12.3 ms', '12.3 s')
    """
    return f"{1e3 * value:.1f} ms" if value < 1 else f"{value:.1f} s"


def table(rows: Iterable[Row]) -> Table:
    """Return the rows as a Rich table."""
    out = Table("what", title="Ours against the textbook, measured in one run")
    for column in ("textbook", "ours", "ratio", "target"):
        out.add_column(column, justify="right", no_wrap=True)
    out.add_column("ok")
    verdict = {True: "[green]yes[/]", False: "[red]NO[/]", None: "–"}
    for row in rows:
        out.add_row(row.what, row.textbook, row.ours, row.ratio, row.target, verdict[row.ok])
    return out
