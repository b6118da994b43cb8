"""Several processes that train one model: what they sum and gather, with gradients.

Each process holds the whole model and draws all random numbers of a step; the work of the step is
shared where a method says so, and only inside `sharing`. Outside of it, and where there is one
process, nothing here does anything: each function returns what it was given.

Every process computes the same loss, and `average_gradients` averages the gradients of all. So a
part of the work that only one process does must arrive there with the sum of the gradients of all
processes (`gathered`, `spread`); a part that all do is there as often as there are processes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from augcl.errors import LostProcessError

T = TypeVar("T")

traffic: Counter[str] = Counter()
"""Bytes that this process has handed over, by purpose: gathered, sums, gradients."""

_rank, _size, _active = 0, 1, False


def join(rank: int, size: int) -> None:
    """Say which one of how many connected processes this is."""
    global _rank, _size
    _rank, _size = rank, size


def rank() -> int:
    """Return the number of this process, from 0; the first one writes and speaks."""
    return _rank


def several() -> bool:
    """Return whether several processes train one model."""
    return _size > 1


def share() -> tuple[int, int]:
    """Return (number of this process, number of processes) of a step; (0, 1) outside `sharing`."""
    return (_rank, _size) if _active else (0, 1)


def is_shared() -> bool:
    """Return whether work is shared at this moment."""
    return _active


@contextmanager
def sharing() -> Iterator[None]:
    """Share the work that is done inside; all processes must do the same there."""
    global _active
    before, _active = _active, _size > 1
    try:
        yield
    finally:
        _active = before


@contextmanager
def _connected() -> Iterator[Any]:
    """Turn the errors of a connection whose other end is gone into one line."""
    import torch.distributed as distributed

    try:
        yield distributed
    except RuntimeError as error:
        reason = " ".join(str(error).split())
        raise LostProcessError(
            "another process of this training has ended: the same command with --resume continues "
            f"({reason})"
        ) from None


def add_up_(x: Tensor, purpose: str = "sums") -> Tensor:
    """Add the tensors of all processes in place, without a gradient."""
    if _active:
        traffic[purpose] += x.numel() * x.element_size()
        with _connected() as distributed:
            distributed.all_reduce(x)
    return x


def gathered(rows: Tensor, sizes: Sequence[int]) -> Tensor:
    """Return the rows of all processes one after the other; `sizes` are their numbers of rows."""
    if not _active:
        return rows
    found: Tensor = _Gathered.apply(rows, sizes)  # type: ignore[no-untyped-call]
    return found


class _Gathered(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, sizes: Sequence[int]) -> Tensor:
        ctx.own = sum(sizes[:_rank]), sizes[_rank]
        most, width = max(sizes), rows.shape[1]
        padded = rows.new_zeros(most, width)
        padded[: len(rows)] = rows
        blocks = list(rows.new_empty(len(sizes), most, width))
        traffic["gathered"] += padded.numel() * padded.element_size()
        with _connected() as distributed:
            distributed.all_gather(blocks, padded)
        return torch.cat([block[:size] for block, size in zip(blocks, sizes, strict=True)])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return add_up_(grad.clone(), "gathered").narrow(0, *ctx.own), None


def spread(x: Tensor) -> Tensor:
    """Return x, of which each process uses a part; the gradients of all parts are added."""
    if not _active:
        return x
    same: Tensor = _Spread.apply(x)  # type: ignore[no-untyped-call]
    return same


class _Spread(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return add_up_(grad.clone())


def collected(part: Tensor) -> Tensor:
    """Return the sum of the parts of all processes; the gradient of the sum is that of a part."""
    if not _active:
        return part
    total: Tensor = _Collected.apply(part)  # type: ignore[no-untyped-call]
    return total


class _Collected(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, part: Tensor) -> Tensor:
        return add_up_(part.clone())

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return grad


def moments(x: Tensor) -> tuple[Tensor, Tensor, int]:
    """Return mean and variance (D,) of the rows of all processes, with gradient, and their number.

    >>> moments(torch.tensor([[1.0], [3.0]]))
    (tensor([2.]), tensor([1.]), 2)
    """
    mean = x.sum(0) / max(len(x), 1)  # torch.var_mean takes five times as long
    second = (x - mean).square().sum(0)
    own = torch.cat([x.new_tensor([len(x)]), mean, second])
    every = gathered(own[None], [1] * share()[1])
    count, means, seconds = every.split([1, x.shape[1], x.shape[1]], dim=1)
    rows = count.sum()
    mean = (count * means).sum(0) / rows
    var = (seconds + count * (means - mean).square()).sum(0) / rows
    return mean, var, int(rows)


def batch_norm(x: Tensor, norm: nn.BatchNorm1d) -> Tensor:
    """Normalise by the statistics of the rows of all processes; update the running averages."""
    mean, var, rows = moments(x)
    if norm.running_mean is not None and norm.running_var is not None:
        rate = norm.momentum
        if rate is None and norm.num_batches_tracked is not None:
            rate = 1 / int(norm.num_batches_tracked)
        with torch.no_grad():
            norm.running_mean.lerp_(mean, rate or 0.0)
            norm.running_var.lerp_(var * (rows / max(rows - 1, 1)), rate or 0.0)
    scale = (var + norm.eps).rsqrt()
    if norm.weight is None:
        return (x - mean) * scale
    return torch.addcmul(norm.bias, x - mean, scale * norm.weight)


def share_norms(encoder: nn.Module) -> nn.Module:
    """Let the batch norms of an encoder of the user see the rows of all processes in a step."""
    for module in encoder.modules():
        if several() and isinstance(module, nn.BatchNorm1d):
            module.forward = partial(_forward, module)  # type: ignore[method-assign]
    return encoder


def _forward(norm: nn.BatchNorm1d, x: Tensor) -> Tensor:
    if not (_active and norm.training):
        return type(norm).forward(norm, x)
    if norm.num_batches_tracked is not None:
        norm.num_batches_tracked.add_(1)
    return batch_norm(x, norm)


def average_gradients(network: nn.Module) -> None:
    """Give every process the mean of the gradients of all."""
    if not _active:
        return
    grads = [p.grad for p in network.parameters() if p.grad is not None]
    flat = torch.cat([grad.flatten() for grad in grads])
    add_up_(flat, "gradients").div_(_size)
    for grad, mean in zip(grads, flat.split([grad.numel() for grad in grads]), strict=True):
        grad.copy_(mean.view_as(grad))


def of_first(value: T) -> T:
    """Return the value that the first process has; it must be picklable."""
    if not several():
        return value
    with _connected() as distributed:
        box = [value]
        distributed.broadcast_object_list(box)
        return box[0]


def cuts(costs: Tensor, size: int) -> list[int]:
    """Cut a row of things into `size` runs of about equal cost; return where they begin and end.

    `costs` (K+1,) are the costs of the first 0, 1, … K things together.

    >>> cuts(torch.tensor([0, 4, 5, 6, 7, 8]), 2), cuts(torch.tensor([0, 1]), 2)
    ([0, 1, 5], [0, 0, 1])
    """
    inner = costs[-1] * torch.arange(1, size, device=costs.device) / size
    nearest = (costs - inner[:, None]).abs().argmin(1)
    return [0, *nearest.tolist(), len(costs) - 1]
