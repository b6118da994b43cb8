"""Ragged arrays: values of many segments in one flat tensor, with a pointer to where each starts."""

from __future__ import annotations

import torch
from torch import Tensor


def pointer(lengths: Tensor) -> Tensor:
    """Start of each segment and the end of the last: (G,) lengths to a (G+1,) pointer.

    >>> pointer(torch.tensor([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    start = lengths.new_zeros(len(lengths) + 1)
    torch.cumsum(lengths, 0, out=start[1:])
    return start


def segment_ids(ptr: Tensor) -> Tensor:
    """The segment that each element lies in.

    >>> segment_ids(torch.tensor([0, 2, 2, 5])).tolist()
    [0, 0, 2, 2, 2]
    """
    return torch.repeat_interleave(ptr.diff())


def ranges(starts: Tensor, lengths: Tensor) -> Tensor:
    """All `arange(start, start + length)`, one after the other.

    >>> ranges(torch.tensor([5, 0]), torch.tensor([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ptr = pointer(lengths)
    total = int(ptr[-1])
    offset = torch.repeat_interleave(starts - ptr[:-1], lengths, output_size=total)
    return torch.arange(total, device=starts.device) + offset


def segment_sum(x: Tensor, ptr: Tensor) -> Tensor:
    """Sum of each segment: (V, D) values to (G, D); an empty segment gives 0.

    >>> segment_sum(torch.tensor([[1.0], [2.0], [4.0]]), torch.tensor([0, 2, 2, 3])).tolist()
    [[3.0], [0.0], [4.0]]
    """
    out = x.new_zeros((len(ptr) - 1, *x.shape[1:]))
    return out.index_add(0, segment_ids(ptr), x)


def random_ranks(ptr: Tensor, generator: torch.Generator) -> Tensor:
    """A random order within each segment: element ranks 0 … length − 1, uniform over all orders.

    `random_ranks(ptr, g) < k[segment]` is a draw of `k` elements of each segment without
    replacement.
    """
    total = int(ptr[-1])
    segment = segment_ids(ptr)
    # The whole number is the segment and the fraction is random: one sort serves all segments.
    # The factor keeps rounding from lifting a fraction into the next segment.
    fraction = torch.rand(total, generator=generator, dtype=torch.float64, device=generator.device)
    key = segment + (fraction * (1 - 1e-9)).to(ptr.device)
    order = torch.argsort(key)
    ranks = torch.empty_like(order)
    ranks[order] = torch.arange(total, device=ptr.device) - ptr[segment]
    return ranks
