"""Where trainings run: in processes of this machine (joblib) or on a Dask cluster; one interface.

A `Task` writes files below a folder. `Workers.outcomes` runs tasks and yields each as soon as it
has ended; its files are then in the folder of the caller, wherever it ran.
"""

from __future__ import annotations

import os
import re
import signal
import traceback
import warnings
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from joblib import Parallel, delayed

from augcl.errors import InputError, need
from augcl.training.progress import print_warning
from augcl.training.threads import deaf_workers, end_with

LOCAL = re.compile(r"local:([1-9]\d*)")
"""A cluster of so many processes of this machine."""


class Task(Protocol):
    """A training: a cell of a table or a seed of a run."""

    @property
    def out(self) -> Path:
        """Return the folder below which it writes."""

    @property
    def data_dir(self) -> str | None:
        """Return the folder in which data sets are searched first."""

    @property
    def dataset(self) -> str | None:
        """Return the name or path of the data that it loads; None if it loads none."""

    @property
    def wait(self) -> bool:
        """Return whether to wait for another process that is computing it."""

    @property
    def finished(self) -> bool:
        """Return whether its result exists."""

    def begun(self) -> list[Path]:
        """Return the files of an earlier attempt from which it continues."""

    def claim(self, *, wait: bool) -> AbstractContextManager[bool]:
        """Yield whether the caller must compute it: nobody else does, nobody has."""

    def compute(self, out: Path, data_dir: str | None) -> None:
        """Compute it and write its files below `out`."""


@dataclass(frozen=True)
class Trouble:
    """The reason why a task has no result; `trace` is empty if its process ended."""

    reason: str
    trace: str = ""
    cause: Exception | None = None

    @classmethod
    def of(cls, error: Exception) -> Trouble:
        """Describe an error; keep it if it can travel between processes for sure."""
        known = isinstance(error, InputError) or type(error).__module__ == "builtins"
        trace = "".join(traceback.format_exception(error))
        return cls(f"{type(error).__name__}: {error}", trace, error if known else None)

    def error(self) -> Exception:
        """Return an error to raise.

        >>> Trouble.of(InputError("my.zip does not exist")).error()
        InputError('my.zip does not exist')
        """
        return self.cause or RuntimeError(self.trace or self.reason)


Ended = tuple[Task, Trouble | None]


class Workers(Protocol):
    """Processes that run tasks, one task at a time each."""

    @property
    def count(self) -> int:
        """Return how many tasks run at the same time, at least 1."""

    def outcomes(self, tasks: Sequence[Task]) -> Generator[Ended, None, None]:
        """Run the tasks; yield each with its trouble, or None, as soon as it has ended."""


@contextmanager
def open_workers(cluster: str | None, jobs: int) -> Iterator[Workers]:
    """Yield `jobs` processes of this machine, or the workers of a cluster.

    Parameters
    ----------
    cluster : str or None
        ``tcp://host:8786`` (a Dask scheduler), the path of a scheduler file, or ``local:4``: a
        cluster of four processes here.
    jobs : int
        Number of processes without a cluster.

    Examples
    --------
    >>> with open_workers(None, jobs=2) as workers:
    ...     workers
    Local(count=2)
    """
    if cluster is None:
        yield Local(jobs)
        return
    check_cluster(cluster)
    from augcl.runs.cluster import connected

    with connected(cluster) as workers:
        yield workers


def check_cluster(cluster: str | None) -> None:
    """Raise `InputError` if this is no cluster, or if Dask is not installed."""
    if cluster is None:
        return
    need("distributed", "--cluster")
    if "://" not in cluster and not LOCAL.fullmatch(cluster) and not Path(cluster).is_file():
        raise InputError(
            f"--cluster {cluster} is no cluster: give the address of a Dask scheduler, such as "
            "tcp://host:8786, a scheduler file that exists, or local:4 for four processes here"
        )


@dataclass(frozen=True)
class Local:
    """Processes of this machine; one alone is this process.

    If a worker dies, joblib ends the whole pool. Tasks that were running are then repeated one by
    one, so that only the task that kills its worker fails; without `again`, they fail at once.
    """

    count: int
    again: bool = True

    def __repr__(self) -> str:
        return f"Local(count={self.count})"

    def outcomes(self, tasks: Sequence[Task]) -> Generator[Ended, None, None]:
        left = list(tasks)
        while left:
            begun: list[Task] = []
            ended: set[int] = set()
            try:
                with closing(_computed(left, begun, min(self.count, len(left)))) as outcomes:
                    for number, trouble in outcomes:
                        ended.add(number)
                        yield left[number], trouble
            except BrokenExecutor as error:
                for number, task in enumerate(begun):
                    if number not in ended:
                        yield task, _computed_alone(task) if self.again else _killed(error)
            left = left[len(begun) :]


def _computed(
    tasks: Sequence[Task], begun: list[Task], workers: int
) -> Generator[tuple[int, Trouble | None], None, None]:
    """Yield the numbers of tasks that ended; if a worker dies, raise `BrokenExecutor`.

    `begun` collects the tasks that were started.
    """

    def begin() -> Iterator[Any]:
        for number, task in enumerate(tasks):
            begun.append(task)
            yield delayed(_attempt)(number, task, os.getpid())

    parallel = Parallel(
        workers, return_as="generator_unordered", pre_dispatch="n_jobs", batch_size=1
    )
    with deaf_workers(signal.SIGINT, signal.SIGTERM):  # started here
        results = parallel(begin())
    try:
        for ended in results:  # noqa: UP028 -- `yield from` would close it too early, with a warning
            yield ended
    finally:
        with warnings.catch_warnings():  # after an interruption joblib warns about what it cancels
            warnings.simplefilter("ignore")
            results.close()


def _attempt(number: int, task: Task, caller: int) -> tuple[int, Trouble | None]:
    """Compute a task, unless another process is computing it or has finished it."""
    if os.getpid() != caller:
        end_with(caller)
    warnings.showwarning = print_warning
    try:
        with task.claim(wait=task.wait) as mine:
            if mine:
                task.compute(task.out, task.data_dir)
    except Exception as error:
        return number, Trouble.of(error)
    return number, None


def _computed_alone(task: Task) -> Trouble | None:
    try:
        return next(_computed([task], [], workers=2))[1]  # two, so that it is another process
    except BrokenExecutor as error:
        return _killed(error)


def _killed(error: Exception) -> Trouble:
    return Trouble("its process ended ({})".format(str(error).split("\n", 1)[0]))
