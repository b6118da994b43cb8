"""Cells of tables: a cell is one training with one seed, computed once and stored in a file.

The name of the file contains a digest of all settings that decide its content (see `records`), so
that tables share cells and a changed setting is another cell. `compute_missing` computes the
missing cells, several in parallel; other processes may share the folder.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from filelock import FileLock, Timeout

from augcl.data.catalogue import known_name
from augcl.files import remove_temporary, write_json
from augcl.hardness import UndefinedAlphaError
from augcl.paper.records import cell_file, is_finished
from augcl.runs.run import Spec, one_thread, run
from augcl.runs.workers import Local, Workers
from augcl.training.method import plain_settings
from augcl.training.progress import progress_bar


class CellLike(Protocol):
    """The interface of a cell of any table."""

    @property
    def name(self) -> str:
        """Return a short name for messages."""

    @property
    def order(self) -> tuple[Any, ...]:
        """Return a sort key: expensive cells come first, so that no worker is idle at the end."""

    def path(self, out: Path) -> Path:
        """Return the file that `compute` writes."""

    def compute(self, out: Path, data_dir: str | None) -> None:
        """Compute the cell and write its file."""


@dataclass(frozen=True)
class Cell:
    """A training and its evaluation; `data` is a hash of the data if they have no public name."""

    spec: Spec
    seed: int
    data: str | None = None

    @property
    def name(self) -> str:
        """Return a name such as "GraphCL+dcl on MUTAG, seed 0"."""
        return f"{_label(self.spec)} on {Path(self.spec.dataset).name}, seed {self.seed}"

    @property
    def order(self) -> tuple[Any, ...]:
        spec = self.spec
        return (spec.hardness == "none", -spec.all_epochs, spec.hardness, self.seed)

    def path(self, out: Path) -> Path:
        key = f"{_label(self.spec)}-{digest({**self.spec.decides(), 'data': self.data})}"
        name = known_name(self.spec.dataset) or Path(self.spec.dataset).name
        return cell_file(out, re.sub(r"[^\w.-]+", "_", name), key, self.seed)

    def compute(self, out: Path, data_dir: str | None) -> None:
        """Train and evaluate on one thread.

        A stopped training of nodes, which may take an hour, continues from its checkpoint.
        """
        one_thread()
        work = work_folder(self.path(out)) if self.spec.level == "node" else None
        try:
            record = run(
                self.spec,
                self.seed,
                data_dir=data_dir,
                progress=False,
                folder=work,
                resume=True,
                also=True,
            ).record
        except UndefinedAlphaError as error:  # store it as the result: a second try would fail too
            facts = {"spec": asdict(self.spec), "seed": self.seed, "accuracy": None}
            hardness = plain_settings(self.spec.hardness_object())
            record = {**facts, "hardness_settings": hardness, "undefined": str(error)}
        write_json(self.path(out), record)
        clear_work(self.path(out))

    def with_seed(self, seed: int) -> Cell:
        return replace(self, seed=seed)


def _label(spec: Spec) -> str:
    hardness = "" if spec.hardness == "none" else f"+{spec.hardness}"
    return f"{spec.method}{hardness}"


def digest(decides: Any) -> str:
    """Return a short hash of plain JSON values."""
    text = json.dumps(decides, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


def work_folder(path: Path) -> Path:
    """Return the folder for the checkpoint of the cell with the file `path`."""
    return path.with_suffix("")


def clear_work(path: Path) -> None:
    """Remove the work folder of a finished cell, unless it contains files of others."""
    work = work_folder(path)
    for folder in (*work.glob("*/"), work):
        remove_temporary(folder)
        for name in ("checkpoint.safetensors", "metrics.jsonl"):
            (folder / name).unlink(missing_ok=True)
        with suppress(OSError):  # it does not exist, or it contains files of others
            folder.rmdir()


@dataclass(frozen=True)
class Failure:
    """A cell that could not be computed, and the reason."""

    cell: CellLike
    reason: str

    def __str__(self) -> str:
        return f"{self.cell.name}: {self.reason}"


def compute_missing(
    cells: Sequence[CellLike],
    out: Path,
    *,
    data_dir: str | None,
    jobs: int | Workers,
    progress: bool = True,
) -> list[Failure]:
    """Compute the cells that are not finished yet; return the failures.

    `jobs` is a number of processes of this machine, or the workers of a cluster.
    Several processes may share the folder: a cell that another process is computing is skipped, and
    computed here only if that process ends without a result.
    """
    workers = Local(jobs) if isinstance(jobs, int) else jobs
    by_path = {cell.path(out): cell for cell in cells}
    missing = {path: cell for path, cell in by_path.items() if not is_finished(path, out)}
    for path in by_path.keys() - missing.keys():  # a process may have died before it cleaned up
        _lock_of(path).unlink(missing_ok=True)
        clear_work(path)
    order = sorted(missing, key=lambda path: missing[path].order)
    failed: dict[Path, Failure] = {}
    with progress_bar("cells", len(missing), show=progress) as report:
        for wait in (False, True):  # first the free cells, then those that others did not finish
            left = [path for path in order if path not in failed and not path.exists()]
            if not left:
                break
            report(len(missing) - len(left) - len(failed), _note(workers, len(left), failed))
            attempts = [Attempt(missing[path], out, data_dir, wait) for path in left]
            with closing(workers.outcomes(attempts)) as outcomes:
                for task, trouble in outcomes:
                    assert isinstance(task, Attempt)
                    if trouble is not None:
                        failed[task.path] = Failure(task.cell, trouble.reason)
                    done = sum(path.exists() for path in missing)
                    report(done, _note(workers, len(missing) - done - len(failed), failed))
    return list(failed.values())


def _note(workers: Workers, left: int, failed: dict[Path, Failure]) -> str:
    return f"{min(workers.count, left)} running, {len(failed)} failed"


@dataclass(frozen=True)
class Attempt:
    """An attempt to compute a cell: a `Task` of `Workers`."""

    cell: CellLike
    out: Path
    data_dir: str | None
    wait: bool

    @property
    def path(self) -> Path:
        return self.cell.path(self.out)

    @property
    def dataset(self) -> str | None:
        """Return the data set of the cell; cells of toys and of attacks draw their own data."""
        found: str | None = getattr(getattr(self.cell, "spec", self.cell), "dataset", None)
        return found

    @property
    def finished(self) -> bool:
        return self.path.exists()

    def begun(self) -> list[Path]:
        return [file for file in work_folder(self.path).rglob("*") if file.is_file()]

    @contextmanager
    def claim(self, *, wait: bool) -> Iterator[bool]:
        """Yield whether to compute the cell: no other process is computing it or has finished."""
        with _claim(self.path, wait=wait) as mine:
            todo = mine and not self.finished
            if todo:
                remove_temporary(self.path.parent, self.path.name)  # others write theirs there
            yield todo

    def compute(self, out: Path, data_dir: str | None) -> None:
        self.cell.compute(out, data_dir)


@contextmanager
def _claim(path: Path, *, wait: bool) -> Iterator[bool]:
    """Yield whether this process may compute the cell; a lock of a dead process is released."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(_lock_of(path), blocking=wait)
    try:
        lock.acquire()
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        # A process that waits for this lock then finds the result and computes nothing.
        with suppress(OSError):  # Windows does not remove a lock file that a process has open
            Path(lock.lock_file).unlink(missing_ok=True)
        lock.release()


def _lock_of(path: Path) -> Path:
    return path.with_suffix(".lock")
