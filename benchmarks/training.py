"""Time whole trainings: AUGCL against the textbook, against GraphCL, and by number of graphs."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import augcl
from augcl.data import GraphSet
from benchmarks import textbook
from benchmarks.data import graphs, one_by_one, require
from benchmarks.measure import (
    Row,
    at_most,
    exponent,
    faster,
    in_turns,
    one_thread,
    seconds,
    seconds_text,
)

PLAIN, PASSES, WEIGHTED = 20, 10, 20
NOISY = 0.3  # largest difference between the exponents of two turns that still decides


def fit(many: GraphSet, *, epochs: int, weighted: bool = True) -> Any:
    """Train our model with the paper's schedule."""
    hardness = augcl.AffinityUncertainty() if weighted else None
    return augcl.GraphCL(hardness=hardness, epochs=epochs, random_state=0, progress=False).fit(many)


def training(full: bool) -> list[Row]:
    """Time AUGCL on PROTEINS: 20 plain epochs, 10 passes, 20 weighted epochs."""
    many = graphs("PROTEINS")
    single = one_by_one(many)
    fit(many, epochs=2)
    whole = partial(fit, many, epochs=PLAIN + WEIGHTED)
    with one_thread():
        works = whole, partial(whole, weighted=False)
        ours, plain = in_turns(*works, repeats=3, clock=time.process_time)
        slow = {restarts: _textbook_seconds(single, full, restarts) for restarts in (1, 10)}
    note = "processor time; ours with its default 64 units and about 32,768 pairs a pass"
    if not full:
        note += "; textbook: one epoch of each stage, scaled"
    what = "AUGCL training on PROTEINS against"
    return [
        faster(f"{what} today's scikit-learn, one restart", slow[1], ours, 15, note=note),
        faster(f"{what} the scikit-learn of the paper's time, ten restarts", slow[10], ours, 15),
        at_most("AUGCL against our GraphCL at equal epochs", "GraphCL", plain, ours, 1.3),
    ]


def _textbook_seconds(single: Sequence[textbook.Graph], full: bool, restarts: int) -> float:
    """Return the textbook's processor time, in full or scaled up from one epoch of each stage."""
    if full:
        return sum(textbook.train(single, restarts=restarts).seconds.values())
    once = textbook.train(
        single, plain_epochs=1, passes=1, weighted_epochs=1, restarts=restarts
    ).seconds
    return PLAIN * once["plain"] + PASSES * once["gambler"] + WEIGHTED * once["weighted"]


def growth(full: bool) -> list[Row]:
    """Fit the exponent of the training time in the number of graphs, NCI1.

    Uses the processor time of one thread. A turn trains on every size once and gives one exponent;
    if the turns contradict each other, there is no verdict.
    """
    many = graphs("NCI1")
    order = np.random.default_rng(0).permutation(len(many))
    sizes = [len(many) // share for share in (8, 4, 2, 1)]
    parts = [many.select(np.sort(order[:size])) for size in sizes]
    works = [partial(fit, part, epochs=10 if full else 4) for part in parts]
    with one_thread():
        fit(parts[0], epochs=2)
        turns = [_processor_seconds(works) for _ in range(9 if full else 5)]
    return [growth_row(sizes, turns)]


def growth_row(sizes: Sequence[int], turns: Sequence[Sequence[float]]) -> Row:
    """Return the verdict over several turns, each with the seconds of all sizes."""
    found = sorted(exponent(sizes, turn) for turn in turns)
    middle, reach = statistics.median(found), found[-1] - found[0]
    noisy = reach > NOISY
    medians = [statistics.median(column) for column in zip(*turns, strict=True)]
    note = ", too noisy for a verdict" if noisy else ""
    return Row(
        what=f"growth with the number of graphs, NCI1 ({', '.join(map(str, sizes))}); "
        f"{len(turns)} turns from n^{found[0]:.2f} to n^{found[-1]:.2f}{note}",
        ours=", ".join(map(seconds_text, medians)),
        ratio=f"n^{middle:.2f}",
        target="≤ n^1.1",
        ok=None if noisy else middle <= 1.1,
    )


def _processor_seconds(works: Sequence[Callable[[], object]]) -> list[float]:
    return [seconds(work, clock=time.process_time) for work in works]


def memory(full: bool) -> list[Row]:
    """Measure the peak memory of one plain and one weighted epoch on COLLAB."""
    require("COLLAB")
    command = [sys.executable, "-m", "benchmarks.peak_memory", "COLLAB"]
    with tempfile.TemporaryDirectory() as empty:  # no cache: reading the text files is included
        environment = {**os.environ, "AUGCL_CACHE": empty}
        done = subprocess.run(
            command, stdout=subprocess.PIPE, text=True, check=True, env=environment
        )
    peak = float(done.stdout)
    return [
        Row(
            what="peak memory, one plain and one weighted epoch on COLLAB",
            ours=f"{peak:.2f} GB",
            target="≤ 4 GB",
            ok=peak <= 4,
        )
    ]
