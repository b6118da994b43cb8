"""Measure, print one table, exit 1 if a target is missed: ``python -m benchmarks [NAME …]``."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable

import torch
from rich.console import Console

from benchmarks.attacks import attacks
from benchmarks.complexity import complexity
from benchmarks.evaluation import evaluation, kernel_evaluation
from benchmarks.floors import default_time
from benchmarks.hardness import partition, uncertainty
from benchmarks.large import large, onset
from benchmarks.measure import NoData, Row, table
from benchmarks.node_evaluation import node_evaluation
from benchmarks.nodes import node_memory, node_step, node_weights
from benchmarks.reproduction import fan_out, hardness_cost
from benchmarks.roofline import roofline
from benchmarks.scaling import scaling
from benchmarks.start import start
from benchmarks.training import growth, memory, training
from benchmarks.views import views
from benchmarks.walks import walks

ITEMS: dict[str, Callable[[bool], list[Row]]] = {
    "partition": partition,
    "uncertainty": uncertainty,
    "complexity": complexity,
    "views": views,
    "training": training,
    "evaluation": evaluation,
    "kernel-evaluation": kernel_evaluation,
    "node-step": node_step,
    "node-weights": node_weights,
    "node-memory": node_memory,
    "large": large,
    "onset": onset,
    "node-evaluation": node_evaluation,
    "fan-out": fan_out,
    "hardness-cost": hardness_cost,
    "walks": walks,
    "attacks": attacks,
    "growth": growth,
    "memory": memory,
    "scaling": scaling,
    "default-time": default_time,
    "roofline": roofline,
    "start": start,
}


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Compare our speed with a textbook implementation, measured in the same run.",
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"benchmarks to run; default: all ({', '.join(ITEMS)})",
    )
    parser.add_argument(
        "--full", action="store_true", help="run everything in full, not parts that are scaled up"
    )
    parser.add_argument(
        "--threads",
        type=int,
        default=os.cpu_count(),
        help="threads of torch on both sides; default: all cores",
    )
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    unknown = set(arguments.names) - set(ITEMS)
    if unknown:
        parser.error(
            f"unknown benchmark {', '.join(sorted(unknown))}: choose from {', '.join(ITEMS)}"
        )
    console, rows = Console(width=None if sys.stdout.isatty() else 120), []
    for name in arguments.names or ITEMS:
        with console.status(name), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the uncertainty model cannot learn in two epochs
            try:
                rows += ITEMS[name](arguments.full)
            except NoData as missing:
                rows.append(Row(f"{name}: no data ({missing})"))
    console.print(table(rows))
    return int(any(row.ok is False for row in rows))


if __name__ == "__main__":
    sys.exit(main())
