"""Which batch-norm statistics a network uses while it is only looked at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm


@contextmanager
def batch_statistics(network: nn.Module) -> Iterator[None]:
    """As in training, each batch with its own statistics; the running averages stay as they are."""
    norms = [m for m in network.modules() if isinstance(m, _BatchNorm)]
    momenta = [norm.momentum for norm in norms]
    network.train()
    for norm in norms:
        norm.momentum = 0.0
    try:
        yield
    finally:
        for norm, momentum in zip(norms, momenta, strict=True):
            norm.momentum = momentum


@contextmanager
def running_statistics(network: nn.Module) -> Iterator[None]:
    """As in evaluation: the running averages for every batch."""
    network.eval()
    try:
        yield
    finally:
        network.train()
