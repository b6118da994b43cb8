"""Processor seconds of whole commands: from the shell to the help, to the first epoch, to the end.

Beside each stands what `import torch` alone takes on the same machine at the same time.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.data import data_dir, require
from benchmarks.measure import Row, seconds_text

AUGCL = ["-m", "augcl"]
STOPPED = """
import os
from augcl.training import estimator
plain = estimator.train
def train(*arguments, **options):
    if {epochs}:
        next(plain(*arguments, **options))
    os._exit(0)
estimator.train = train
from augcl.cli.main import main
main()
"""
"""A command that ends where the training begins, or after its first epoch."""

WHOLE = ("--preset", "published", "--hardness", "augcl", "--seeds", "5")
TORCH = ["-c", "import torch"]


def start(full: bool) -> list[Row]:
    """Measure commands three times each (five in full) and keep the shortest."""
    turns = 5 if full else 3
    for name in ("MUTAG", "PROTEINS", "COLLAB"):
        require(name)
    with TemporaryDirectory() as folder:
        out, cache = Path(folder, "run"), Path(folder, "cache")
        epoch, begin = (["-c", STOPPED.format(epochs=count)] for count in (1, 0))

        def train(name: str, *more: str) -> list[str]:
            options = ["--method", "GraphCL", "--jobs", "1", "--overwrite", "--out", str(out)]
            return ["train", name, *options, *more]

        collab = [*begin, *train("COLLAB", "--seeds", "1")]
        torch = min(_processor(TORCH, cache) for _ in range(turns))
        works: list[tuple[str, list[str], float | None, int]] = [
            ("augcl --help", [*AUGCL, "--help"], 0.4, turns),
            ("import augcl", ["-c", "import augcl"], 0.2, turns),
            ("to the end of the first epoch, MUTAG", [*epoch, *train("MUTAG")], 1.8, turns),
            ("to the end of the first epoch, PROTEINS", [*epoch, *train("PROTEINS")], 1.8, turns),
            ("to the first epoch of COLLAB, cold", collab, 6.0, 1),
            ("to the first epoch of COLLAB, warm", collab, 2.5, turns),
            ("train MUTAG, AUGCL, 5 seeds", [*AUGCL, *train("MUTAG", *WHOLE)], None, 1),
        ]
        return [
            _row(what, min(_processor(command, cache) for _ in range(count)), torch, most)
            for what, command, most, count in works
        ]


def _processor(arguments: list[str], cache: Path) -> float:
    """Return the processor seconds of one Python process with these arguments."""
    environment = {**os.environ, "AUGCL_DATA": str(data_dir()), "AUGCL_CACHE": str(cache)}
    environment["OMP_NUM_THREADS"] = "1"
    before = os.times()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=environment)
    after = os.times()
    user = after.children_user - before.children_user
    return user + after.children_system - before.children_system


def _row(what: str, found: float, torch: float, most: float | None) -> Row:
    return Row(
        what=f"{what}: processor time",
        textbook=f"import torch {seconds_text(torch)}",
        ours=seconds_text(found),
        target="" if most is None else f"≤ {most:g} s",
        ok=None if most is None else found <= most,
    )
