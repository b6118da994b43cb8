"""Time cells in parallel against one after the other, and the training with each hardness."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from augcl.paper.rows import GRAPHS
from augcl.paper.training_time import Timing, ratio
from benchmarks.data import data_dir, require
from benchmarks.measure import Row, faster

ROWS = ("untrained", "GraphCL", "DCL", "HCL", "ProGCL", "AUGCL")
MOST = {"DCL": 1.05, "HCL": 1.05, "ProGCL": 1.15, "AUGCL": 1.3}
"""Largest allowed ratio of the training time to GraphCL's."""


def fan_out(full: bool) -> list[Row]:
    """Time `augcl reproduce` on MUTAG with one and two jobs, and its cells in a plain loop.

    On a busy machine two processes get little more processor time than one. The sum of their
    processor times shows what they would need on two idle cores: half of it.
    """
    seeds = 5 if full else 3
    (one, work), (two, shared) = (_timed(_reproduce, seeds, jobs) for jobs in (1, 2))
    by_hand, alone = _timed(_by_hand, seeds)
    note = f"processor time {work:.0f} s and {shared:.0f} s: at best {2 * work / shared:.2f}×"
    what = f"reproduce MUTAG, {seeds} seeds: 2 jobs against 1"
    return [
        faster(what, one, two, 1.7, note=note),
        faster(
            "2 jobs against its cells in a plain loop",
            by_hand,
            two,
            1.0,
            note=f"processor time of the loop {alone:.0f} s",
        ),
    ]


def _timed(work: Callable[..., None], *arguments: int) -> tuple[float, float]:
    """Return elapsed seconds, and processor seconds of all processes that `work` starts."""
    before, begin = os.times(), time.perf_counter()
    work(*arguments)
    seconds, after = time.perf_counter() - begin, os.times()
    user = after.children_user - before.children_user
    return seconds, user + after.children_system - before.children_system


def _reproduce(seeds: int, jobs: int) -> None:
    with TemporaryDirectory() as out:
        command = [Path(sys.executable).with_name("augcl"), "reproduce", "graph-classification"]
        command += ["--datasets", "MUTAG", "--methods", ",".join(ROWS)]
        command += ["--seeds", str(seeds), "--jobs", str(jobs), "--out", out]
        subprocess.run(command, check=True, capture_output=True)


def _by_hand(seeds: int) -> None:
    """Compute one cell after the other in a separate process."""
    script = f"""
from pathlib import Path
from tempfile import TemporaryDirectory
with TemporaryDirectory() as out:
    for row in {ROWS}:
        for seed in range({seeds}):
            GRAPHS.cell("MUTAG", row, seed=seed).compute(Path(out), None)
"""
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


def hardness_cost(full: bool) -> list[Row]:
    """Compare the processor time of training with each hardness to GraphCL's, 40 epochs each."""
    rows = []
    for dataset in ("PROTEINS", "IMDB-BINARY"):
        require(dataset)
        turns = 5 if full else 3
        timing = Timing(GRAPHS, dataset, ("GraphCL", *MOST), turns, None, str(data_dir()))
        with TemporaryDirectory() as out:
            timing.measure(Path(out))
            seconds = timing.read(Path(out))
        assert seconds is not None
        for row, most in MOST.items():
            found = ratio(seconds, row, "GraphCL")
            rows.append(
                Row(
                    f"training on {dataset}: {row} against GraphCL",
                    ratio=f"{found:.2f}×",
                    target=f"≤ {most:g}×",
                    ok=found <= most,
                )
            )
    return rows
