"""Damaged inputs: thousands of them, each read in a child process with little memory and time.

    python -m robustness fuzz --inputs 10000 --seed 0
    python -m robustness fuzz --seed 0 --number 4711     # one of them again, with traceback

Every input is a sound one with random damage; number and seed decide it. It must be read, or be
refused with an `InputError` of one line that names it. Anything else is a failure: another error,
a crash, more than 2 GB over the imports, more than 20 seconds (of processor time, unless it only
waits), numbers that are not finite, a
warning of NumPy that reaches the user.
"""

from __future__ import annotations

import argparse
import collections
import faulthandler
import json
import os
import random
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import torch

from augcl.errors import InputError
from robustness.corpus import TARGETS, files_of, quiet_environment
from robustness.mutations import mutated

SPARE = 2 * 2**30
"""Bytes of address space that a child may take over what its parent has."""
SECONDS = 20.0
LONGEST_MESSAGE = 4000
WARM = 3
"""Times that each sound input is used before the first damage, in different ways."""
USED_ON = ("MUTAG", "mine")
"""Data that models are used on: a message may name them instead of the model."""
Outcome = dict[str, str]
Entry = tuple[int, str, str, str, float]


def main(arguments: list[str]) -> int:
    """Run damaged inputs; exit 1 if one of them failed."""
    parser = argparse.ArgumentParser(prog="python -m robustness fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so many")
    parser.add_argument("--jobs", type=int, default=2, help="processes that share the inputs")
    parser.add_argument("--only", default="", help="targets whose names contain this")
    parser.add_argument("--number", type=int, help="repeat one input, in this process")
    parser.add_argument("--out", type=Path, default=Path("fuzz"), help="folder of failures")
    given = parser.parse_args(arguments)
    begin = time.monotonic()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        quiet_environment(folder)
        _make_sound(folder / "sound", given.only)
        if given.number is not None:
            return _repeat(folder, given.seed, given.number, given.only)
        return _run(folder, given, begin)


def _make_sound(folder: Path, only: str) -> None:
    """Write every sound input and use it here once: everything is imported, and nothing fails."""
    for name in _names(only):
        target = TARGETS[name]
        (folder / name).mkdir(parents=True)
        target.make(folder / name)
        ends = []
        for seed in range(WARM):  # different seeds use it in different ways
            work = folder.parent / "warm"
            shutil.copytree(folder / name, work)
            ends.append(judged(name, work / target.given, random.Random(seed)))
            shutil.rmtree(work)
            shutil.rmtree(folder.parent / "cache", ignore_errors=True)
        wrong = [end for end in ends if end["end"] not in ("accepted", "refused")]
        if wrong or all(end["end"] != "accepted" for end in ends):
            raise SystemExit(f"{name}: the sound input is refused or fails: {ends}")


def _names(only: str) -> list[str]:
    found = [name for name in TARGETS if only.lower() in name.lower()]
    if not found:
        raise SystemExit(f"no target contains {only!r}: {', '.join(TARGETS)}")
    return found


def damaged(
    folder: Path, seed: int, number: int, only: str
) -> tuple[str, Path, random.Random, list[str]]:
    """Write input `number` into ``folder/work``; return its target, path, generator and changes."""
    rng = random.Random(f"{seed}-{number}")
    names = _names(only)
    name = rng.choices(names, [TARGETS[n].weight for n in names])[0]
    work = folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(folder / "sound" / name, work)
    changes = []
    if name != "cache":  # its damage comes later
        files = files_of(work)
        for file in rng.sample(files, min(len(files), rng.choice((1, 1, 1, 2)))):
            if rng.random() < 0.02:
                file.unlink()
            else:
                file.write_bytes(mutated(file.read_bytes(), file.name, rng))
            changes.append(str(file.relative_to(work)))
    return name, work / TARGETS[name].given, rng, changes


def judged(name: str, path: Path, rng: random.Random) -> Outcome:
    """Use an input here, and say how it ended."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)
            TARGETS[name].use(path, rng)
    except InputError as error:
        said = str(error)
        if not said.strip() or len(said.splitlines()) > 1 or len(said) > LONGEST_MESSAGE:
            return {"end": "bad message", "at": said[:300], "trace": _place(error)}
        if "not enough memory" in said:  # one line, but small inputs must not need so much
            return {"end": "memory", "at": said[:300], "trace": _place(error)}
        known_as = (str(path.parent), *path.name.split("."), name.partition(" ")[0], *USED_ON)
        if not any(called in said for called in known_as):
            return {"end": "nameless message", "at": said[:300], "trace": _place(error)}
        return {"end": "refused"}
    except BaseException as error:
        at = f"{type(error).__name__} in {_place(error)}: {error}"
        return {"end": "failed", "at": at[:300], "trace": traceback.format_exc()}
    return {"end": "accepted"}


def _place(error: BaseException) -> str:
    """The last line of ours that was running."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if f"{os.sep}augcl{os.sep}" in f.filename]
    return f"{Path(own[-1].filename).name}:{own[-1].name}" if own else "robustness"


def in_child(name: str, path: Path, rng: random.Random, log: Path) -> Outcome:
    """Use an input in a child process with little memory and time."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _become_small(log)
        outcome = judged(name, path, rng)
        os.write(writer, json.dumps(outcome).encode()[:60_000])
        os._exit(0)
    os.close(writer)
    content, end = b"", time.monotonic() + SECONDS
    while True:
        if select.select([reader], [], [], max(0.1, end - time.monotonic()))[0]:
            block = os.read(reader, 1 << 16)
            if not block:
                break
            content += block
            continue
        if _only_starved(child):  # by others on this machine
            continue
        os.kill(child, signal.SIGUSR1)  # where is it?
        time.sleep(0.2)
        os.kill(child, signal.SIGKILL)
        break
    os.close(reader)
    _, status = os.waitpid(child, 0)
    if content:
        found: Outcome = json.loads(content)
        return found
    said = log.read_text(errors="replace")
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    end_of = "time-out" if number == signal.SIGKILL else f"signal {number} ({status})"
    lines = [line.strip() for line in said.splitlines() if "/augcl/" in line]
    return {"end": end_of, "at": lines[0] if lines else "", "trace": said}


def _only_starved(child: int) -> bool:
    """Whether a process is working, but had little processor time so far."""
    fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
    used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return fields[0] in "RD" and used < SECONDS


def _become_small(log: Path) -> None:
    with open("/proc/self/statm") as file:
        taken = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(
        resource.RLIMIT_AS, (taken + SPARE, resource.getrlimit(resource.RLIMIT_AS)[1])
    )
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    handle = os.open(log, os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    faulthandler.enable(handle)
    faulthandler.register(signal.SIGUSR1, handle, all_threads=True)


def _run(folder: Path, given: argparse.Namespace, begin: float) -> int:
    """Let a few processes share the inputs; print what they found."""
    workers = {}
    for part in range(given.jobs):
        if not (child := os.fork()):
            code = 1
            try:
                own = folder / f"part-{part}"
                own.mkdir()
                (own / "sound").symlink_to(folder / "sound")
                quiet_environment(own)
                found = _share(own, given, part, begin)
                (own / "found.json").write_text(json.dumps(found))
                code = 0
            finally:
                os._exit(code)
        workers[part] = child
    states = [os.waitpid(child, 0)[1] for child in workers.values()]
    if any(states):
        raise SystemExit("a process of the fuzzer itself failed")
    parts = [json.loads((folder / f"part-{part}" / "found.json").read_text()) for part in workers]
    return _print([entry for part in parts for entry in part], time.monotonic() - begin)


def _share(folder: Path, given: argparse.Namespace, part: int, begin: float) -> list[Entry]:
    """Use every `jobs`-th input; return number, target, end, key of the failure and seconds."""
    found: list[Entry] = []
    seen = set()
    for number in range(part, given.inputs, given.jobs):
        if time.monotonic() - begin > given.seconds:
            break
        name, path, rng, changes = damaged(folder, given.seed, number, given.only)
        started = time.monotonic()
        kept = folder / "kept"
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(folder / "work", kept)
        shutil.rmtree(folder / "cache", ignore_errors=True)
        outcome = in_child(name, path, rng, folder / "log")
        end, key = outcome["end"], ""
        if end not in ("accepted", "refused"):
            at = outcome["at"].split(": ")[0] if end == "failed" else outcome["trace"][-200:]
            key = f"{end}: {' '.join(at.split())[-120:]}"
            if key not in seen:
                seen.add(key)
                _keep(given.out / f"{given.seed}-{number}", kept, name, changes, outcome, given)
                print(f"{end}: {name}: {outcome['at'][:200]}  (number {number})", flush=True)
        found.append((number, name, end, key, time.monotonic() - started))
        if number % 1000 == 999:
            print(f"{number + 1} inputs, {time.monotonic() - begin:.0f} s", flush=True)
    return found


def _keep(place: Path, work: Path, name: str, changes: list[str], outcome: Any, given: Any) -> None:
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(work, place)
    number = place.name.partition("-")[2]
    only = f" --only '{given.only}'" if given.only else ""
    again = f"python -m robustness fuzz --seed {given.seed} --number {number}{only}"
    (place / "FAILURE.txt").write_text(
        f"{name}: {TARGETS[name].given}, changed: {', '.join(changes)}\nagain: {again}\n"
        f"{outcome['end']}\n{outcome['at']}\n{outcome['trace']}\n"
    )


def _print(found: list[Entry], seconds: float) -> int:
    columns = ("accepted", "refused", "failed")
    counts = collections.Counter(
        (name, end if end in columns else "failed") for _, name, end, _, _ in found
    )
    print(f"{'target':24}" + "".join(f"{column:>10}" for column in columns))
    for name in sorted({name for name, _ in counts}):
        print(f"{name:24}" + "".join(f"{counts[name, column]:>10}" for column in columns))
    failures: dict[str, list[int]] = {}
    for number, _, _, key, _ in sorted(found):
        if key:
            failures.setdefault(key, []).append(number)
    longest, slowest = max(((taken, number) for number, _, _, _, taken in found), default=(0.0, 0))
    print(
        f"{len(found)} inputs in {seconds:.0f} s, slowest {longest:.1f} s (number {slowest}): "
        f"{sum(map(len, failures.values()))} failures, {len(failures)} distinct"
    )
    for key, numbers in failures.items():
        print(f"  {len(numbers):5} × {key} (numbers {numbers[:5]})")
    return 1 if failures else 0


def _repeat(folder: Path, seed: int, number: int, only: str) -> int:
    name, path, rng, changes = damaged(folder, seed, number, only)
    print(f"{name}: {path}, changed: {', '.join(changes)}")
    outcome = judged(name, path, rng)
    print("\n".join(outcome.values()), file=sys.stderr)
    return 0 if outcome["end"] in ("accepted", "refused") else 1
