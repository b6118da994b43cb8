"""Embed all nodes of a large graph layer by layer, a block of rows at a time.

The result is that of the whole graph at once, up to rounding. What is held between two layers has
as few columns as possible, because P (H W) = (P H) W.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from augcl.data.node_graph import NodeGraph
from augcl.data.sparse import rows_of
from augcl.ops.csr import Rows, SparseMatrix

ROWS = 8192
"""Rows of a block."""


class Layer(NamedTuple):
    """One layer H ↦ finish(P H W), with P = D̂^{-1/2} (A + I) D̂^{-1/2}, or P = I.

    Parameters
    ----------
    weight : (D, D') Tensor
        W.
    finish : callable
        From rows (R, D') to the rows of the output; it treats each row by itself.
    mixes : bool
        Whether the nodes are mixed by P.
    """

    weight: Tensor
    finish: Callable[[Tensor], Tensor]
    mixes: bool = True

    @property
    def narrows(self) -> bool:
        """Whether it is cheaper to multiply with W before the nodes are mixed."""
        return self.weight.shape[1] < self.weight.shape[0]


class MixedRows:
    """P = D̂^{-1/2} (A + I) D̂^{-1/2} of a graph, a block of rows at a time, on the CPU.

    >>> path = NodeGraph.from_arrays(pairs=torch.tensor([[0], [1]]), num_nodes=2)
    >>> round(MixedRows(path).times(torch.tensor([[2.0], [0.0]]), slice(0, 1)).item(), 4)
    1.0
    """

    def __init__(self, graph: NodeGraph) -> None:
        self.ptr, self.neighbours = graph.ptr.cpu(), graph.edge_index[1].cpu()
        self.weight = None if graph.edge_weight is None else graph.edge_weight.cpu()
        totals = Rows(self.neighbours, self.ptr, self.weight).totals()
        self.root = (totals + 1).float().rsqrt()

    def times(self, h: Tensor, block: slice, scales: Tensor | None = None) -> Tensor:
        """Return the rows of P (scales · h) in the block, for h (N, D) and scales (N,)."""
        first, last = int(self.ptr[block.start]), int(self.ptr[block.stop])
        columns = self.neighbours[first:last]
        factor = self.root if scales is None else self.root * scales
        entries = factor[columns]
        if self.weight is not None:
            entries = entries * self.weight[first:last]
        ptr = self.ptr[block.start : block.stop + 1] - first
        mixed = Rows(columns, ptr, entries).times(h)
        mixed += h[block] * factor[block, None]
        return mixed.mul_(self.root[block, None])


def blocks_of(nodes: int, rows: int = ROWS) -> Iterator[slice]:
    """Yield slices that cover 0 … nodes − 1.

    >>> list(blocks_of(5, 3))
    [slice(0, 3, None), slice(3, 5, None)]
    """
    for start in range(0, nodes, rows):
        yield slice(start, min(nodes, start + rows))


@torch.no_grad()
def embed_in_blocks(
    layers: Sequence[Layer],
    graph: NodeGraph,
    *,
    scales: Tensor | None = None,
    device: torch.device | None = None,
    rows: int = ROWS,
    done: Callable[[], object] = lambda: None,
) -> Tensor:
    """Return (N, D) embeddings of all nodes, on the CPU, exactly those of the whole graph.

    Parameters
    ----------
    layers : sequence of Layer
    graph : NodeGraph
        On the CPU; its features may be a memory map.
    scales : (N,) Tensor, optional
        Factors of the rows of the features.
    device : device, optional
        Where the weights of the layers are; the CPU if None. A block at a time goes there.
    rows : int
        Rows of a block.
    done : callable
        Called after each block of each layer.
    """
    device = device or torch.device("cpu")
    mixed = MixedRows(graph)
    sparse = graph.x.layout == torch.sparse_csr
    held, mapped = graph.x, sparse or layers[0].narrows or not layers[0].mixes
    if mapped:  # the features times W first
        held = torch.empty(graph.num_nodes, layers[0].weight.shape[1])
        for block in blocks_of(graph.num_nodes, rows):
            x, weight = graph.x, layers[0].weight
            if sparse:
                some = rows_of(x, torch.arange(block.start, block.stop)).to(device)
                product = SparseMatrix.from_csr(some).times(weight)
            else:
                product = x[block].to(device) @ weight
            held[block] = product.cpu() if scales is None else product.cpu() * scales[block, None]
        scales = None
    for place, layer in enumerate(layers):
        after = layers[place + 1] if place + 1 < len(layers) else None
        maps = after is not None and (after.narrows or not after.mixes)
        width = after.weight.shape[1] if after is not None and maps else layer.weight.shape[1]
        new = torch.empty(graph.num_nodes, width)
        for block in blocks_of(graph.num_nodes, rows):
            h = mixed.times(held, block, scales) if layer.mixes else held[block]
            h = h.to(device)
            h = layer.finish(h if mapped else h @ layer.weight)
            new[block] = (h @ after.weight if after is not None and maps else h).cpu()
            done()
        held, mapped, scales = new, maps, None
    return held
