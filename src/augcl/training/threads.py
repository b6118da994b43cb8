"""As many threads as the work can use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

SMALL_BATCH = 20_000  # nodes; below, threads wait for each other longer than they work


@contextmanager
def threads_for(nodes_per_batch: float) -> Iterator[None]:
    """One thread for small batches, what the user has set for large ones; restored afterwards.

    On a busy machine two threads can be ten times slower than one: each small step ends with a
    wait for the one that the system has put to sleep.
    """
    before = torch.get_num_threads()
    if nodes_per_batch < SMALL_BATCH:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
