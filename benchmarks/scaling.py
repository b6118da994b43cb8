"""Time GraphCL in one process against two that share every batch.

``python -m benchmarks.scaling NAME EPOCHS FOLDER`` is one of the processes.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

import augcl
from augcl.ops import processes
from augcl.training.launch import environments, run_together
from benchmarks.data import graphs, require
from benchmarks.measure import Row, faster

TURNS, EPOCHS = 2, 4


def scaling(full: bool) -> list[Row]:
    """Compare the epochs of one and of two processes with one thread each, in turns."""
    rows = []
    for name in ("DD", "COLLAB"):
        require(name)
        rows += _rows(name, 3 * TURNS if full else TURNS)
    return rows


def _rows(name: str, turns: int) -> list[Row]:
    found: dict[int, list[list[dict[str, Any]]]] = {1: [], 2: []}
    for _ in range(turns):
        for world in found:
            found[world].append(_turn(name, world))
    wall = [_median(found[world], lambda ranks: max(r["wall"] for r in ranks)) for world in found]
    cpu = [_median(found[world], lambda ranks: max(r["cpu"] for r in ranks)) for world in found]
    busy = os.getloadavg()[0] > (os.cpu_count() or 1)
    note = "the machine is busy with other work: no verdict" if busy else ""
    what = f"an epoch of GraphCL on {name}, 2 processes against 1"
    sent = found[2][-1][0]["traffic"]
    gathered = ", ".join(f"{part} {size / 1e3:.0f} kB" for part, size in sent.items())
    return [
        faster(what, *wall, None if busy or name != "DD" else 1.5, note=note),
        faster(f"{what}, processor time of the slower process", *cpu, None),
        Row(f"handed over by a process in a step, {name}", ours=gathered),
    ]


def _median(turns: list[list[dict[str, Any]]], measure: Any) -> float:
    return statistics.median(measure(ranks) for ranks in turns)


def _turn(name: str, world: int) -> list[dict[str, Any]]:
    """Return what each process of a world has measured."""
    environment = environments(world, 1) or [{**os.environ}]
    for each in environment:
        each["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.scaling", name, str(EPOCHS), folder]
        if run_together(command, environment) != 0:
            raise RuntimeError(f"{name} with {world} processes has failed")
        return [json.loads(file.read_text()) for file in sorted(Path(folder).iterdir())]


@dataclass
class Clock:
    """Measure every epoch but the first."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def on_epoch_begin(self, _: Any, metrics: dict[str, Any]) -> None:
        if metrics["epoch"] == 2:
            processes.traffic.clear()
        self._begun = time.perf_counter(), time.process_time()

    def on_epoch_end(self, _: Any, metrics: dict[str, Any]) -> None:
        if metrics["epoch"] > 1:
            self.wall.append(time.perf_counter() - self._begun[0])
            self.cpu.append(time.process_time() - self._begun[1])


def _measure(name: str, epochs: int, folder: Path) -> None:
    torch.set_num_threads(1)
    many, clock = graphs(name), Clock()
    if len(many) > 1280:
        some = torch.randperm(len(many), generator=torch.Generator().manual_seed(0))
        many = many.select(some[:1280])
    augmentation = "random2" if many.num_features > 1 else "random3"
    model = augcl.GraphCL(
        epochs=epochs, augmentation=augmentation, callbacks=[clock], progress=False
    )
    model.fit(many)
    steps = (epochs - 1) * -(-len(many) // 128)
    record = {
        "wall": statistics.median(clock.wall),
        "cpu": statistics.median(clock.cpu),
        "traffic": {part: size / steps for part, size in processes.traffic.items()},
    }
    (folder / f"{processes.rank()}.json").write_text(json.dumps(record))


if __name__ == "__main__":
    _measure(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
