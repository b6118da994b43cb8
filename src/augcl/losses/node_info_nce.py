"""GRACE's loss over all nodes of a graph: exact, in memory linear in the number of nodes.

`node_info_nce` needs for each node the sum of exponentials over its negatives, its *mass*.
`negative_mass` computes it exactly, tile by tile; `sampled_mass` estimates it from sampled
negatives. `PairWeights` stores the weights of all pairs in one byte each; `BlockWeights` computes
those that a step needs, for graphs whose pairs do not fit into memory. `weights_of` chooses.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.utils.checkpoint import checkpoint

from augcl.hardness.base import Hardness, Uniform
from augcl.hardness.diagnostics import WeightStatistics
from augcl.hardness.oracle import for_batch
from augcl.hardness.progcl import ProGCL
from augcl.ops import processes
from augcl.ops.cosine import cosine, unit_rows
from augcl.ops.threads import in_shares

TILE = 512
"""Rows and columns of a tile: in float32 it takes 1 MB, which stays in the cache."""

MOST_PAIRS, MOST_PAIRS_EXACT = 2**28, 2**30
"""Pairs of nodes at most whose weights are stored, with sampled negatives and with all of them.

With sampled negatives a step needs few of the weights, and to compute all of them takes longer than
a training: 16,384 nodes. An exact step needs all, again and again: 32,768 nodes.
"""

SAMPLED_ROWS = 128
"""Anchors whose sampled negatives are worked on at a time on the CPU, for the same reason."""

STRIPE = 128
"""Anchors whose weights are computed at a time."""

DESCRIBED = 1024
"""Nodes at most whose weights among each other are described, where they are not stored."""

LEAST_TAU = 0.02
"""Smallest τ: e^{1/τ} is 5e21 there, and its sum over all nodes does not overflow float32."""


def node_info_nce(
    anchors: Tensor,
    candidates: Tensor,
    *,
    tau: float,
    hardness: Hardness | None = None,
    weights: PairWeights | BlockWeights | None = None,
    positive_in_denominator: bool = True,
    columns: Tensor | None = None,
    generator: torch.Generator | None = None,
    tile: int = TILE,
) -> Tensor:
    """Return ``info_nce(…, symmetric=True, intra=True)`` without an N × N matrix in memory.

    Parameters
    ----------
    anchors, candidates : (N, D)
        Embeddings of the nodes in the two views.
    tau : float
        Temperature; divided by the largest power of the hardness it must be at least 0.02.
    hardness : Hardness, optional
        Turns the sums over the negatives into their mass. Its weights are not computed here; give
        them as `weights`.
    weights : PairWeights or BlockWeights, optional
        Weights of all pairs of nodes, for instance ``weights_of(hardness, z)``; all are 1 if None.
    positive_in_denominator : bool
        See `info_nce`.
    columns : (M,) int64, optional
        Sampled negatives: use only these nodes, drawn at random, as negatives. Their mass is scaled
        up, so that its expectation is the mass of all nodes.
    generator : Generator, optional
        Source of random draws; only ``ProGCL(mode="mix")`` uses it.
    tile : int
        Rows and columns of a tile.

    Returns
    -------
    scalar
        0 for a single node, which has no negatives.

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
    weights: PairWeights | BlockWeights | None,
    columns: Tensor | None,
    tile: int,
) -> Tensor:
    """Return log Σ_b w_ab · exp(power · z_a · z_b / τ) over the negatives b of each a, (2N,)."""
    cooler = tau / power if power else math.inf
    z = processes.spread(z)  # each process has some of the masses
    if columns is None and isinstance(weights, BlockWeights):
        mass = striped_mass(z, cooler, weights)
    elif columns is None:
        mass = negative_mass(z, cooler, weights=weights, tile=tile)  # type: ignore[arg-type]
    else:
        mass = sampled_mass(z, cooler, columns, weights=weights)
    mass = processes.collected(mass)
    return mass.clamp_min(torch.finfo(z.dtype).tiny).log() + 1 / cooler


class PairWeights:
    """Store the weights of all pairs of N nodes in N² bytes: w_ij = (k_ij · r_i)⁴, k_ij a byte.

    The fourth root resolves small weights, and the largest weight of a row is exact. For a weight
    that is r times the largest of its row, the relative error is at most about 2 / (255 r^¼): 2.5 %
    for r above a hundredth, 8 % down to 10⁻⁴, 26 % down to 10⁻⁶. Below 1.5 · 10⁻¹¹ the stored
    weight is 0.

    Parameters
    ----------
    codes : (N, N) uint8
    root : (N, 1) float32
        r_i: the fourth root of the largest weight of row i, divided by 255.

    Examples
    --------
    >>> import augcl
    >>> z1, z2 = torch.randn(2, 32, 8, generator=torch.Generator().manual_seed(0))
    >>> weights = PairWeights.of(augcl.AffinityUncertainty().fit([(z1, z2)]), z1)
    >>> weights.block(slice(0, 4), slice(None)).shape
    torch.Size([4, 32])
    """

    def __init__(self, codes: Tensor, root: Tensor) -> None:
        self.codes = codes
        self.root = root

    @classmethod
    def of(
        cls,
        hardness: Hardness,
        z: Tensor,
        *,
        labels: Tensor | None = None,
        numbers: Tensor | None = None,
        rows: int = 128,
    ) -> PairWeights:
        """Compute the weights that a fitted hardness gives to all pairs of rows of z (N, D).

        z are the vectors that `hardness.affinity_of` names. Only the oracle uses `labels` (N,) and
        `numbers` (N,), those of the nodes in a larger graph. `rows` anchors are processed at a
        time.
        """
        codes = torch.empty(len(z), len(z), dtype=torch.uint8, device=z.device)
        root = torch.empty(len(z), 1, device=z.device)
        number, size = processes.share()
        if size > 1:
            codes.zero_(), root.zero_()
        for start in range(0, len(z), rows)[number::size]:
            log_w = _log_stripe(hardness, z, labels, start, rows, numbers)
            largest = log_w.amax(1, keepdim=True)
            codes[start : start + rows] = ((log_w - largest) / 4).exp_().mul_(255).round_()
            root[start : start + rows] = (largest / 4).exp() / 255
        return cls(processes.add_up_(codes, "weights"), processes.add_up_(root, "weights"))

    def block(self, rows: slice | Tensor, columns: slice | Tensor) -> Tensor:
        """Return the weights of some rows and columns as a new float32 tensor."""
        codes = self.codes[rows][:, columns]
        return codes.to(torch.float32).mul_(self.root[rows]).square_().square_()

    def describe(self, labels: Tensor | None = None, *, rows: int = 256) -> dict[str, Any]:
        """Return the spread of the weights; with labels (N,) also means of true and false ones."""
        statistics = WeightStatistics()
        for start in range(0, len(self.codes), rows):
            some = self.block(slice(start, start + rows), slice(None))
            statistics.add(some, labels, first=start)
        return statistics.read()


class BlockWeights:
    """Compute weights of pairs of N nodes when they are needed, in memory linear in N.

    Parameters
    ----------
    hardness : Hardness
        Fitted.
    z : (N, D)
        The vectors that `hardness.affinity_of` names.
    labels : (N,) int64, optional
        Only the oracle uses them.
    numbers : (N,) int64, optional
        Of the nodes in a larger graph: they decide the errors of a partial oracle, which stay the
        same in whatever batch two nodes meet. 0 … N − 1 if None.

    Examples
    --------
    >>> import augcl
    >>> z = torch.randn(40, 8, generator=torch.Generator().manual_seed(0))
    >>> weights = BlockWeights(augcl.NearestOut("projection", top=0.5), z)
    >>> weights.block(slice(None), torch.arange(20)).shape
    torch.Size([40, 20])
    """

    def __init__(
        self,
        hardness: Hardness,
        z: Tensor,
        labels: Tensor | None = None,
        *,
        numbers: Tensor | None = None,
    ) -> None:
        self.hardness = hardness
        self.z = z
        self.labels = labels
        self.numbers = numbers

    @torch.no_grad()
    def block(
        self,
        rows: slice | Tensor,
        columns: slice | Tensor,
        *,
        stripes: Sequence[Tensor] | None = None,
    ) -> Tensor:
        """Return the weights of some rows and columns as a new float32 tensor.

        For ``slice(None)`` as columns they are those of `PairWeights`. For drawn columns, what a
        hardness computes over a row of candidates (a mean, a rank) is over the drawn ones and a few
        random nodes: those of the same stripe, see `stripes`.
        """
        nodes = torch.arange(len(self.z), device=self.z.device)
        of_rows = nodes[rows]
        if isinstance(columns, slice) and columns == slice(None):
            if isinstance(rows, slice) and rows.step is None:
                starts = range(int(of_rows[0]), int(of_rows[-1]) + 1, STRIPE)
                stripes = [
                    _log_stripe(self.hardness, self.z, self.labels, start, STRIPE, self.numbers)
                    for start in starts
                ]
                return torch.cat(stripes)[: len(of_rows)].exp_()
            columns = nodes
        of_columns = nodes[columns]
        found = self.z.new_empty(len(of_rows), len(of_columns), dtype=torch.float32)
        if stripes is None:
            stripes = self.stripes(len(of_rows), len(of_columns))
        for some in stripes:
            found[some] = self._log_block(of_rows[some], of_columns).exp_()
        return found

    def stripes(self, rows: int, columns: int) -> Sequence[Tensor]:
        """Return which rows `block` takes at a time for drawn columns."""
        # Neighbours in a file are often alike: a stripe of them would be no random sample.
        order = torch.randperm(rows, generator=torch.Generator().manual_seed(0))
        size = max(16, min(STRIPE, columns // 8))
        return list(order.to(self.z.device).split(size))

    def _log_block(self, rows: Tensor, columns: Tensor) -> Tensor:
        """Return log w (R, M); a hardness expects that row i of both sides is the same node."""
        both = torch.cat([rows, columns])
        some, every = self.z[rows], self.z[both]
        labels = None if self.labels is None else self.labels[both]
        numbers = both if self.numbers is None else self.numbers[both]
        given = for_batch(self.hardness, labels, numbers=numbers)
        log_w = given.log_weights(some, every, cosine(some, every))
        if log_w is None:
            return torch.zeros(len(rows), len(columns), device=self.z.device)
        return log_w[:, len(rows) :]

    def describe(self, labels: Tensor | None = None) -> dict[str, Any]:
        """Return the spread of the weights among random nodes; see `PairWeights.describe`."""
        order = torch.randperm(len(self.z), generator=torch.Generator().manual_seed(0))
        some = order[:DESCRIBED].to(self.z.device)
        statistics = WeightStatistics()
        of_some = None if labels is None else labels.to(self.z.device)[some]
        statistics.add(self.block(some, some), of_some)
        return statistics.read()


def weights_of(
    hardness: Hardness,
    z: Tensor,
    *,
    labels: Tensor | None = None,
    numbers: Tensor | None = None,
    sampled: bool = False,
) -> PairWeights | BlockWeights:
    """Store the weights of all pairs of rows of z (N, D), or compute them when they are needed.

    That depends on their number: see `MOST_PAIRS`. `sampled` says whether a step samples its
    negatives; `labels` and `numbers` are as in `BlockWeights`.

    >>> type(weights_of(Uniform(), torch.eye(3))).__name__
    'PairWeights'
    """
    if stores_weights(len(z), sampled=sampled):
        return PairWeights.of(hardness, z, labels=labels, numbers=numbers)
    return BlockWeights(hardness, z, labels, numbers=numbers)


def stores_weights(nodes: int, *, sampled: bool) -> bool:
    """Return whether `weights_of` stores the weights of all pairs of a graph with `nodes` nodes.

    >>> stores_weights(10_000, sampled=True), stores_weights(20_000, sampled=True)
    (True, False)
    """
    return nodes**2 <= (MOST_PAIRS if sampled else MOST_PAIRS_EXACT)


def _log_stripe(
    hardness: Hardness,
    z: Tensor,
    labels: Tensor | None,
    start: int,
    rows: int,
    numbers: Tensor | None = None,
) -> Tensor:
    """Return log w (rows, N) of the anchors from `start` on against all nodes."""
    some = z[start : start + rows]
    every = z.roll(-start, 0)  # a hardness expects that row i of both is the same node
    shifted = None if labels is None else labels.roll(-start, 0)
    if numbers is None:
        given = for_batch(hardness, shifted, first=start)
    else:
        given = for_batch(hardness, shifted, numbers=numbers.roll(-start, 0))
    log_w = given.log_weights(some, every, cosine(some, every))
    if log_w is None:
        log_w = torch.zeros(len(some), len(z), device=z.device)
    return log_w.roll(start, 1)


def striped_mass(z: Tensor, tau: float, weights: BlockWeights) -> Tensor:
    """Return the same as `negative_mass`, with weights that are not stored.

    They are computed twice per step, for the forward and for the backward pass.
    """
    nodes = len(z) // 2

    def part(rows: Tensor, every: Tensor, start: int) -> Tensor:
        count = len(rows) // 2
        e = ((rows @ every.t() - 1) / tau).exp()
        w = weights.block(slice(start, start + count), slice(None))
        w[torch.arange(count), torch.arange(start, start + count)] = 0  # a node and itself
        return (e * w.repeat(2, 2)).sum(1)

    masses, (number, size) = [], processes.share()
    for turn, start in enumerate(range(0, nodes, STRIPE)):
        rows = torch.cat([view[start : start + STRIPE] for view in z.split(nodes)])
        if turn % size != number:  # a stripe of another process
            masses.append(rows.new_zeros(2, len(rows) // 2))
            continue
        masses.append(checkpoint(part, rows, z, start, use_reentrant=False).view(2, -1))
    return torch.cat(masses, dim=1).flatten()


def negative_mass(
    z: Tensor, tau: float, *, weights: PairWeights | None = None, tile: int = TILE
) -> Tensor:
    """Return the exact mass of each unit row of z (2N, D), times exp(−1/τ), (2N,).

    Row i and row i + N are the two views of node i; the negatives of a row are all rows of other
    nodes. τ must be at least 0.02.

    >>> z = torch.tensor([[1.0, 0.0], [0.0, 1.0]]).repeat(2, 1)  # two nodes, two equal views
    >>> negative_mass(z, tau=1.0)  # two negatives each, all at cosine 0: 2/e
    tensor([0.7358, 0.7358, 0.7358, 0.7358])
    """
    mass: Tensor = _Mass.apply(z, tau, weights, tile)  # type: ignore[no-untyped-call]
    return mass


def sampled_mass(
    z: Tensor,
    tau: float,
    columns: Tensor,
    *,
    weights: PairWeights | BlockWeights | None = None,
) -> Tensor:
    """Estimate the masses (2N,) from sampled negatives, the nodes `columns` (M,); unbiased.

    The sum of an anchor runs over the drawn nodes other than itself and is multiplied by (N − 1)
    divided by their number. The (2N, 2M) matrix of exponentials is kept for the backward pass.

    >>> z = torch.tensor([[1.0, 0.0], [0.0, 1.0]]).repeat(2, 1)  # two nodes, two equal views
    >>> sampled_mass(z, 1.0, torch.tensor([0, 1]))  # all nodes drawn: as `negative_mass`
    tensor([0.7358, 0.7358, 0.7358, 0.7358])
    """
    nodes = len(z) // 2
    number, size = processes.share()
    if size == 1:
        every = torch.arange(nodes, device=z.device)
        w = None if weights is None else weights.block(slice(None), columns)
        return _sampled_rows(z, z, every, tau, columns, w)
    rows = torch.arange(nodes, device=z.device).tensor_split(size)[number]
    w = None
    if isinstance(weights, BlockWeights):  # the stripes of one process, so that weights are equal
        stripes = weights.stripes(nodes, len(columns))[number::size]
        rows = torch.cat([rows[:0], *stripes])
        here = torch.arange(len(rows), device=z.device).split([len(some) for some in stripes])
        w = weights.block(rows, columns, stripes=here)
    elif weights is not None:
        w = weights.block(rows, columns)
    part = _sampled_rows(z[torch.cat([rows, rows + nodes])], z, rows, tau, columns, w)
    return z.new_zeros(2, nodes).index_copy(1, rows, part.view(2, -1)).flatten()


def _sampled_rows(
    of_rows: Tensor, z: Tensor, rows: Tensor, tau: float, columns: Tensor, w: Tensor | None
) -> Tensor:
    """Return the masses (2R,) of the nodes `rows` (R,), whose views are `of_rows` (2R, D)."""
    nodes = len(z) // 2
    both = torch.cat([columns, columns + nodes])
    place = torch.full((nodes,), -1, device=z.device)
    place[rows] = torch.arange(len(rows), device=z.device)
    drawn = len(columns) - torch.bincount(columns, minlength=nodes)[rows]
    mass: Tensor
    mass = _SampledMass.apply(of_rows, z[both], tau, place[columns], w)  # type: ignore[no-untyped-call]
    return mass * ((nodes - 1) / drawn.clamp_min(1)).repeat(2)


class _SampledMass(torch.autograd.Function):
    """Σ_b w_ab · exp((z_a · z_b − 1) / τ) of rows (2R, D) over columns (2M, D).

    Some nodes at a time: their exponentials stay in the cache until they are weighed and summed.
    `own` (M,) is the row of each column's node, or −1; w is (R, M).
    """

    @staticmethod
    def forward(
        ctx: Any, rows: Tensor, columns: Tensor, tau: float, own: Tensor, w: Tensor | None
    ) -> Tensor:
        scaled = rows * (1 / (tau * math.log(2)))  # exp2 takes two thirds of the time of exp
        columns_t = columns.t().contiguous()
        kept = rows.new_empty(len(rows), len(columns)) if any(ctx.needs_input_grad[:2]) else None
        mass = rows.new_empty(len(rows))

        def add_up(parts: Sequence[slice]) -> None:
            for part in parts:
                some = ((own >= part.start) & (own < part.stop)).nonzero()[:, 0]
                for of in _views(part, rows):
                    e = torch.mm(scaled[of], columns_t, out=None if kept is None else kept[of])
                    pairs = e.exp2_().view(len(e), 2, -1)
                    pairs[own[some] - part.start, :, some] = 0
                    if w is not None:
                        pairs *= w[part, None]
                    mass[of] = e.sum(1)

        in_shares(add_up, _row_parts(rows), rows.device)
        ctx.save_for_backward(rows, columns, kept)
        ctx.tau = tau
        return mass.mul_(math.exp(-1 / tau))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        rows, columns, e = ctx.saved_tensors
        grad = (grad * (math.exp(-1 / ctx.tau) / ctx.tau))[:, None]
        d_rows, rows_t = torch.empty_like(rows), rows.t().contiguous()

        def pull(parts: Sequence[slice]) -> Tensor:
            d_columns_t: Tensor = torch.zeros_like(columns).t().contiguous()
            for part in parts:
                for of in _views(part, rows):
                    d_s = e[of] * grad[of]
                    torch.mm(d_s, columns, out=d_rows[of])
                    d_columns_t.addmm_(rows_t[:, of], d_s)
            return d_columns_t

        d_columns = _sum(in_shares(pull, _row_parts(rows), rows.device)).t()
        return d_rows, d_columns, None, None, None


def _row_parts(rows: Tensor) -> Sequence[slice]:
    """Return the nodes of rows (2R, D) whose sampled negatives are worked on at a time."""
    nodes = len(rows) // 2
    step = SAMPLED_ROWS if rows.device.type == "cpu" else nodes
    starts = range(0, max(nodes, 1), max(step, 1))  # a process may have none
    return [slice(start, min(start + step, nodes)) for start in starts]


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
            d_z_t = torch.zeros_like(z_t)  # BLAS is faster if the tile need not be transposed
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
    """The exponentials of some rows of z against some others."""

    rows: slice
    columns: slice
    exponentials: Tensor
    weights: tuple[Tensor, Tensor] | None
    """Weights of the columns as negatives of the rows, and the reverse; both (rows, columns)."""


def _sum_over_tiles(
    z: Tensor,
    tau: float,
    weights: PairWeights | None,
    tile: int,
    work: Callable[[Iterator[_Tile]], Tensor],
) -> Tensor:
    """Return the sum of what `work` makes of the tiles, divided into shares."""
    starts = range(0, len(z) // 2, tile)
    parts = [slice(start, min(start + tile, len(z) // 2)) for start in starts]
    pairs = [(first, second) for i, first in enumerate(parts) for second in parts[i:]]
    number, size = processes.share()
    pairs = pairs[number::size]
    if not pairs:
        return work(iter(()))
    found = in_shares(lambda share: work(_tiles(z, tau, weights, share)), pairs, z.device)
    return _sum(found)


def _tiles(
    z: Tensor, tau: float, weights: PairWeights | None, pairs: Sequence[tuple[slice, slice]]
) -> Iterator[_Tile]:
    """Yield the tiles of exponentials for pairs of node ranges, with 0 for a node with itself.

    The two views of a pair of ranges make three or four tiles, which share the same weights. All
    tiles share one buffer: use each tile before asking for the next.
    """
    size = max(part.stop - part.start for pair in pairs for part in pair)
    memory = z.new_empty(size * size)
    scaled = z * (1 / (tau * math.log(2)))  # exp2 takes two thirds of the time of exp
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


def _sum(shares: list[Tensor]) -> Tensor:
    for share in shares[1:]:
        shares[0] += share
    return shares[0]


def _views(part: slice, z: Tensor) -> tuple[slice, slice]:
    """Return the rows of z of a range of nodes in the first and in the second view."""
    nodes = len(z) // 2
    return part, slice(part.start + nodes, part.stop + nodes)
