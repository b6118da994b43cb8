"""Mini-batches of one large graph: several parts of it, drawn at random, and the edges among them.

As Cluster-GCN (W.-L. Chiang et al., KDD 2019, arXiv:1905.07953): the graph is cut once into many
small parts with few edges between them, and every epoch deals the parts out in a new order. The
cost of an epoch is linear in the nodes and edges, and a step holds one batch.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property
from typing import Any, overload

import numpy as np
import torch
from torch import Tensor

from augcl.data.node_graph import NodeGraph
from augcl.errors import warn_user
from augcl.ops.segments import pointer
from augcl.training.batches import NodeBatch
from augcl.training.threads import give_back_memory

AUTOMATIC = 100_000
"""Nodes up to which a step takes the whole graph, unless the user says otherwise."""
USUAL = 8192
"""Nodes of a batch of a larger graph."""
PARTS = 16
"""Parts of a batch: enough that no two batches are alike, few enough that most edges are inside."""

Array = np.ndarray[Any, np.dtype[np.int64]]


def nodes_per_step(nodes: int, asked: int | None) -> int | None:
    """Return how many of a graph's nodes a step takes; None if it takes all.

    >>> nodes_per_step(50_000, None), nodes_per_step(200_000, None), nodes_per_step(50_000, 1024)
    (None, 8192, 1024)
    """
    size = (USUAL if nodes > AUTOMATIC else nodes) if asked is None else asked
    return size if size < nodes else None


class NodeParts(Sequence[NodeBatch]):
    """The batches of one large graph; each pass deals out the parts in a new order.

    Parameters
    ----------
    graph : NodeGraph
    size : int
        About the number of nodes of a batch.
    generator : Generator
        Deals out the parts.
    prepare : callable
        What is done to the graph of a batch, for instance to move it to a device.
    show : callable
        Told what is going on, for a progress bar.

    Examples
    --------
    >>> import augcl
    >>> graph = augcl.data.as_node_graph(augcl.load("digits-knn"))
    >>> batches = NodeParts(graph, 600, torch.Generator().manual_seed(0))
    >>> len(batches), sum(len(batch) for batch in batches)
    (3, 1797)
    """

    def __init__(
        self,
        graph: NodeGraph,
        size: int,
        generator: torch.Generator,
        *,
        prepare: Callable[[NodeGraph], NodeGraph] = lambda graph: graph,
        show: Callable[[str], None] = lambda doing: None,
    ) -> None:
        self.graph, self.generator = graph, generator
        self.prepare, self.show = prepare, show
        self._count = -(-graph.num_nodes // size)
        self._parts = self._count * max(1, min(PARTS, size // 4))

    @cached_property
    def _cut(self) -> tuple[Tensor, Tensor]:
        """The nodes, part after part, and (P+1,) where each part starts."""
        graph, parts = self.graph, self._parts
        self.show(f"cutting the graph into {parts} parts")
        part = partition(graph.ptr.numpy(), graph.edge_index[1].numpy(), parts)
        give_back_memory()
        nodes = torch.from_numpy(np.argsort(part, kind="stable"))
        return nodes, pointer(torch.from_numpy(np.bincount(part, minlength=parts)))

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[NodeBatch]:
        order = torch.randperm(self._parts, generator=self.generator)
        for number, parts in enumerate(order.tensor_split(self._count), 1):
            self.show(f"batch {number} of {self._count}")
            yield self._batch(parts)

    @overload
    def __getitem__(self, index: int) -> NodeBatch: ...

    @overload
    def __getitem__(self, index: slice) -> list[NodeBatch]: ...

    def __getitem__(self, index: int | slice) -> NodeBatch | list[NodeBatch]:
        """Return batches of parts that are dealt out evenly: the same ones whenever asked."""
        every = torch.arange(self._parts).view(-1, self._count).t()
        if isinstance(index, slice):
            return [self._batch(parts) for parts in every[index]]
        return self._batch(every[index])

    def _batch(self, parts: Tensor) -> NodeBatch:
        nodes, ptr = self._cut
        pieces = [nodes[ptr[p] : ptr[p + 1]] for p in parts.tolist()]
        ids = torch.cat(pieces).sort().values
        return NodeBatch(self.prepare(self.graph.among(ids)), ids)


def partition(ptr: Array, neighbours: Array, parts: int) -> Array:
    """Return (N,) the part of each node: by METIS if pymetis is installed, else breadth first.

    Parameters
    ----------
    ptr : (N+1,) int64
    neighbours : (E,) int64
        Those of node v are ``neighbours[ptr[v]:ptr[v+1]]``; each edge is there in both directions.
    parts : int

    Examples
    --------
    >>> path = np.array([0, 1, 3, 5, 6]), np.array([1, 0, 2, 1, 3, 2])
    >>> sorted(np.bincount(partition(*path, 2)).tolist())
    [2, 2]
    """
    if importlib.util.find_spec("pymetis") is None:
        _say_once()
        return grown_parts(ptr, neighbours, parts)
    import pymetis

    # More rounds take twice as long and keep 1 % more of the edges inside.
    options = pymetis.Options(seed=0, niter=1)
    adjacency = pymetis.CSRAdjacency(ptr, neighbours)
    found = pymetis.part_graph(parts, adjacency, options=options, recursive=False)
    part = np.asarray(found.vertex_part, dtype=np.int64)
    if np.bincount(part, minlength=parts).min() == 0:  # many parts of a tiny graph
        return grown_parts(ptr, neighbours, parts)
    return part


@cache
def _say_once() -> None:
    warn_user(
        "pymetis is not installed: parts of the graph are grown breadth first, with more edges "
        "between them; pip install 'augcl[large]' for METIS"
    )


def grown_parts(ptr: Array, neighbours: Array, parts: int) -> Array:
    """Return (N,) parts of equal size, each grown breadth first from the first node still free.

    Where a part cannot grow further, it goes on from other free nodes.

    >>> path = np.array([0, 1, 3, 5, 6]), np.array([1, 0, 2, 1, 3, 2])
    >>> grown_parts(*path, 2).tolist()
    [0, 0, 1, 1]
    """
    nodes = len(ptr) - 1
    part = np.full(nodes, -1)
    ends = np.arange(1, parts + 1) * nodes // parts
    first = done = 0  # all nodes before `first` have a part
    for number, end in enumerate(ends.tolist()):
        front, starts = np.empty(0, np.int64), 1
        while done < end:
            front = _free_neighbours(ptr, neighbours, part, front)
            if not len(front):
                while part[first] >= 0:
                    first += 1
                window = np.arange(first, min(nodes, first + 4 * starts))
                front, starts = window[part[window] < 0][:starts], 2 * starts
            front = front[: end - done]
            part[front] = number
            done += len(front)
    return part


def _free_neighbours(ptr: Array, neighbours: Array, part: Array, front: Array) -> Array:
    """Return the nodes without a part that are next to those of the front, in order."""
    lengths = ptr[front + 1] - ptr[front]
    first = np.repeat(ptr[front] - (np.cumsum(lengths) - lengths), lengths)
    reached = neighbours[first + np.arange(len(first))]
    return np.unique(reached[part[reached] < 0])
