"""GRACE's loss for all nodes of a graph, exact, in memory linear in the number of nodes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from augcl.hardness.base import Hardness, Uniform
from augcl.hardness.diagnostics import WeightStatistics
from augcl.hardness.oracle import for_batch
from augcl.hardness.progcl import ProGCL
from augcl.ops.cosine import cosine, unit_rows

TILE = 512
"""Rows and columns at a time: a tile of float32 is 1 MB, which stays in the cache."""

LEAST_TAU = 0.02
"""e^{1/τ} is then 5e21, and its sum over all nodes far from float32's largest number."""


def node_info_nce(
    anchors: Tensor,
    candidates: Tensor,
    *,
    tau: float,
    hardness: Hardness | None = None,
    weights: PairWeights | None = None,
    positive_in_denominator: bool = True,
    columns: Tensor | None = None,
    generator: torch.Generator | None = None,
    tile: int = TILE,
) -> Tensor:
    """``info_nce`` with ``symmetric=True, intra=True``, without an N × N matrix.

    Parameters
    ----------
    anchors, candidates : (N, D)
        Embeddings of the nodes in the two views.
    tau : float
        Temperature; over the hardness's largest power it must be 0.02 or more.
    hardness : Hardness, optional
        Turns the sums over the negatives into their mass; its weights are read from `weights`.
    weights : PairWeights, optional
        Weights of all pairs of nodes, for instance ``PairWeights.of(hardness, z)``; all are 1 if
        None.
    positive_in_denominator : bool
    columns : (M,) int64, optional
        Only these nodes, drawn at random, serve as negatives; their mass is scaled up, so that it
        is that of all nodes in the mean over the draws.
    generator : Generator, optional
        Source of random draws; only ``ProGCL(mode="mix")`` draws.
    tile : int
        Rows and columns at a time.

    Examples
    --------
    >>> z = torch.eye(3)
    >>> round(node_info_nce(z, z, tau=1.0).item(), 4)  # log(1 + 4/e)
    0.9048
    """
    nodes = len(anchors)
    if nodes < 2:
        return (anchors.sum() + candidates.sum()) * 0
    hardness = Uniform() if hardness is None else hardness
    u, v = unit_rows(anchors), unit_rows(candidates)
    positive = ((u * v).sum(1) / tau).repeat(2)
    mixes = isinstance(hardness, ProGCL) and hardness.mixes
    summed = None if mixes else weights
    log_sums = [_log_sum(torch.cat([u, v]), tau, p, summed, columns, tile) for p in hardness.powers]
    count = 2 * (nodes - 1)
    log_mass = hardness.log_mass(torch.stack(log_sums), positive, count=count, tau=tau)
    if isinstance(hardness, ProGCL) and mixes and weights is not None:
        synthetic = hardness.synthetic_node_log_mass(
            u, v, tau, weights.block, columns=columns, generator=generator
        )
        log_mass = torch.logaddexp(log_mass, synthetic)
    if positive_in_denominator:
        log_mass = torch.logaddexp(positive, log_mass)
    return (log_mass - positive).mean()


def _log_sum(
    z: Tensor,
    tau: float,
    power: float,
    weights: PairWeights | None,
    columns: Tensor | None,
    tile: int,
) -> Tensor:
    """Return the (2N,) log Σ_b w · exp(power · z_a · z_b / τ) over the negatives b of each a."""
    cooler = tau / power if power else math.inf
    if columns is None:
        mass = negative_mass(z, cooler, weights=weights, tile=tile)
    else:
        mass = sampled_mass(z, cooler, columns, weights=weights)
    return mass.clamp_min(torch.finfo(z.dtype).tiny).log() + 1 / cooler


class PairWeights:
    """Weights of all pairs of N nodes: w_ij = (k_ij · r_i)⁴ with a byte k_ij, N² bytes in all.

    The fourth root keeps small weights apart from each other and from 0 while the largest of the
    row is exact. With r the weight over the row's largest, the relative error is at most about
    2 / (255 r^¼): 2.5 % for r above a hundredth, 8 % down to 10⁻⁴, 26 % down to 10⁻⁶; from
    1.5 · 10⁻¹¹ on a weight is 0.

    Parameters
    ----------
    codes : (N, N) uint8
    root : (N, 1) float32
        r_i: the fourth root of the row's largest weight, over 255.
    """

    def __init__(self, codes: Tensor, root: Tensor) -> None:
        self.codes = codes
        self.root = root

    @classmethod
    def of(
        cls, hardness: Hardness, z: Tensor, *, labels: Tensor | None = None, rows: int = 128
    ) -> PairWeights:
        """Store the weights that a fitted hardness gives to all pairs of embeddings z (N, D).

        `labels` (N,) are for the oracle alone; `rows` anchors are weighed at a time.
        """
        codes = torch.empty(len(z), len(z), dtype=torch.uint8, device=z.device)
        root = torch.empty(len(z), 1, device=z.device)
        for start in range(0, len(z), rows):
            some = z[start : start + rows]
            every = z.roll(-start, 0)  # row i of both is one node, as a hardness may expect
            given = for_batch(hardness, None if labels is None else labels.roll(-start, 0))
            log_w = given.log_weights(some, every, cosine(some, every))
            if log_w is None:
                log_w = torch.zeros(len(some), len(z), device=z.device)
            log_w = log_w.roll(start, 1)
            largest = log_w.amax(1, keepdim=True)
            codes[start : start + rows] = ((log_w - largest) / 4).exp_().mul_(255).round_()
            root[start : start + rows] = (largest / 4).exp() / 255
        return cls(codes, root)

    def block(self, rows: slice, columns: slice | Tensor) -> Tensor:
        """Return the weights of some rows and columns, float32, in memory of their own."""
        codes = self.codes[rows][:, columns]
        return codes.to(torch.float32).mul_(self.root[rows]).square_().square_()

    def describe(self, labels: Tensor | None = None, *, rows: int = 256) -> dict[str, Any]:
        """Return their spread and, with labels, the mean of true and of false negatives."""
        statistics = WeightStatistics()
        for start in range(0, len(self.codes), rows):
            some = self.block(slice(start, start + rows), slice(None))
            statistics.add(some, labels, first=start)
        return statistics.read()


def negative_mass(
    z: Tensor, tau: float, *, weights: PairWeights | None = None, tile: int = TILE
) -> Tensor:
    """Return the (2N,) masses of unit rows z (2N, d), times exp(−1/τ); τ must be 0.02 or more.

    >>> z = torch.tensor([[1.0, 0.0], [0.0, 1.0]]).repeat(2, 1)  # two nodes, two equal views
    >>> negative_mass(z, tau=1.0)  # two negatives each, all at cosine 0: 2/e
    tensor([0.7358, 0.7358, 0.7358, 0.7358])
    """
    mass: Tensor = _Mass.apply(z, tau, weights, tile)  # type: ignore[no-untyped-call]
    return mass


def sampled_mass(
    z: Tensor, tau: float, columns: Tensor, *, weights: PairWeights | None = None
) -> Tensor:
    """Estimate the (2N,) masses from the nodes in `columns` (M,) alone; right in expectation.

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
    def forward(ctx: Any, z: Tensor, tau: float, weights: PairWeights | None, tile: int) -> Tensor:
        ctx.save_for_backward(z)
        ctx.rest = tau, weights, tile

        def add_up(tiles: Iterator[_Tile]) -> Tensor:
            mass, memory = z.new_zeros(len(z)), z.new_empty(tile * tile)
            for a, b, e, w in tiles:
                product = memory[: e.numel()].view(e.shape)
                mass[a] += (e if w is None else torch.mul(e, w[0], out=product)).sum(1)
                if b != a:
                    mass[b] += (e if w is None else torch.mul(e, w[1], out=product)).sum(0)
            return mass

        return _sum_over_tiles(z, tau, weights, tile, add_up).mul_(math.exp(-1 / tau))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        (z,) = ctx.saved_tensors
        tau, weights, tile = ctx.rest
        grad = grad * (math.exp(-1 / tau) / tau)

        def pull(tiles: Iterator[_Tile]) -> Tensor:
            d_z, z_t = torch.zeros_like(z), z.t().contiguous()
            d_z_t = torch.zeros_like(z_t)  # BLAS is faster where the tile need not be turned
            memory = z.new_empty(tile * tile)
            for a, b, e, w in tiles:
                for_rows, for_columns = grad[a, None], grad[b]
                both = memory[: e.numel()].view(e.shape)
                if w is None:
                    torch.add(for_rows, for_columns, out=both)
                else:
                    torch.mul(w[0], for_rows, out=both).addcmul_(w[1], for_columns)
                d_s = e.mul_(both)
                d_z[a].addmm_(d_s, z[b])
                if b != a:
                    d_z_t[:, b].addmm_(z_t[:, a], d_s)
            return d_z.add_(d_z_t.t())

        return _sum_over_tiles(z, tau, weights, tile, pull), None, None, None


class _Tile(NamedTuple):
    """Some entries of z against some others."""

    rows: slice
    columns: slice
    exponentials: Tensor
    weights: tuple[Tensor, Tensor] | None
    """Of the columns for the rows, and of the rows for the columns, both (rows, columns)."""


def _sum_over_tiles(
    z: Tensor,
    tau: float,
    weights: PairWeights | None,
    tile: int,
    work: Callable[[Iterator[_Tile]], Tensor],
) -> Tensor:
    """Sum up what the workers make of their tiles.

    On the CPU there are as many workers as torch has threads, with one thread each: threads inside
    a tile would wait for each other at every step, which on a busy machine costs most of the time.
    Who works on which tile is fixed, so that the same threads give the same bits.
    """
    starts = range(0, len(z) // 2, tile)
    parts = [slice(start, min(start + tile, len(z) // 2)) for start in starts]
    pairs = [(first, second) for i, first in enumerate(parts) for second in parts[i:]]
    threads = torch.get_num_threads() if z.device.type == "cpu" else 1
    workers = min(threads, len(pairs))
    if workers == 1:
        return work(_tiles(z, tau, weights, pairs))
    try:
        with ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            shares = [_tiles(z, tau, weights, pairs[first::workers]) for first in range(workers)]
            return torch.stack(list(pool.map(torch.no_grad()(work), shares))).sum(0)
    finally:
        torch.set_num_threads(threads)


def _tiles(
    z: Tensor, tau: float, weights: PairWeights | None, pairs: Sequence[tuple[slice, slice]]
) -> Iterator[_Tile]:
    """Yield the exponentials of pairs of parts of the nodes, with 0 where both are one node.

    The views of a pair make three or four tiles, for which its weights are read once. All tiles
    share one piece of memory: use each before asking for the next.
    """
    size = max(part.stop - part.start for pair in pairs for part in pair)
    memory = z.new_empty(size * size)
    scaled = z * (1 / (tau * math.log(2)))  # powers of 2 take two thirds of the time of those of e
    for first, second in pairs:
        w = None
        if weights is not None:
            back = weights.block(second, first).t().contiguous()
            w = weights.block(first, second), back
        ways = list(itertools.product(_views(first, z), _views(second, z)))
        for a, b in ways if first != second else (ways[0], ways[1], ways[3]):
            rows, columns = scaled[a], z[b]
            e = memory[: len(rows) * len(columns)].view(len(rows), len(columns))
            torch.mm(rows, columns.t(), out=e).exp2_()
            if first == second:
                e.fill_diagonal_(0)
            yield _Tile(a, b, e, w)


def _views(part: slice, z: Tensor) -> tuple[slice, slice]:
    """Return the rows of z of some nodes, in either view."""
    nodes = len(z) // 2
    return part, slice(part.start + nodes, part.stop + nodes)
