"""Personalised PageRank: S = α (I − (1 − α) Â)^{-1}, Â = D̂^{-1/2} (A + I) D̂^{-1/2}.

A holds the weights of the edges, if they have any.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from augcl.ops.csr import Adjacency, Rows, propagate
from augcl.ops.segments import pointer, segment_ids

BLOCK = 512
"""Columns of S computed at a time."""


def diffuse(h: Tensor, edges: Adjacency, alpha: float, *, error: float = 1e-6) -> Tensor:
    """Return S h for node values h (N, D), with as many sparse products as `error` needs.

    Uses Chebyshev's semi-iteration: for α = 0.2 every step halves the error, whereas a step of the
    plain power iteration reduces it by a fifth.

    >>> edge = Adjacency.from_edges(torch.tensor([[0, 1], [1, 0]]), 2)
    >>> diffuse(torch.eye(2), edge, 0.5).round(decimals=4).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    radius = 1 - alpha  # Â has eigenvalues from −1 to 1
    if radius == 0:
        return h
    root = math.sqrt(1 - radius**2)
    rate = math.sqrt((1 - root) / (1 + root))
    before, now = h * alpha, radius * propagate(h * alpha, edges) + h * alpha
    omega = 2 / (2 - radius**2)
    for _ in range(math.ceil(math.log(error / 2) / math.log(rate))):
        further = radius * propagate(now, edges) + h * alpha
        before, now = now, before + omega * (further - before)
        omega = 1 / (1 - radius**2 * omega / 4)
    return now


def diffuse_in_steps(
    h: Tensor, edges: Adjacency, *, alpha: float, steps: int, start: Tensor | None = None
) -> Tensor:
    """Approximate S h for node values h (V, D) of a batch of graphs by `steps` sparse products.

    The power iteration y ← α h + (1 − α) Â y starts at y = h; its error is below (1 − α)^steps.
    To go on with an earlier result, give it as `h` and what that started from as `start`.

    >>> edge = Adjacency.from_edges(torch.tensor([[0, 1], [1, 0]]), 2)
    >>> h = torch.tensor([[1.0], [0.0]])
    >>> [round(v, 3) for v in diffuse_in_steps(h, edge, alpha=0.5, steps=16).flatten().tolist()]
    [0.75, 0.25]
    """
    mixed, start = h, h if start is None else start
    for _ in range(steps):
        mixed = torch.add(alpha * start, propagate(mixed, edges), alpha=1 - alpha)
    return mixed


def smoothed(x: Tensor, edges: Adjacency, *, alpha: float = 0.1, steps: int = 10) -> Tensor:
    """Return node values x (N, D) minus their mean, diffused in `steps`, and minus the mean again.

    Cosines of the rows then compare what is around two nodes with what is around an average node.

    >>> edge = Adjacency.from_edges(torch.tensor([[0, 1], [1, 0]]), 3)
    >>> smoothed(torch.tensor([[3.0], [1.0], [2.0]]), edge, steps=1).flatten().tolist()
    [0.10000000149011612, -0.10000000149011612, 0.0]
    """
    diffused = diffuse_in_steps(x - x.mean(0), edges, alpha=alpha, steps=steps)
    return diffused - diffused.mean(0)


@torch.no_grad()
def strongest_diffusion(edges: Adjacency, alpha: float, keep: int, *, block: int = BLOCK) -> Rows:
    """Return the entries of S that are among the `keep` largest of their row or their column.

    Columns are computed a block at a time. S is symmetric, and so is the result.

    >>> path = Adjacency.from_edges(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), 3)
    >>> strongest_diffusion(path, 0.2, keep=1).indices.tolist()  # each node's own entry is largest
    [0, 1, 2]
    """
    nodes = len(edges.incoming.ptr) - 1
    device = edges.incoming.ptr.device
    own = torch.arange(nodes, device=device)
    found: list[tuple[Tensor, Tensor]] = []
    for columns in own.split(block):
        unit = torch.zeros(nodes, len(columns), device=device)
        unit[columns, torch.arange(len(columns), device=device)] = 1
        values, place = diffuse(unit, edges, alpha).t().topk(min(keep, nodes), dim=1)
        reached = values > 0
        key = (columns[:, None] * nodes + place)[reached]
        mirrored = (place * nodes + columns[:, None])[reached]
        found.append((torch.cat([key, mirrored]), values[reached].repeat(2)))
    keys, values = (torch.cat(part) for part in zip(*found, strict=True))
    key, place = keys.unique(return_inverse=True)
    strength = values.new_zeros(len(key)).scatter_reduce_(0, place, values, "amax")
    counts = torch.bincount(key // nodes, minlength=nodes)
    return Rows(key % nodes, pointer(counts), strength)


def normalised_adjacency(edges: Adjacency, *, loops: int = 1) -> Rows:
    """Return D̂^{-1/2} (A + loops · I) D̂^{-1/2} of a symmetric A as a sparse matrix.

    A holds the weights of the edges, if they have any.

    >>> edge = Adjacency.from_edges(torch.tensor([[0, 1], [1, 0]]), 2)
    >>> normalised_adjacency(edge, loops=3).values.tolist()
    [0.25, 0.75, 0.25, 0.75]
    """
    ptr, column = edges.incoming.ptr, edges.incoming.indices
    own = torch.arange(len(ptr) - 1, device=ptr.device)
    row, column = torch.cat([segment_ids(ptr), own]), torch.cat([column, own])
    root = (edges.incoming.totals() + loops).float().rsqrt()
    root.masked_fill_(root.isinf(), 0.0)  # no loops, and nothing but edges of weight 0
    entry = torch.ones(len(row), device=ptr.device)
    entry[len(row) - len(own) :] = loops
    if edges.incoming.values is not None:
        entry[: len(row) - len(own)] = edges.incoming.values
    values = root[row] * entry * root[column]
    return Rows.from_pairs(row, column, len(own), values=values, ordered=False)


def window(matrix: Rows, first: int, size: int) -> Rows:
    """Cut rows and columns first … first + size − 1 out of a square matrix.

    >>> whole = Rows(torch.tensor([0, 1, 0, 2]), torch.tensor([0, 1, 2, 4]))  # columns by row
    >>> window(whole, 1, 2)
    Rows(indices=tensor([0, 1]), ptr=tensor([0, 1, 2]), values=None)
    """
    start, end = int(matrix.ptr[first]), int(matrix.ptr[first + size])
    column = matrix.indices[start:end] - first
    inside = (column >= 0) & (column < size)
    row = segment_ids(matrix.ptr[first : first + size + 1] - start)
    values = None if matrix.values is None else matrix.values[start:end][inside]
    return Rows(column[inside], pointer(torch.bincount(row[inside], minlength=size)), values)
