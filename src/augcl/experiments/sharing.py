"""Tasks that this process and some helpers take one at a time, until none is left."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from importlib import import_module
from typing import TypeVar

from joblib.externals.loky import ProcessPoolExecutor

Task = TypeVar("Task")
Result = TypeVar("Result")

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def share(
    attempt: Callable[[Task], Result],
    tasks: Iterable[Task],
    finished: Callable[[Result], None],
    lost: Callable[[Task, str], Result],
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

    def taken() -> Iterator[Task]:
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
            pool.submit(import_module, "augcl.experiments.cells")
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
