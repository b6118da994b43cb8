"""Computes the cells that are missing, several at a time, and loses none to a mishap."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from augcl.experiments.cells import clear_work
from augcl.experiments.sharing import share
from augcl.files import remove_temporary
from augcl.training.progress import print_warning, progress_bar

try:
    import fcntl
except ImportError:  # not on Windows: there two processes may compute the same cell
    fcntl = None  # type: ignore[assignment]


class Work(Protocol):
    """A cell of any table."""

    @property
    def name(self) -> str:
        """For people."""

    @property
    def order(self) -> tuple[Any, ...]:
        """The costliest sort first: last, they would leave the other workers idle."""

    def path(self, out: Path) -> Path:
        """Of the file that it becomes."""

    def compute(self, out: Path, data_dir: str | None) -> None:
        """Write that file."""


@dataclass(frozen=True)
class Failure:
    """A cell that could not be computed, and why."""

    cell: Work
    reason: str

    def __str__(self) -> str:
        return f"{self.cell.name}: {self.reason}"


Ended = tuple[Path, Failure | None]


def compute_missing(
    cells: Sequence[Work], out: Path, *, data_dir: str | None, jobs: int
) -> list[Failure]:
    """Compute the cells that have no file yet; returns those that failed.

    Several processes may share the folder: a cell that another one works on is left to it, and
    taken over only if that process ends without a result.
    """
    by_path = {cell.path(out): cell for cell in cells}
    missing = {path: cell for path, cell in by_path.items() if not path.exists()}
    for path in by_path.keys() - missing.keys():  # killed after the result, before this
        _lock_of(path).unlink(missing_ok=True)
        clear_work(path)
    order = sorted(missing, key=lambda path: missing[path].order)
    failed: dict[Path, Failure] = {}
    with progress_bar("cells", len(missing)) as report:
        for wait in (False, True):  # first what nobody works on, then what others left undone
            left = [path for path in order if path not in failed and not path.exists()]
            workers = min(jobs, len(left))
            if not workers:
                break
            report(len(missing) - len(left) - len(failed), _note(workers, failed))

            def finished(ended: Ended, workers: int = workers) -> None:
                path, failure = ended
                if failure is not None:
                    failed[path] = failure
                done = sum(path.exists() for path in missing)
                report(done, _note(min(workers, len(missing) - done - len(failed)), failed))

            tasks = [Task(missing[path], out, data_dir, wait) for path in left]
            share(_attempt, tasks, finished, Task.lost, helpers=workers - 1)
    return list(failed.values())


@dataclass(frozen=True)
class Task:
    """A cell to compute; if `wait`, also after another process that works on it."""

    cell: Work
    out: Path
    data_dir: str | None
    wait: bool

    @property
    def path(self) -> Path:
        return self.cell.path(self.out)

    def lost(self, reason: str) -> Ended:
        return self.path, Failure(self.cell, f"its process ended ({reason})")


def _attempt(task: Task) -> Ended:
    warnings.showwarning = print_warning
    path = task.path
    try:
        with _claim(path, wait=task.wait) as mine:
            if mine and not path.exists():
                remove_temporary(path.parent, path.name)  # others write theirs there
                task.cell.compute(task.out, task.data_dir)
    except Exception as error:
        return path, Failure(task.cell, f"{type(error).__name__}: {error}")
    return path, None


@contextmanager
def _claim(path: Path, *, wait: bool) -> Iterator[bool]:
    """Whether the cell is ours to compute. The system ends the claim of a process that dies."""
    if fcntl is None:
        yield True
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = _lock_of(path)
    handle = _locked(lock, wait)
    if handle is None:
        yield False
        return
    try:
        yield True
    finally:
        # Whoever waits for this lock finds the result, if there is one, and computes nothing.
        lock.unlink(missing_ok=True)
        os.close(handle)


def _lock_of(path: Path) -> Path:
    return path.with_suffix(".lock")


def _locked(lock: Path, wait: bool) -> int | None:
    """The handle of the lock file, ours alone; None if another process has it."""
    while True:
        handle = os.open(lock, os.O_CREAT | os.O_WRONLY, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            if os.path.samestat(os.fstat(handle), lock.stat()):
                return handle
        except BlockingIOError:
            os.close(handle)
            return None
        except FileNotFoundError:
            pass
        os.close(handle)  # removed by whoever had it: the lock is what lies there now


def _note(running: int, failed: dict[Path, Failure]) -> str:
    return f"{running} running, {len(failed)} failed"
