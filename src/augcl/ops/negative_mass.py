"""Σ exp(cosine / τ) over the negatives of every node, in tiles: no N × N matrix ever exists.

Two views u, v of N nodes are one list z = [u; v] of 2N unit vectors. The negatives of entry a are
all entries of other nodes, in its own view and in the other one:

    mass_a = Σ_{b: node(b) ≠ node(a)} w(node a, node b) · exp((z_a · z_b − 1) / τ)

Without weights the matrix of exponentials is symmetric, so each tile above its diagonal serves
the rows and the columns. The backward pass computes the tiles again: that costs a quarter of the
arithmetic and saves all of the memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

TILE = 512
"""Rows and columns at a time: a tile of float32 is 1 MB, which stays in the cache."""

LEAST_TAU = 0.02
"""e^{1/τ} is then 5e21, and its sum over all nodes far from float32's largest number."""


class BlockWeights(Protocol):
    """Weights w(i, j) of node j among the negatives of node i, read a block at a time."""

    def block(self, rows: slice, columns: slice | Tensor) -> Tensor:
        """The (|rows|, |columns|) weights."""


class _Part(NamedTuple):
    """Some consecutive nodes in one view: where they stand in z, and which nodes they are."""

    place: slice
    nodes: slice


def negative_mass(
    z: Tensor, tau: float, *, weights: BlockWeights | None = None, tile: int = TILE
) -> Tensor:
    """(2N,) masses of unit rows z (2N, d), times exp(−1/τ); τ must be 0.02 or more.

    >>> z = torch.tensor([[1.0, 0.0], [0.0, 1.0]]).repeat(2, 1)  # two nodes, two equal views
    >>> negative_mass(z, tau=1.0)  # two negatives each, all at cosine 0: 2/e
    tensor([0.7358, 0.7358, 0.7358, 0.7358])
    """
    mass: Tensor = _Mass.apply(z, tau, weights, tile)  # type: ignore[no-untyped-call]
    return mass


def sampled_mass(
    z: Tensor, tau: float, columns: Tensor, *, weights: BlockWeights | None = None
) -> Tensor:
    """(2N,) masses from the nodes in `columns` (M,) alone, scaled up: right in expectation.

    Each anchor's sum is over the drawn nodes other than itself, times (N − 1) over their number.
    The (2N, 2M) matrix of exponentials is kept for the backward pass.
    """
    nodes = len(z) // 2
    both = torch.cat([columns, columns + nodes])
    e = ((z @ z[both].t() - 1) / tau).exp()
    own = torch.arange(nodes, device=z.device)[:, None] == columns
    e = e.masked_fill(own.repeat(2, 2), 0)
    if weights is not None:
        e = e * weights.block(slice(None), columns).repeat(2, 2)
    drawn = (len(columns) - own.sum(1)).clamp_min(1)
    return e.sum(1) * ((nodes - 1) / drawn).repeat(2)


class _Mass(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: Tensor, tau: float, weights: BlockWeights | None, tile: int) -> Tensor:
        ctx.save_for_backward(z)
        ctx.rest = tau, weights, tile

        def add_up(tiles: Tiles) -> Tensor:
            mass = z.new_zeros(len(z))
            for a, b, e in tiles:
                if weights is None:
                    mass[a.place] += e.sum(1)
                    if b.place != a.place:
                        mass[b.place] += e.sum(0)
                    continue
                mass[a.place] += (weights.block(a.nodes, b.nodes) * e).sum(1)
                if b.place != a.place:
                    mass[b.place] += (weights.block(b.nodes, a.nodes) * e.t()).sum(1)
            return mass

        return _sum_over_tiles(z, tau, tile, add_up).mul_(math.exp(-1 / tau))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        (z,) = ctx.saved_tensors
        tau, weights, tile = ctx.rest
        grad = grad * (math.exp(-1 / tau) / tau)

        def pull(tiles: Tiles) -> Tensor:
            d_z, z_t = torch.zeros_like(z), z.t().contiguous()
            d_z_t = torch.zeros_like(z_t)  # BLAS is faster where the tile need not be turned
            memory = z.new_empty(tile * tile)
            for a, b, e in tiles:
                for_rows, for_columns = grad[a.place, None], grad[b.place]
                if weights is None:
                    both = memory[: e.numel()].view(e.shape)
                    d_s = e.mul_(torch.add(for_rows, for_columns, out=both))
                else:
                    both = weights.block(a.nodes, b.nodes).mul_(for_rows)
                    both += weights.block(b.nodes, a.nodes).t() * for_columns
                    d_s = e.mul_(both)
                d_z[a.place].addmm_(d_s, z[b.place])
                if b.place != a.place:
                    d_z_t[:, b.place].addmm_(z_t[:, a.place], d_s)
            return d_z.add_(d_z_t.t())

        return _sum_over_tiles(z, tau, tile, pull), None, None, None


Tiles = Iterator[tuple[_Part, _Part, Tensor]]


def _sum_over_tiles(z: Tensor, tau: float, tile: int, work: Callable[[Tiles], Tensor]) -> Tensor:
    """The sum of what the workers make of their tiles.

    On the CPU there are as many workers as torch has threads, with one thread each: threads inside
    a tile would wait for each other at every step, which on a busy machine costs most of the time.
    Who works on which tile is fixed, so that the same threads give the same bits.
    """
    nodes = len(z) // 2
    parts = [
        _Part(slice(view + start, view + min(start + tile, nodes)), slice(start, start + tile))
        for view in (0, nodes)
        for start in range(0, nodes, tile)
    ]
    pairs = [(a, b) for i, a in enumerate(parts) for b in parts[i:]]
    threads = torch.get_num_threads() if z.device.type == "cpu" else 1
    workers = min(threads, len(pairs))
    if workers == 1:
        return work(_tiles(z, tau, pairs))
    try:
        with ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            shares = [_tiles(z, tau, pairs[first::workers]) for first in range(workers)]
            return torch.stack(list(pool.map(torch.no_grad()(work), shares))).sum(0)
    finally:
        torch.set_num_threads(threads)


def _tiles(z: Tensor, tau: float, pairs: Sequence[tuple[_Part, _Part]]) -> Tiles:
    """The exponentials of pairs of parts, with 0 where both entries are one node.

    All share one piece of memory: use each before asking for the next.
    """
    size = max(len(z[part.place]) for pair in pairs for part in pair)
    memory = z.new_empty(size * size)
    scaled = z * (1 / (tau * math.log(2)))  # powers of 2 take two thirds of the time of those of e
    for a, b in pairs:
        rows, columns = scaled[a.place], z[b.place]
        e = memory[: len(rows) * len(columns)].view(len(rows), len(columns))
        torch.mm(rows, columns.t(), out=e).exp2_()
        if a.nodes == b.nodes:
            e.fill_diagonal_(0)
        yield a, b, e
