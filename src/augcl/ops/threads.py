"""Threads of the CPU: one for small operations, several for the parts of large work."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import torch

Part = TypeVar("Part")
Found = TypeVar("Found")

SMALL_BATCH = 20_000  # nodes; with fewer, several threads are slower than one

SHARES = 4
"""Shares of work that is divided: a fixed number, so that no bit depends on the threads."""

_of_user: int | None = None  # inside `threads_for`: the number of threads outside of it


@contextmanager
def threads_for(nodes_per_batch: float) -> Iterator[None]:
    """Use one thread for small batches and the user's number for large ones; restore it afterwards.

    On a busy machine two threads can be ten times slower than one: each small step waits for the
    thread that the system has put to sleep. `in_shares` still uses the user's number.
    """
    global _of_user
    before, outside = torch.get_num_threads(), _of_user
    if nodes_per_batch < SMALL_BATCH:
        _of_user = before if outside is None else outside
        torch.set_num_threads(1)
    try:
        yield
    finally:
        _of_user = outside
        torch.set_num_threads(before)


def in_shares(
    work: Callable[[Sequence[Part]], Found], parts: Sequence[Part], device: torch.device
) -> list[Found]:
    """Divide `parts` into at most `SHARES` shares and return what `work` makes of each, in order.

    On the CPU several shares are worked on at a time, with one thread each: threads inside an
    operation would wait for each other at every step, which takes most of the time on a busy
    machine. No gradients are recorded.

    >>> in_shares(sum, range(10), torch.device("cpu"))
    [12, 15, 8, 10]
    """
    shares = [parts[first::SHARES] for first in range(min(SHARES, len(parts)))]
    threads = torch.get_num_threads()
    allowed = threads if _of_user is None else _of_user
    workers = min(allowed, len(shares)) if device.type == "cpu" else 1
    work = torch.no_grad()(work)
    if workers <= 1:
        return [work(share) for share in shares]
    try:
        with ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            return list(pool.map(work, shares))
    finally:
        torch.set_num_threads(threads)
