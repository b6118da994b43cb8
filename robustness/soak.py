"""Long lives: hundreds of short trainings, then of `transform`s, in one process.

    python -m robustness soak --times 200

The peak of memory of every round must stay within 5 % of the highest of the first ten.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable

import torch

import augcl
from augcl.runs.run import peak_memory, start_watching_memory

FIRST = 10
MOST = 1.05


def main(arguments: list[str]) -> int:
    """Train and embed many times; exit 1 if memory grows."""
    parser = argparse.ArgumentParser(prog="python -m robustness soak", description=__doc__)
    parser.add_argument("--times", type=int, default=200)
    times = parser.parse_args(arguments).times
    torch.set_num_threads(1)
    graphs = augcl.load("MUTAG").select(range(0, 160, 2))
    nodes = augcl.load("digits-knn")

    def train(number: int) -> None:
        """Each round trains three methods, with seeds of its own."""
        settings = {"epochs": 2, "random_state": number, "progress": False}
        hardness = augcl.AffinityUncertainty(passes=1)
        augcl.GraphCL(hardness=hardness, **settings).fit(graphs).transform(graphs)
        augcl.InfoGraph(**settings).fit(graphs)
        augcl.GRACE(epochs=1, candidates=64, random_state=number, progress=False).fit(nodes)

    model = augcl.GraphCL(epochs=1, random_state=0, progress=False).fit(graphs)
    grows = _grows("trainings", train, times)
    return int(grows | _grows("transforms", lambda number: model.transform(graphs), times))


def _grows(what: str, once: Callable[[int], object], times: int) -> bool:
    """Repeat something; print the peaks of memory, and whether they grow."""
    began, peaks = time.monotonic(), []
    for number in range(times):
        start_watching_memory()
        once(number)
        peaks.append(peak_memory())
        if number % 20 == 9:
            print(f"{number + 1:4} {what}: {peaks[-1] / 2**20:.1f} MB", flush=True)
    gc.collect()
    first, later = max(peaks[:FIRST]), max(peaks[FIRST:], default=0.0)
    print(
        f"{times} {what} in {time.monotonic() - began:.0f} s: peak {first / 2**20:.1f} MB in the "
        f"first {FIRST}, {later / 2**20:.1f} MB after: {100 * (later / first - 1):+.1f} %"
    )
    return later > MOST * first
