"""Several works side by side, of which one runs at a time: all meet the same slow minutes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Semaphore
from typing import TypeVar

T = TypeVar("T")
Rest = Callable[[], None]
"""Called by a work to let each of the others go on until it rests itself."""


class StoppedError(Exception):
    """Another work has failed, or the user has stopped them all."""


def in_relay(works: Sequence[Callable[[Rest], T]]) -> list[T]:
    """What the works return; each has a thread of its own, and the baton decides which one runs.

    >>> said = []
    >>> def count(word, rest):
    ...     for number in (1, 2):
    ...         said.append(f"{word} {number}")
    ...         rest()
    >>> _ = in_relay([lambda rest: count("one", rest), lambda rest: count("two", rest)])
    >>> said
    ['one 1', 'two 1', 'one 2', 'two 2']
    """
    batons = [Semaphore(0) for _ in works]
    running = list(range(len(works)))
    failed = False

    def hand_over(here: int) -> None:
        after = [there for there in running if there > here] or running
        if after:
            batons[after[0]].release()

    def run(here: int) -> T:
        nonlocal failed

        def wait() -> None:
            batons[here].acquire()
            if failed:
                raise StoppedError

        def rest() -> None:
            hand_over(here)
            wait()

        try:
            wait()
            return works[here](rest)
        except BaseException:
            failed = True
            raise
        finally:
            running.remove(here)
            hand_over(here)

    with ThreadPoolExecutor(max(1, len(works))) as pool:
        futures = [pool.submit(run, here) for here in range(len(works))]
        hand_over(-1)
        try:
            return [future.result() for future in futures]
        except StoppedError:  # of one that waited; the first to fail says why
            errors = [error for f in futures if (error := f.exception()) is not None]
            raise next(error for error in errors if not isinstance(error, StoppedError)) from None
        finally:
            failed = True  # after Ctrl-C: none goes on beyond its next rest
