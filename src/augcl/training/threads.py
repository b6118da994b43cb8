"""Worker processes, signals, and the behaviour of BLAS and of the memory allocator."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache


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


def give_back_memory() -> None:
    """Give freed memory back to the system, also after `keep_freed_memory`; a step of large work.

    What a step kept would be missing in the next one, which needs other sizes.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL("libc.so.6").malloc_trim(0)


@contextmanager
def deaf_workers(*numbers: signal.Signals) -> Iterator[None]:
    """Let processes that are started inside never hear these signals: this process ends them.

    A terminal sends Ctrl-C, and a batch system SIGTERM, to all of them, and each would print a
    traceback. Processes inherit what is blocked. Start them here, and wait for them outside: this
    process hears the signals at the end of the block.
    """
    if threading.current_thread() is not threading.main_thread() or sys.platform == "win32":
        yield
        return
    from multiprocessing import resource_tracker

    # Python's tracker of resources unblocks the signals when it starts: let it start before.
    resource_tracker.ensure_running()
    heard: list[int] = []
    before = {
        each: signal.signal(each, lambda number, _: heard.append(number))
        for each in numbers
        if signal.getsignal(each) is not signal.SIG_IGN
    }
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        for each, handler in before.items():
            signal.signal(each, handler)
    for number in heard[:1]:
        signal.raise_signal(number)


@cache
def end_with(caller: int) -> None:
    """End this process as soon as the process `caller`, which started it, has ended.

    A worker whose caller was killed would train on and write into the folder of the next caller.
    """

    def watch() -> None:
        while os.getppid() == caller:
            time.sleep(0.2)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
