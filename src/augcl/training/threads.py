"""As many threads as the work can use."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

SMALL_BATCH = 20_000  # nodes; below, threads wait for each other longer than they work


@contextmanager
def threads_for(nodes_per_batch: float) -> Iterator[None]:
    """One thread for small batches, what the user has set for large ones; restored afterwards.

    On a busy machine two threads can be ten times slower than one: each small step ends with a
    wait for the one that the system has put to sleep.
    """
    import torch  # not above: `augcl --help` needs this file and should not wait for torch

    before = torch.get_num_threads()
    if nodes_per_batch < SMALL_BATCH:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


SETTINGS = {"MMAP_MAX": (-4, 0), "TRIM_THRESHOLD": (-1, 2**31 - 1), "TOP_PAD": (-2, 64 * 2**20)}
"""Of glibc's allocator: the name in the environment, the number in malloc.h, the value."""


def keep_freed_memory() -> None:
    """Let this process, and those that it starts, keep what they free: the next batch needs it.

    By default glibc maps every tensor above 32 MB anew and unmaps it afterwards, and the system
    clears its pages each time: on DD that is a fifth of the training time. For programs that own
    their process, as the command line does; on other systems nothing happens.
    """
    if sys.platform != "linux":
        return
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):  # another C library
        return
    for name, (number, value) in SETTINGS.items():
        mallopt(number, value)
        os.environ.setdefault(f"MALLOC_{name}_", str(value))
