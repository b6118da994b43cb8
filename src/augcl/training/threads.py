"""Threads, worker processes and the behaviour of the memory allocator for training."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SMALL_BATCH = 20_000  # nodes; with fewer, several threads are slower than one


@contextmanager
def threads_for(nodes_per_batch: float) -> Iterator[None]:
    """Use one thread for small batches and the user's number for large ones; restore it afterwards.

    On a busy machine two threads can be ten times slower than one: each small step waits for the
    thread that the system has put to sleep.
    """
    import torch  # here, because `augcl --help` imports this file and must not wait for torch

    before = torch.get_num_threads()
    if nodes_per_batch < SMALL_BATCH:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Use one thread in the linear algebra of NumPy and SciPy; restore the number afterwards.

    The matrices of an evaluation are small, and several threads mostly wait for each other.
    Measured on two idle cores: two threads take 6 times as long as one for the public splits of
    Actor, and 2.6 times for ridge regression of Morgan fingerprints.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        yield


SETTINGS = {"MMAP_MAX": (-4, 0), "TRIM_THRESHOLD": (-1, 2**31 - 1), "TOP_PAD": (-2, 64 * 2**20)}
"""Settings of glibc's allocator: name in the environment, number in malloc.h, and value."""


def keep_freed_memory() -> None:
    """Make this process and its children keep freed memory, which the next batch uses again.

    By default glibc maps new pages for every tensor above 32 MB and unmaps them afterwards, and the
    system clears the pages each time: on DD that is a fifth of the training time. Call this only
    from a program that owns its process, such as the command line. Only Linux is affected.
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


@contextmanager
def deaf_workers() -> Iterator[None]:
    """Let processes that are started inside never hear Ctrl-C: this process will, and ends them.

    The terminal sends Ctrl-C to all of them, and each would print a traceback. Start them here, and
    wait for them outside: inside, this process does not hear Ctrl-C either.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # processes inherit it
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
