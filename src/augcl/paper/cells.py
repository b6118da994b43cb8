"""Cells of tables: one training with one seed, kept in one small file, computed once.

The file's place is a digest of everything that decides its content, so that tables share cells,
and a changed setting is another cell.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, TypeVar

from joblib.externals.loky import ProcessPoolExecutor

from augcl.data.catalogue import known_name
from augcl.files import read_record, remove_temporary, write_json
from augcl.hardness import UndefinedAlphaError
from augcl.runs.run import Spec, one_thread, run
from augcl.training.method import plain_settings
from augcl.training.progress import print_warning, progress_bar

Item = TypeVar("Item")
Result = TypeVar("Result")

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def share(
    attempt: Callable[[Item], Result],
    tasks: Iterable[Item],
    finished: Callable[[Result], None],
    lost: Callable[[Item, str], Result],
    *,
    helpers: int,
) -> None:
    """Attempt all tasks here and in other processes, and tell of each result as it comes.

    Helpers take seconds to start, in which the first tasks are being done here. Whoever is done
    takes the next task, since they differ in cost.

    Parameters
    ----------
    attempt : callable
        A function of a module, from a task to its result.
    finished : callable
        Called with each result, never twice at once.
    lost : callable
        The result of a task whose helper died, and why that was.
    helpers : int
        So many processes of one thread each.
    """
    left, telling, stopped = deque(tasks), threading.Lock(), threading.Event()

    def taken() -> Iterator[Item]:
        with suppress(IndexError):  # none is left
            while True:
                yield left.popleft()

    def tell(result: Result) -> None:
        with telling:
            finished(result)

    def work() -> None:
        for task in taken():
            tell(attempt(task))

    def delegate(pool: ProcessPoolExecutor) -> None:
        for task in taken():
            try:
                result = pool.submit(attempt, task).result()
            except Exception as error:
                if stopped.is_set():
                    return
                tell(lost(task, str(error).split("\n", 1)[0]))
                if isinstance(error, BrokenExecutor):
                    return  # no helper is left; what remains is done here
            else:
                tell(result)

    if not helpers:
        work()
        return
    with _pool(helpers) as pool:
        threads = [threading.Thread(target=delegate, args=(pool,)) for _ in range(helpers)]
        for thread in threads:
            thread.start()
        try:
            work()
            for thread in threads:
                thread.join()
        finally:
            stopped.set()
            left.clear()  # after an interruption nothing new is begun


_early: list[ProcessPoolExecutor] = []


@contextmanager
def early_helpers(count: int) -> Iterator[None]:
    """Helpers for the first `share` in the block: they import what they need from now on.

    That takes them seconds, as it does this process.
    """
    if count < 1:
        yield
        return
    with _new_pool(count) as pool:
        for _ in range(count):
            pool.submit(import_module, "augcl.paper.cells")
        _early.append(pool)
        try:
            yield
        finally:
            _early.clear()


def _pool(count: int) -> AbstractContextManager[ProcessPoolExecutor]:
    return nullcontext(_early.pop()) if _early else _new_pool(count)


@contextmanager
def _new_pool(count: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that end with the block, whatever they are doing."""
    pool = ProcessPoolExecutor(count, env=ONE_THREAD)
    try:
        yield pool
    finally:
        pool.shutdown(kill_workers=True)


FOLDER = "cells"


@dataclass(frozen=True)
class Cell:
    """What is trained and judged; `data` is a hash of data that have no published name."""

    spec: Spec
    seed: int
    data: str | None = None

    @property
    def name(self) -> str:
        """Short, for people: GraphCL+dcl on MUTAG, seed 0."""
        return f"{_label(self.spec)} on {Path(self.spec.dataset).name}, seed {self.seed}"

    @property
    def order(self) -> tuple[Any, ...]:
        """The costliest first."""
        spec = self.spec
        return (spec.hardness == "none", -spec.all_epochs, spec.hardness, self.seed)

    def path(self, out: Path) -> Path:
        label = f"{_label(self.spec)}-{digest({**self.spec.decides(), 'data': self.data})}"
        name = known_name(self.spec.dataset) or Path(self.spec.dataset).name
        dataset = re.sub(r"[^\w.-]+", "_", name)
        return out / FOLDER / dataset / label / f"seed-{self.seed}.json"

    def compute(self, out: Path, data_dir: str | None) -> None:
        """Train and judge on one thread.

        A training of nodes, which may take an hour, goes on where a stopped one was.
        """
        one_thread()
        work = work_folder(self.path(out)) if self.spec.level == "node" else None
        try:
            record = run(
                self.spec, self.seed, data_dir=data_dir, progress=False, folder=work, resume=True
            ).record
        except UndefinedAlphaError as error:  # a finding, and computing it again would not help
            facts = {"spec": asdict(self.spec), "seed": self.seed, "accuracy": None}
            hardness = plain_settings(self.spec.hardness_object())
            record = {**facts, "hardness_settings": hardness, "undefined": str(error)}
        write_json(self.path(out), record)
        clear_work(self.path(out))

    def with_seed(self, seed: int) -> Cell:
        return replace(self, seed=seed)


def work_folder(path: Path) -> Path:
    """Where the training of the cell with that file keeps what it needs to go on."""
    return path.with_suffix("")


def clear_work(path: Path) -> None:
    """Remove the work folder of a finished cell, unless a file of somebody else is in it."""
    work = work_folder(path)
    for folder in (*work.glob("*/"), work):
        remove_temporary(folder)
        for name in ("checkpoint.safetensors", "metrics.jsonl"):
            (folder / name).unlink(missing_ok=True)
        with suppress(OSError):  # not there, or somebody else's file is in it
            folder.rmdir()


def digest(decides: Any) -> str:
    """A short hash of plain JSON values."""
    text = json.dumps(decides, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


def records(path: Path) -> dict[int, dict[str, Any]]:
    """The finished records beside `path`, the file of any seed, by seed."""
    files = path.parent.glob("seed-*.json")
    found = {int(file.stem.removeprefix("seed-")): read_record(file) for file in files}
    return {seed: record for seed, record in sorted(found.items()) if record is not None}


def _label(spec: Spec) -> str:
    hardness = "" if spec.hardness == "none" else f"+{spec.hardness}"
    return f"{spec.method}{hardness}"


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
