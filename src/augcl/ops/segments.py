"""Ragged arrays: many segments in one flat tensor, with a `ptr` to the start of each."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import embedding_bag


def pointer(lengths: Tensor) -> Tensor:
    """Turn (G,) lengths into a (G+1,) pointer: the start of each segment, and the last end.

    >>> pointer(torch.tensor([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    start = lengths.new_zeros(len(lengths) + 1)
    torch.cumsum(lengths, 0, out=start[1:])
    return start


def segment_ids(ptr: Tensor) -> Tensor:
    """Return the number of the segment in which each element lies.

    >>> segment_ids(torch.tensor([0, 2, 2, 5])).tolist()
    [0, 0, 2, 2, 2]
    """
    return torch.repeat_interleave(ptr.diff())


def ranges(starts: Tensor, lengths: Tensor) -> Tensor:
    """Concatenate ``arange(start, start + length)`` over all starts.

    >>> ranges(torch.tensor([5, 0]), torch.tensor([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ptr = pointer(lengths)
    total = int(ptr[-1])
    offset = torch.repeat_interleave(starts - ptr[:-1], lengths, output_size=total)
    return torch.arange(total, device=starts.device) + offset


def segment_sum(x: Tensor, ptr: Tensor) -> Tensor:
    """Sum each segment: (V, D) values to (G, D); an empty segment gives 0.

    >>> segment_sum(torch.tensor([[1.0], [2.0], [4.0]]), torch.tensor([0, 2, 2, 3])).tolist()
    [[3.0], [0.0], [4.0]]
    """
    if x.ndim == 2 and x.dtype == torch.float32 and x.numel():
        total: Tensor = _SegmentSum.apply(x, ptr)  # type: ignore[no-untyped-call]
        return total
    out = x.new_zeros((len(ptr) - 1, *x.shape[1:]))
    return out.index_add(0, segment_ids(ptr), x)


class _SegmentSum(torch.autograd.Function):
    """Segment sums with the same bits as `index_add`, in half the time."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, ptr: Tensor) -> Tensor:
        ctx.ptr = ptr
        every = torch.arange(len(x), device=x.device)
        return embedding_bag(every, x, ptr, mode="sum", include_last_offset=True)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return grad.index_select(0, segment_ids(ctx.ptr)), None


def random_subset(ptr: Tensor, count: Tensor, generator: torch.Generator) -> Tensor:
    """Draw `count` elements of each segment without replacement, as a mask over all elements.

    Parameters
    ----------
    ptr : (G+1,)
        Pointer of the segments.
    count : (G,)
        Elements to draw from each segment; at most its length.

    >>> mask = random_subset(torch.tensor([0, 4, 6]), torch.tensor([3, 0]), torch.Generator())
    >>> mask.tolist().count(True), mask[4:].tolist()
    (3, [False, False])
    """
    lengths = ptr.diff()
    some = (count > 0).nonzero().squeeze(1)  # sort only where something is drawn
    elements = ranges(ptr[some], lengths[some])
    segment = torch.repeat_interleave(lengths[some])
    # The integer part is the segment, the fraction is random: one sort serves all segments.
    # The factor keeps rounding from lifting a fraction into the next segment.
    key = segment + uniform(len(elements), generator, ptr.device).double() * (1 - 1e-6)
    drawn = ranges(pointer(lengths[some])[:-1], count[some])  # the first of each, once in order
    chosen = elements.index_select(0, torch.argsort(key).index_select(0, drawn))
    mask = torch.zeros(int(ptr[-1]), dtype=torch.bool, device=ptr.device)
    return mask.index_fill_(0, chosen, True)


def random_element(ptr: Tensor, generator: torch.Generator) -> Tensor:
    """Draw one element of each (non-empty) segment, uniformly."""
    lengths = ptr.diff()
    return ptr[:-1] + random_below(lengths, generator)


def random_below(limit: Tensor, generator: torch.Generator) -> Tensor:
    """Draw a whole number from 0 to limit − 1 for each entry of `limit` (0 where that is 0)."""
    draw = uniform(len(limit), generator, limit.device, torch.float64)
    return (draw * limit).long().clamp_(max=limit - 1).clamp_(min=0)


def uniform(
    n: int,
    generator: torch.Generator,
    device: torch.device,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """Draw `n` numbers in [0, 1) on the generator's device and move them to `device`."""
    return torch.rand(n, generator=generator, device=generator.device, dtype=dtype).to(device)
