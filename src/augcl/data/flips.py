"""Edges added to and taken from graphs."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from augcl.data.graph import GraphSet
from augcl.ops.segments import pointer


def flip_edges(graphs: GraphSet, pairs: Tensor) -> GraphSet:
    """Take away the edges among `pairs` that are there, add those that are not.

    Parameters
    ----------
    graphs : GraphSet
        Undirected; attributes of edges are not kept, a new edge has none.
    pairs : (2, P) int64
        Different pairs of different nodes of one graph each, in any order and one direction.

    Examples
    --------
    >>> path = GraphSet.from_arrays(
    ...     pairs=torch.tensor([[0, 1], [1, 2]]),
    ...     graph_of_node=torch.zeros(3, dtype=torch.long),
    ...     num_graphs=1,
    ... )
    >>> flip_edges(path, torch.tensor([[2, 0], [0, 1]])).edge_index.tolist()
    [[0, 1, 2, 2], [2, 2, 0, 1]]
    """
    nodes = graphs.num_nodes
    flipped = torch.cat([pairs[0] * nodes + pairs[1], pairs[1] * nodes + pairs[0]]).sort().values
    keys = graphs.edge_keys
    place = torch.searchsorted(keys, flipped)
    there = found_at(keys, flipped, place)
    kept = torch.ones_like(keys, dtype=torch.bool).index_fill_(0, place[there], False)
    old, new = keys[kept], flipped[~there]
    # Both are in order: each new one goes behind the old ones that are smaller and stay.
    gone_before = there.cumsum(0)[~there]
    behind = place[~there] - gone_before + torch.arange(len(new), device=new.device)
    is_new = torch.zeros(len(old) + len(new), dtype=torch.bool, device=keys.device)
    is_new.index_fill_(0, behind, True)
    merged = keys.new_empty(len(is_new))
    merged.masked_scatter_(~is_new, old).masked_scatter_(is_new, new)
    source = merged.div(nodes, rounding_mode="floor")
    graph = graphs.graph_of_node
    more = torch.bincount(graph[new.div(nodes, rounding_mode="floor")], minlength=len(graphs))
    gone = flipped[there].div(nodes, rounding_mode="floor")
    less = torch.bincount(graph[gone], minlength=len(graphs))
    return replace(
        graphs,
        edge_index=torch.stack([source, merged - source * nodes]),
        edge_ptr=pointer(graphs.edge_ptr.diff() + more - less),
        edge_attr=None,
    )


def is_edge(graphs: GraphSet, pairs: Tensor) -> Tensor:
    """(P,) whether the pair is joined."""
    keys, wanted = graphs.edge_keys, pairs[0] * graphs.num_nodes + pairs[1]
    return found_at(keys, wanted, torch.searchsorted(keys, wanted))


def found_at(keys: Tensor, wanted: Tensor, place: Tensor) -> Tensor:
    """Whether what is wanted stands at its place among the ordered keys."""
    if not len(keys):
        return torch.zeros_like(wanted, dtype=torch.bool)
    return keys[place.clamp_max(len(keys) - 1)] == wanted
