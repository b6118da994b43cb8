"""Measure large graphs, each in its own process: time of an epoch by nodes, Propagation, onset."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from benchmarks.measure import Row, exponent, seconds_text

SIZES = (125_000, 250_000, 500_000, 1_000_000)


def large(full: bool) -> list[Row]:
    """Time an epoch of mini-batches with AUGCL by nodes, and `Propagation` on a million of them.

    Uses the processor time of one thread.
    """
    sizes = SIZES if full else SIZES[:3]
    epochs = [measured("epoch", nodes) for nodes in sizes]
    power = exponent(sizes, [epoch["cpu"] for epoch in epochs])
    memory = [f"{epoch['memory']:.1f}" for epoch in epochs]
    floor = measured("propagation", SIZES[-1])
    return [
        Row(
            what=f"an epoch of GCA + AUGCL, mini-batches of 8,192, planted graphs with "
            f"{', '.join(f'{nodes:,}' for nodes in sizes)} nodes; peaks {', '.join(memory)} GB",
            ours=", ".join(seconds_text(epoch["cpu"]) for epoch in epochs),
            ratio=f"n^{power:.2f}",
            target="≤ n^1.1",
            ok=power <= 1.1 and epochs[-1]["memory"] < 6,
        ),
        Row(
            what=f"Propagation on {SIZES[-1]:,} nodes; peak {floor['memory']:.1f} GB",
            ours=seconds_text(floor["cpu"]),
            target="≤ 60 s",
            ok=floor["cpu"] <= 60,
        ),
    ]


def onset(full: bool) -> list[Row]:
    """Compare the onset of AUGCL with epochs before it, on a graph like Coauthor-CS."""
    found = measured("onset")
    return [
        Row(
            what="the onset of AUGCL with 1,000 sampled negatives, as many nodes, edges and words "
            f"as Coauthor-CS, in epochs before it; peak {found['memory']:.1f} GB",
            textbook=f"epoch {seconds_text(found['epoch'])}",
            ours=seconds_text(found["cpu"]),
            ratio=f"{found['cpu'] / found['epoch']:.1f}",
            target="≤ 3, ≤ 4 GB",
            ok=found["cpu"] <= 3 * found["epoch"] and found["memory"] <= 4,
        )
    ]


def measured(*what: Any) -> dict[str, float]:
    """Return what ``python -m benchmarks.large_graph`` prints, with one thread."""
    command = [sys.executable, "-m", "benchmarks.large_graph", *map(str, what)]
    one = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=one)
    found: dict[str, float] = json.loads(done.stdout)
    return found
