"""Augmentations of a batch of graphs: drop nodes or edges, mask features, keep a part.

Each changes all graphs of the batch at once; `named_view` knows those of the paper by name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from augcl.data.graph import GraphSet
from augcl.errors import InputError, one_of
from augcl.ops.segments import (
    pointer,
    random_below,
    random_element,
    random_subset,
    segment_ids,
    segment_sum,
    uniform,
)
from augcl.views.edit import Edit, View, share

Augmentation = Callable[[GraphSet, torch.Generator], GraphSet]
"""From a batch to a view of it: graph i of the result is a view of graph i."""


@dataclass(frozen=True)
class Identity(View):
    """The graph as it is."""

    def edit(self, graphs: GraphSet, active: Tensor, generator: torch.Generator) -> Edit:
        return Edit()


@dataclass(frozen=True)
class NodeDrop(View):
    """Remove floor(ratio · n) nodes with their edges; at least one node stays."""

    ratio: float = 0.1

    def edit(self, graphs: GraphSet, active: Tensor, generator: torch.Generator) -> Edit:
        size = graphs.node_ptr.diff()
        count = torch.minimum(share(size, self.ratio, active), size - 1)
        return Edit(keep_node=~random_subset(graphs.node_ptr, count, generator))


@dataclass(frozen=True)
class EdgePerturb(View):
    """Remove floor(ratio · m) edge entries and add as many random ordered pairs of nodes.

    Entries are directed, as published: one direction of an edge may go and the other stay, and a
    new pair may be a self-loop or a duplicate. ``add=False`` only removes. Where edges have
    features, those of a new pair are 0.
    """

    ratio: float = 0.1
    add: bool = True

    def edit(self, graphs: GraphSet, active: Tensor, generator: torch.Generator) -> Edit:
        count = share(graphs.edge_ptr.diff(), self.ratio, active)
        keep_edge = ~random_subset(graphs.edge_ptr, count, generator)
        if not self.add:
            return Edit(keep_edge=keep_edge, symmetric=False)
        graph = torch.repeat_interleave(count)
        start, size = graphs.node_ptr[graph], graphs.node_ptr.diff()[graph]
        ends = [start + random_below(size, generator) for _ in range(2)]
        return Edit(keep_edge=keep_edge, added=torch.stack(ends), symmetric=False)


@dataclass(frozen=True)
class AttributeMask(View):
    """Replace the features of floor(ratio · n) nodes by zeros, the graph's mean, or noise.

    Noise is N(0.5, 0.5²), as in GraphCL's unsupervised branch; zeros are the AUGCL release's way.
    Where edges have features, those of all edges of these nodes become 0, whatever `fill` says.
    """

    ratio: float = 0.1
    fill: str = "zero"

    def edit(self, graphs: GraphSet, active: Tensor, generator: torch.Generator) -> Edit:
        one_of(self.fill, ("zero", "mean", "noise"), "fill of a masked feature")
        masked = random_subset(
            graphs.node_ptr, share(graphs.node_ptr.diff(), self.ratio, active), generator
        )
        return Edit(masked=masked, filling=self._filling(graphs, generator))

    def _filling(self, graphs: GraphSet, generator: torch.Generator) -> Tensor:
        if self.fill == "mean":
            mean = segment_sum(graphs.x, graphs.node_ptr) / graphs.node_ptr.diff()[:, None]
            return mean[segment_ids(graphs.node_ptr)]
        if self.fill == "noise":
            noise = torch.randn(graphs.x.shape, generator=generator, device=generator.device)
            return (0.5 + 0.5 * noise).to(graphs.x)
        return torch.zeros_like(graphs.x)


@dataclass(frozen=True)
class Subgraph(View):
    """Keep up to floor(ratio · n) + 1 nodes around a random seed, with the edges among them.

    ``growth="star"`` draws, with replacement and at most n times, from the seed's direct
    neighbours: what the published code does. ``growth="walk"`` follows a random walk of at most
    n steps from the seed, which is what the text means. `self_loops` puts one on every kept node,
    as the release does; where edges have features, those of a self-loop are 0.
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


class OneOf(View):
    """One of several views for each graph, drawn uniformly at every call.

    >>> from augcl.data import GraphSet
    >>> path = GraphSet.from_arrays(
    ...     pairs=torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]]),
    ...     graph_of_node=torch.zeros(5, dtype=torch.long),
    ...     num_graphs=1,
    ... )
    >>> view = OneOf(NodeDrop(0.4), Identity())
    >>> view(path, torch.Generator().manual_seed(0)).num_nodes in (3, 5)
    True
    """

    def __init__(self, *views: View) -> None:
        self.views = views

    def edit(self, graphs: GraphSet, active: Tensor, generator: torch.Generator) -> Edit:
        draw = uniform(len(graphs), generator, graphs.device) * len(self.views)
        choice = draw.long().clamp_(max=len(self.views) - 1)
        edit = Edit()
        for number, view in enumerate(self.views):
            chosen = active & (choice == number)
            edit = edit.and_then(view.edit(graphs, chosen, generator))
        return edit

    def by(self, choice: Tensor, graphs: GraphSet, generator: torch.Generator) -> Edit:
        """Return the changes, where graph i goes through view number ``choice[i]``."""
        edit = Edit()
        for number in choice.unique().tolist():
            edit = edit.and_then(self.views[number].edit(graphs, choice == number, generator))
        return edit


def named_view(mode: str, *, growth: str = "star") -> View:
    """Return the view of that name: a single one, or the paper's random2, random3 or random4."""
    drop, edges, mask = NodeDrop(), EdgePerturb(), AttributeMask()
    part = Subgraph(growth=growth)
    views: dict[str, View] = {
        "identity": Identity(),
        "node-drop": drop,
        "edge-perturb": edges,
        "subgraph": part,
        "attribute-mask": mask,
        "random2": OneOf(drop, part),
        "random3": OneOf(drop, edges, part),
        "random4": OneOf(drop, edges, part, mask),
    }
    return views[one_of(mode, views, "augmentation")]


class OwnView:
    """An augmentation of the user, whose results are checked.

    Parameters
    ----------
    augmentation : callable
        From a GraphSet and a torch.Generator to a GraphSet with as many graphs.
    """

    def __init__(self, augmentation: Augmentation) -> None:
        self.augmentation = augmentation

    def __call__(self, graphs: GraphSet, generator: torch.Generator) -> GraphSet:
        view = self.augmentation(graphs, generator)
        if not isinstance(view, GraphSet) or len(view) != len(graphs):
            found = f"{len(view)} graphs" if isinstance(view, GraphSet) else type(view).__name__
            raise InputError(
                f"augmentation {self.augmentation!r} made {found} of {len(graphs)} graphs: it must "
                "return a GraphSet whose graph i is a view of graph i"
            )
        if view.num_features != graphs.num_features:
            raise InputError(
                f"augmentation {self.augmentation!r} returned {view.num_features} node features, "
                f"expected {graphs.num_features}"
            )
        width, expected = (_edge_width(part) for part in (view, graphs))
        if width != expected:
            raise InputError(
                f"augmentation {self.augmentation!r} returned {width} edge features, expected "
                f"{expected}: give every edge of the view a row of edge_attr, or train with "
                "edge_features=False"
            )
        return view


def _edge_width(graphs: GraphSet) -> int:
    """Return the number of edge features; 0 also if they do not belong to the edges."""
    if graphs.edge_attr is None or len(graphs.edge_attr) != graphs.num_edges:
        return 0
    return graphs.edge_attr.shape[1]


def make_view(augmentation: str | Augmentation, *, growth: str = "star") -> Augmentation:
    """Return the augmentation of that name, or the user's own one with checks."""
    if isinstance(augmentation, View):
        return augmentation
    if callable(augmentation):
        return OwnView(augmentation)
    return named_view(augmentation, growth=growth)
