"""Small connected parts: the authors' one-hop star and a true random-walk growth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from augcl.data.graph import GraphSet
from augcl.errors import one_of
from augcl.ops.segments import pointer, random_below, random_element, uniform
from augcl.views.edit import Edit, View, share


@dataclass(frozen=True)
class Subgraph(View):
    """Keep up to floor(ratio · n) + 1 nodes around a random seed, with the edges among them.

    ``growth="star"`` draws, with replacement and at most n times, from the seed's direct
    neighbours: what the published code does. ``growth="walk"`` follows a random walk of at most
    n steps from the seed, which is what the text means. `self_loops` puts one on every kept node,
    as the release does.
    """

    ratio: float = 0.2
    growth: str = "star"
    self_loops: bool = True

    def edit(self, graphs: GraphSet, active: Tensor, generator: torch.Generator) -> Edit:
        one_of(self.growth, ("star", "walk"), "growth of a subgraph")
        grow = _star if self.growth == "star" else _walk
        seed = random_element(graphs.node_ptr, generator)
        kept = torch.zeros(graphs.num_nodes, dtype=torch.bool, device=graphs.device)
        kept[seed[active]] = True
        grow(kept, graphs, seed, share(graphs.node_ptr.diff(), self.ratio, active), generator)
        loops = kept.nonzero().T.expand(2, -1) if self.self_loops else None
        return Edit(keep_node=kept | ~active[graphs.graph_of_node], added=loops)


def _star(
    kept: Tensor, graphs: GraphSet, seed: Tensor, more: Tensor, generator: torch.Generator
) -> None:
    """Mark up to `more` distinct neighbours of each seed, in the order in which they are drawn."""
    neighbours, start, _ = graphs.adjacency.outgoing
    degree = (start[1:] - start[:-1])[seed]
    draws = graphs.node_ptr.diff() * ((more > 0) & (degree > 0))
    graph = torch.repeat_interleave(draws)
    entry = random_below(degree.index_select(0, graph), generator)
    entry += start[seed].index_select(0, graph)
    slot = torch.arange(len(graph), device=graphs.device)
    first_slot = torch.full_like(neighbours, len(graph)).scatter_reduce_(0, entry, slot, "amin")
    is_new = first_slot.index_select(0, entry) == slot
    # How many distinct neighbours the graph has after this draw.
    distinct = torch.cumsum(is_new, 0)
    before = torch.cat([distinct.new_zeros(1), distinct])[pointer(draws)[:-1]]
    within = distinct <= (before + more).index_select(0, graph)
    kept[neighbours[entry[is_new & within]]] = True


def _walk(
    kept: Tensor, graphs: GraphSet, seed: Tensor, more: Tensor, generator: torch.Generator
) -> None:
    """Mark the nodes that a walk from each seed meets, until `more` are marked or n steps done.

    The last walks go on for hundreds of steps, few at a time: calls of NumPy cost the least there.
    """
    neighbours, start = (part.cpu().numpy() for part in graphs.adjacency.outgoing[:2])
    here, left, steps = (t.cpu().numpy() for t in (seed, more, graphs.node_ptr.diff()))
    marked = kept.cpu().numpy()
    degree = np.diff(start)
    walking = ((left > 0) & (degree[here] > 0)).nonzero()[0]
    here, left, steps = here[walking], left[walking], steps[walking]
    cpu = torch.device("cpu")
    while len(here):
        draw = uniform(len(here), generator, cpu, torch.float64).numpy()
        limit = degree[here]
        here = neighbours[start[here] + np.minimum((draw * limit).astype(np.int64), limit - 1)]
        left = left - ~marked[here]
        marked[here] = True
        steps = steps - 1
        on = (left > 0) & (steps > 0)
        if not on.all():
            here, left, steps = here[on], left[on], steps[on]
    kept.copy_(torch.from_numpy(marked))
