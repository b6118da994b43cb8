"""Time and memory that a training will need, as findings."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

from augcl.experiments.cost import Cost, Plan
from augcl.experiments.finding import Finding
from augcl.experiments.short_run import ShortRun

LONG = 3600.0  # seconds
BASE = 0.5e9  # bytes of Python and torch in each process
MOST = 0.8  # of the machine's memory


@dataclass(frozen=True)
class Price:
    """Of the whole command: seconds by the clock, bytes of one seed's work and of everything."""

    seconds: float
    working_memory: float
    memory: float


def price(cost: Cost, plan: Plan, *, seeds: int, at_once: int) -> Price:
    """Of all seeds, so many of them at once.

    >>> cost = Cost(1.0, 1.0, 0.0, 5.0, memory=1e9)
    >>> price(cost, Plan(epochs=5, warmup=2, width=32), seeds=3, at_once=2)
    Price(seconds=20.0, working_memory=1000000000.0, memory=3000000000.0)
    """
    rounds = math.ceil(seeds / at_once)
    everything = at_once * (BASE + cost.memory)
    return Price(rounds * cost.seconds(plan), cost.memory, everything)


def look_at_price(
    what: str, expected: Price, checked: Price | None, tried: ShortRun | None, *, of_nodes: bool
) -> list[Finding]:
    """The estimate and, side by side, what the short run says; `what` names the training."""
    best = checked or expected
    time, memory = duration(expected.seconds), size(expected.working_memory)
    if checked is not None and tried is not None:
        things = "nodes" if of_nodes else "graphs"
        part = (
            f"all {tried.of:,}" if tried.tried == tried.of else f"{tried.tried:,} of {tried.of:,}"
        )
        time += f"; by a short run on {part} {things}: {duration(checked.seconds)}"
        memory += f"; by the short run: {size(checked.working_memory)}"
    else:
        time += " (not tried)"
    memory += f"; with Python and torch {size(best.memory)} in all"
    fewer = "--epochs, or --candidates 1000" if of_nodes else "--epochs or --seeds"
    long = best.seconds > LONG
    cure = f"try a smaller {fewer} first" if long else ""
    there = memory_of_machine()
    scarce = there is not None and best.memory > MOST * there
    short = "--hardness none needs no weights of all pairs" if of_nodes else "--jobs 1"
    return [
        Finding("note" if long else "ok", "time", f"{what}: estimate {time}", cure),
        Finding(
            "warning" if scarce else "ok",
            "memory",
            f"estimate for a seed {memory}"
            + (f"; this machine has {size(there or 0)}" if scarce else ""),
            f"{short}, or a machine with more" if scarce else "",
        ),
    ]


def memory_of_machine() -> float | None:
    """Bytes, if the system tells."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return None


def duration(seconds: float) -> str:
    """As people say it.

    >>> duration(0.4), duration(50), duration(200), duration(9000), duration(4e5)
    ('1 s', '50 s', '3 min', '2.5 h', '4.6 days')
    """
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 48 * 3600 else f"{seconds / 86400:.1f} days"


def size(count: float) -> str:
    """Bytes as people say it.

    >>> size(5.4e7), size(2.14e9), size(2.1e10)
    ('54 MB', '2.1 GB', '21 GB')
    """
    if count < 1e9:
        return f"{count / 1e6:.0f} MB"
    return f"{count / 1e9:.1f} GB" if count < 1e10 else f"{count / 1e9:.0f} GB"
