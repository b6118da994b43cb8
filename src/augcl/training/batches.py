"""Batches of an epoch, and the statistics that batch norm uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from augcl.data.graph import GraphSet
from augcl.data.node_graph import NodeGraph
from augcl.errors import InputError
from augcl.ops.cosine import TIE_STEPS, unit_rows
from augcl.views.nodes import NodeViews, TwoViews

GROUP = 8
"""Similar graphs that `neighbor_batches` puts side by side."""


def fixed_batches(graphs: GraphSet, size: int, generator: torch.Generator) -> list[GraphSet]:
    """Shuffle the graphs once and cut them into batches; a last batch of one joins the one before.

    The members of a batch never change (as in the published code), so what depends on the batch
    alone, such as its adjacency, is computed once. A batch of one graph has no negatives.
    """
    return _cut(graphs, _shuffled(graphs, generator), size)


def neighbor_batches(
    graphs: GraphSet, rows: Tensor, size: int, generator: torch.Generator
) -> list[GraphSet]:
    """Fill batches with groups of `GROUP` similar graphs: negatives are harder than random ones.

    In random order, each graph that has no group yet forms one with the nearest graphs, by the
    cosine of their `rows` (G, D), that have none; of equally near ones the first. A batch holds
    `size` / `GROUP` groups in random order, and each graph is in one batch.
    """
    order, units, count = _shuffled(graphs, generator), unit_rows(rows.cpu()), len(graphs)
    place = torch.arange(count - 1, -1, -1)
    grouped = torch.zeros(count, dtype=torch.bool)
    groups = []
    for seed in order.tolist():
        if grouped[seed]:
            continue
        nearness = (units @ units[seed]).mul_(TIE_STEPS).round_().long() * count + place
        nearness[seed] = torch.iinfo(torch.int64).max
        nearness[grouped] = torch.iinfo(torch.int64).min
        group = nearness.topk(min(GROUP, count - int(grouped.sum()))).indices
        grouped[group] = True
        groups.append(group)
    whole = len(groups) - (len(groups[-1]) < GROUP)
    last = torch.arange(whole, len(groups))  # a group that is not full ends the last batch
    shuffled = torch.cat([torch.randperm(whole, generator=generator), last])
    return _cut(graphs, torch.cat([groups[number] for number in shuffled.tolist()]), size)


def _shuffled(graphs: GraphSet, generator: torch.Generator) -> Tensor:
    if not len(graphs):
        raise InputError(f"{graphs.name} holds no graphs: give at least one")
    if len(graphs) == 1:
        raise InputError(f"{graphs.name} has one graph: contrasting needs two or more")
    return torch.randperm(len(graphs), generator=generator, device=generator.device)


def _cut(graphs: GraphSet, order: Tensor, size: int) -> list[GraphSet]:
    """Return batches of the graphs in that order; a last batch of one joins the one before."""
    parts = list(torch.split(order, size))
    if len(parts) > 1 and len(parts[-1]) == 1:
        parts[-2:] = [torch.cat(parts[-2:])]
    return [graphs.select(part) for part in parts]


class NodeBatch:
    """All nodes of one graph: the only batch per epoch of a node method, or a part of a larger one.

    Attributes
    ----------
    graph : NodeGraph
    views : NodeViews
        Makes views of the graph; ``views.clean`` is the graph itself.
    pair : TwoViews or None
        Draws two views, for a method that has set it.
    labels : (N,) Tensor or None
    ids : (N,) Tensor or None
        The numbers of the nodes in the larger graph; None if the batch is the whole graph.
    """

    pair: TwoViews | None = None

    def __init__(self, graph: NodeGraph, ids: Tensor | None = None) -> None:
        self.graph = graph
        self.ids = None if ids is None else ids.to(graph.x.device)
        self.views = NodeViews(graph)
        self.labels = None if graph.labels is None else graph.labels.to(graph.x.device)

    def __len__(self) -> int:
        return self.graph.num_nodes


@contextmanager
def batch_statistics(network: nn.Module) -> Iterator[None]:
    """Normalise each batch by its own statistics, as in training; leave the running averages."""
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
    """Normalise every batch by the running averages, as in evaluation."""
    network.eval()
    try:
        yield
    finally:
        network.train()


STATISTICS: dict[str, Callable[[nn.Module], AbstractContextManager[None]]] = {
    "batch": batch_statistics,
    "running": running_statistics,
}
"""Both kinds of statistics, by the names that recipes use."""
