"""Kills at random moments and full disks; afterwards the same command must give the same bits.

    python -m robustness chaos --kills 50 --seed 0
    python -m robustness chaos --seed 0 --number 17      # one of the kills again
    python -m robustness chaos --kills 0                 # full disks only

Commands run in forks of this process, in sessions of their own, and are killed with SIGKILL,
SIGTERM or Ctrl-C: all their processes, the first alone, or one worker alone. They must end with one
line and the right exit code, leave no process behind, and continue to what an undisturbed command
wrote. Full disks are a small file system in memory that grows after each failure (as root; else a
limit of the size of a file that grows).
"""

from __future__ import annotations

import argparse
import atexit
import hashlib
import importlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from augcl.cli import main as command_line
from augcl.training.checkpoint import Snapshot
from augcl.training.estimator import Estimator
from augcl.training.loop import make_fabric
from robustness.corpus import quiet_environment

SECONDS = 600.0
"""A command that takes longer hangs."""
HARMLESS = re.compile(r"no run to resume|: \d+ of \d+, ")
"""What a command may say before it is stopped: a new run, and how far it is, every 30 s."""
STOPPED = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -signal.SIGKILL}
TIMES = ("seconds", "memory", "versions", "use", "time", "recommended", "expected")
"""Parts of names of what differs between equal runs; the cheapest row is chosen by seconds."""
TRAIN = ("train", "mine", "--epochs", "8", "--hardness", "augcl", "--no-evaluate", "--out", "out")
COMPARE = ("compare", "mine", "--budget", "none", "--methods")
REPRODUCE = ("reproduce", "graph-classification", "--datasets", "MUTAG", "--methods")
SHORT = ("--epochs", "2", "--seeds", "2", "--jobs", "2", "--out", "out")
COMMANDS: dict[str, tuple[str, ...]] = {
    "train --jobs 1": (*TRAIN, "--seeds", "2", "--jobs", "1", "--resume"),
    "train --jobs 2": (*TRAIN, "--seeds", "2", "--jobs", "2", "--resume"),
    "compare": (*COMPARE, "WLFeatures,untrained,GraphCL", *SHORT),
    "reproduce": (*REPRODUCE, "untrained,GraphCL", *SHORT),
    "report": ("report", "out"),
    "embed": ("embed", "out", "mine", "--out", "out/z.npz"),
}
USED = ("augcl.runs.page", "augcl.runs.recommend", "augcl.paper.reproductions", "sklearn.svm")
SHARES = (14, 12, 7, 7, 5, 5)


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it said."""

    code: int
    output: str
    errors: str
    seconds: float


def main(arguments: list[str]) -> int:
    """Kill commands and fill disks; exit 1 if something was lost or said wrongly."""
    parser = argparse.ArgumentParser(prog="python -m robustness chaos", description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--number", type=int, help="one kill")
    parser.add_argument("--first", type=int, default=0, help="leave out the kills before")
    parser.add_argument("--no-disk", action="store_true", help="kills only")
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    _import_all()
    folder = Path(tempfile.mkdtemp()).resolve()  # TemporaryDirectory would end with each fork
    try:
        quiet_environment(folder)
        _write_graphs(folder / "mine")
        numbers = range(given.first, given.kills) if given.number is None else [given.number]
        failures = _kill_all(folder, given.seed, numbers)
        if given.number is None and not given.no_disk:
            for steps in FILLED:
                failures += _fill_disk(folder, steps)
    finally:
        shutil.rmtree(folder)
    for failure in failures:
        print(failure)
    return 1 if failures else 0


def _import_all() -> None:
    """Import what the commands use, so that forks begin at once; nothing is computed here."""
    for name in USED:
        importlib.import_module(name)
    make_fabric("cpu")
    Estimator.checkpoint_seconds = 0.0  # trainings here are shorter than the time between two


def _write_graphs(folder: Path, count: int = 12) -> None:
    """Write `count` rings and as many stars, of several sizes, as CSV files."""
    edges, labels = ["graph,source,target"], ["graph,label"]
    for number in range(2 * count):
        ring, size = number % 2 == 0, 5 + number % 7
        labels.append(f"g{number},{'ring' if ring else 'star'}")
        edges += [f"g{number},{node - 1 if ring else 0},{node}" for node in range(1, size)]
        if ring:
            edges.append(f"g{number},0,{size - 1}")
    folder.mkdir()
    (folder / "edges.csv").write_text("\n".join(edges))
    (folder / "graphs.csv").write_text("\n".join(labels))


# Commands in forks


def _start(command: Sequence[str], work: Path, most: int | None = None) -> int:
    """Start a command in the folder `work`; with `most`, no file may have more bytes."""
    sys.stdout.flush()
    if pid := os.fork():
        return pid
    code = 1
    try:
        os.setsid()
        os.chdir(work)
        for number, name in ((1, "stdout"), (2, "stderr")):
            file = os.open(work.parent / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(file, number)
        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
        if most is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        sys.argv = ["augcl", *command]
        command_line.main()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 0
    except BaseException:
        traceback.print_exc()
    finally:
        for late in (signal.SIGINT, signal.SIGTERM):  # the command has ended
            signal.signal(late, signal.SIG_IGN)
        threading._shutdown()  # type: ignore[attr-defined]  # as at the end of a program
        atexit._run_exitfuncs()
        sys.stderr.flush()
        os._exit(code)


def _finish(pid: int, work: Path, began: float) -> Ended:
    """Wait for a command and all its processes."""
    while (found := os.waitpid(pid, os.WNOHANG))[0] == 0:
        if time.monotonic() - began > SECONDS:
            os.killpg(pid, signal.SIGKILL)
        time.sleep(0.01)
    texts = [(work.parent / name).read_text(errors="replace") for name in ("stdout", "stderr")]
    code = os.waitstatus_to_exitcode(found[1])
    return Ended(code, texts[0], texts[1], time.monotonic() - began)


def _run(command: Sequence[str], work: Path, most: int | None = None) -> Ended:
    return _finish(_start(command, work, most), work, time.monotonic())


def _session(pid: int) -> list[int]:
    """Return the living processes that a command has started."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, fields = stat.read_text().rpartition(")")
        except OSError:  # ended meanwhile
            continue
        parts = fields.split()
        if int(parts[3]) == pid and parts[0] != "Z":
            found.append(int(name.split()[0]))
    return [process for process in found if process != pid]


def _workers(pid: int) -> list[int]:
    found = []
    for process in _session(pid):
        try:
            command = Path(f"/proc/{process}/cmdline").read_bytes()
        except OSError:
            continue
        if b"popen_loky" in command:
            found.append(process)
    return sorted(found)


# Kills


def _kill_all(folder: Path, seed: int, numbers: Sequence[int]) -> list[str]:
    calm: dict[str, tuple[float, dict[str, Any]]] = {}
    counts: Counter[tuple[str, str]] = Counter()
    failures = []
    began = time.monotonic()
    for number in numbers:
        rng = random.Random(f"{seed}-{number}")
        name = rng.choices(list(COMMANDS), SHARES)[0]
        if name not in calm:
            calm[name] = _undisturbed(folder, name)
        kind, wrong = _one_kill(folder, name, rng, *calm[name])
        counts[name, kind] += 1
        print(f"{number:3} {name:16} {kind:18} {'; '.join(wrong) or 'ok'}", flush=True)
        if wrong:
            again = f"python -m robustness chaos --seed {seed} --number {number}"
            failures.append(f"{name}, {kind}: {'; '.join(wrong)}\n    {again}")
    for (name, kind), count in sorted(counts.items()):
        print(f"{count:3} {name}: {kind}")
    print(
        f"{len(numbers)} kills in {time.monotonic() - began:.0f} s: the bits of an undisturbed run "
        f"after {len(numbers) - len(failures)} of {len(numbers)}"
    )
    return failures


def _prepared(folder: Path, name: str) -> Path:
    """Return a fresh folder in which a command can run."""
    work = folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    shutil.copytree(folder / "mine", work / "mine")
    if name in ("report", "embed"):
        if not (folder / "trained").exists():
            ended = _run(COMMANDS["train --jobs 1"], work)
            assert ended.code == 0, ended
            (work / "out").rename(folder / "trained")
        shutil.copytree(folder / "trained", work / "out")
    return work


def _undisturbed(folder: Path, name: str) -> tuple[float, dict[str, Any]]:
    work = _prepared(folder, name)
    ended = _run(COMMANDS[name], work)
    assert ended.code == 0, (name, ended)
    return ended.seconds, contents(work / "out")


def _one_kill(
    folder: Path, name: str, rng: random.Random, seconds: float, expected: dict[str, Any]
) -> tuple[str, list[str]]:
    """Kill a command, see how it ends, continue it; return the kind of kill and what is wrong."""
    number = rng.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGINT))
    whom = rng.choice(("all", "first", "worker") if "--jobs 2" in name else ("all", "first"))
    whom = rng.choice(("all", "first", "worker")) if name in ("compare", "reproduce") else whom
    moment = rng.uniform(0.02, 0.98) * seconds
    if whom == "worker":
        number = signal.SIGKILL
    kind = f"{number.name} to {whom}"
    for _ in range(8):
        work = _prepared(folder, name)
        began = time.monotonic()
        pid = _start(COMMANDS[name], work)
        time.sleep(moment)
        while whom == "worker" and not _workers(pid) and _alive(pid):
            time.sleep(0.005)
        if _alive(pid):
            break
        _finish(pid, work, began)  # too late
        moment *= 0.6
    else:
        return kind, ["it always ended before"]
    if whom == "worker":
        for worker in _workers(pid)[:1]:
            os.kill(worker, number)
    elif whom == "all":
        os.killpg(pid, number)
    else:
        os.kill(pid, number)
    ended = _finish(pid, work, began)
    wrong = _said_wrong(ended, number, whom)
    deadline = time.monotonic() + 30
    while (left := _session(pid)) and time.monotonic() < deadline:
        time.sleep(0.05)
    if left:
        wrong.append(f"{len(left)} processes are left")
        os.killpg(pid, signal.SIGKILL)
    again = _run(COMMANDS[name], work)
    if again.code != 0:
        wrong.append(f"continued: exit {again.code}, {again.errors[-300:]!r}")
    else:
        wrong += differences(expected, contents(work / "out"))
    return kind, wrong


def _alive(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


def _said_wrong(ended: Ended, number: signal.Signals, whom: str) -> list[str]:
    """Return what a killed command should not have said or returned."""
    lines = [line for line in ended.errors.splitlines() if not HARMLESS.search(line)]
    if whom == "worker":  # the work of the other is kept, or the task is done again
        fine = ended.code == 0 or (
            ended.code in (1, 2) and "augcl: " in ended.errors and "Traceback" not in ended.errors
        )
        return [] if fine else [f"exit {ended.code}, {ended.errors[-300:]!r}"]
    if ended.code == 0:  # it had just ended
        return []
    if ended.code != STOPPED[number]:
        return [f"exit {ended.code} after {number.name}, {ended.errors[-300:]!r}"]
    if number == signal.SIGKILL:
        return [f"said {lines}"] if lines else []
    stopped = [line for line in lines if line.startswith("augcl: stopped")]
    return [] if len(lines) == len(stopped) == 1 else [f"said {lines}"]


# What a command wrote


def contents(folder: Path) -> dict[str, Any]:
    """Return all that a command wrote, but times and memory."""
    found = {}
    for file in sorted(folder.rglob("*")):
        if file.is_file() and file.name != ".lock":
            found[str(file.relative_to(folder))] = _content(file)
    return found


def _content(file: Path) -> Any:
    if file.suffix == ".npz":
        with np.load(file) as arrays:
            return {name: _digest(arrays[name]) for name in arrays.files}
    if file.suffix == ".safetensors":
        return {k: _digest(v.numpy()) for k, v in Snapshot.read(file).tensors.items()}
    text = file.read_text()
    if file.suffix == ".json":
        return _timeless(json.loads(text))
    if file.suffix == ".jsonl":
        return [_timeless(json.loads(line)) for line in text.splitlines()]
    return "complete" if text.rstrip().endswith(("</html>", "}", "|", ".", "`")) else text[-80:]


def _digest(array: np.ndarray) -> str:
    return f"{array.dtype}{array.shape}{hashlib.sha256(array.tobytes()).hexdigest()[:12]}"


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _timeless(v) for k, v in value.items() if not any(part in k for part in TIMES)}
    return [_timeless(part) for part in value] if isinstance(value, list) else value


def differences(expected: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Name the files that differ."""
    names = sorted(expected.keys() | found.keys())
    return [f"{name} differs" for name in names if expected.get(name, 0) != found.get(name, 0)]


# Full disks


ALONE = ("--epochs", "1", "--seeds", "1", "--jobs", "1", "--out", "out")
FILLED: tuple[dict[str, tuple[str, ...]], ...] = (
    {name: COMMANDS[name] for name in ("train --jobs 1", "report", "embed")},
    {"compare": (*COMPARE, "untrained,GraphCL", *ALONE)},
    {"reproduce": (*REPRODUCE, "untrained,GraphCL", *ALONE)},
)
"""Commands that share a disk which fills up: the later ones read what the first wrote."""


def _fill_disk(folder: Path, steps: dict[str, tuple[str, ...]]) -> list[str]:
    """Run commands on a disk that is full, then a little larger, until they end."""
    first = next(iter(steps))
    expected_work = _prepared(folder, first)
    for command in steps.values():
        assert _run(command, expected_work).code == 0
    expected = contents(expected_work / "out")
    work = _prepared(folder, first)
    disk = work / "out"
    disk.mkdir()
    size = 4096
    mounted = _mount(disk, size)
    print(
        f"{', '.join(steps)}, disks that fill up: "
        f"{'a mounted one' if mounted else 'a limit of the size of a file'}",
        flush=True,
    )
    failures, full = [], 0
    try:
        for name, command in steps.items():
            while True:
                ended = _run(command, work, None if mounted else size)
                if ended.code == 0:
                    break
                full += 1
                (*_, line) = ended.errors.splitlines() or [""]
                if ended.code != 2 or "free some space" not in line or "Trace" in ended.errors:
                    failures.append(f"{name}, disk of {size} bytes: {ended}")
                if size > 1 << 28:
                    return [*failures, f"{name} fails with {size} bytes: {ended}"]
                size += max(4096, size // 8 // 4096 * 4096)
                if mounted:
                    _mount(disk, size, again=True)
        wrong = differences(expected, contents(disk))
    finally:
        if mounted:
            subprocess.run(["umount", disk], check=True)
    failures += [f"after full disks: {text}" for text in wrong]
    print(f"{full} full disks, up to {size} bytes: {len(failures)} failures", flush=True)
    return failures


def _mount(disk: Path, size: int, again: bool = False) -> bool:
    options = f"size={size}" + (",remount" if again else "")
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(disk)]
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False
