"""Measure how far from the limits of this machine the four main pieces of work are.

The limits are measured in the same run, with one thread and in processor time: a large matrix
product and a large copy.
Operations are those of matrix products; bytes are the inputs and outputs of every torch operation,
as if each came from memory. What stays in the cache can therefore be faster than the copy.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

import augcl
from augcl.hardness import two_means
from augcl.hardness.uncertainty import PairNetwork
from augcl.ops.cosine import cosine
from benchmarks.data import graphs, one_graph
from benchmarks.measure import Row, one_thread, seconds
from benchmarks.nodes import PUBLISHED, Step

REPEATS, CLOCK = 3, time.process_time
LEAST = 1 / 3
"""Share of the attainable below which docs/speed.md says why."""


class Traffic(TorchDispatchMode):
    """Adds up the bytes that operations read and write; views move none."""

    total = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        out = func(*args, **(kwargs or {}))
        if not func.is_view:
            every = tree_leaves((args, kwargs or {}, out))
            tensors = {id(t): t for t in every if isinstance(t, torch.Tensor)}
            strided = [t for t in tensors.values() if t.layout == torch.strided]
            self.total += sum(t.numel() * t.element_size() for t in strided)
        return out


def roofline(full: bool) -> list[Row]:
    """Compare four pieces of work with the best product and copy of this machine."""
    works = {
        "GIN step, DD": gin_step(),
        "GCA step, Amazon-Computers": Step(
            one_graph("Amazon-Computers"), PUBLISHED["Amazon-Computers"]
        ).ours,
        "uncertainty of 128 × 128 pairs": pairs(),
        "2-means of 1024 × 1024 cosines": groups(),
    }
    with one_thread():
        rate, bandwidth = limits()
        return [_row(what, work, rate, bandwidth) for what, work in works.items()]


def limits(size: int = 2048, copied: int = 2**26) -> tuple[float, float]:
    """Return operations per second of a large product, and bytes per second of a large copy."""
    a, b, product = (torch.rand(size, size) for _ in range(3))
    source, target = torch.rand(copied), torch.rand(copied)
    multiplied = seconds(lambda: torch.mm(a, b, out=product), REPEATS, CLOCK)
    moved = seconds(lambda: target.copy_(source), REPEATS, CLOCK)
    return 2 * size**3 / multiplied, 2 * copied * source.element_size() / moved


def gin_step() -> Callable[[], object]:
    """Return a step of GraphCL on the first batch of DD, forward and backward."""
    model = augcl.GraphCL(epochs=0, random_state=0, progress=False).fit(graphs("DD"))
    generator = torch.Generator().manual_seed(0)
    batch = next(iter(model._batches(model.read(graphs("DD")), generator)))
    model.network_.train()
    return lambda: model._loss(batch, generator).backward()


def pairs() -> Callable[[], object]:
    """Return the uncertainty model on all pairs of two views of a batch."""
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(128, 96, generator=generator) for _ in range(2))
    network, affinity = PairNetwork(96, 3, hidden=64, generator=generator), cosine(a, b)
    return lambda: network.blocked(a, b, affinity)


def groups() -> Callable[[], object]:
    """Return two-means of the rows of a matrix of cosines."""
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(1024, 16, generator=generator) for _ in range(2))
    affinity = cosine(a, b)
    return lambda: two_means(affinity)


def _row(what: str, work: Callable[[], object], rate: float, bandwidth: float) -> Row:
    work()  # first calls are slower
    counter = FlopCounterMode(display=False)
    with counter:
        work()
    with Traffic() as traffic:
        work()
    operations, moved = counter.get_total_flops(), traffic.total
    taken = seconds(work, REPEATS, CLOCK)
    share = max(operations / rate, moved / bandwidth) / taken
    return Row(
        what=f"roofline: {what}",
        textbook=f"{rate / 1e9:.0f} GFLOP/s, {bandwidth / 1e9:.1f} GB/s",
        ours=f"{operations / taken / 1e9:.1f} GFLOP/s, {moved / taken / 1e9:.1f} GB/s",
        ratio=f"{share:.2f} of it",
        target=f"≥ {LEAST:.2f}",
        ok=share >= LEAST,
    )
