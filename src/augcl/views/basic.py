"""Views that drop nodes, perturb edges or mask features of a fixed share of each graph."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from augcl.data.graph import GraphSet
from augcl.errors import one_of
from augcl.ops.segments import random_below, random_subset, segment_ids, segment_sum
from augcl.views.edit import Edit, View, share


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
    new pair may be a self-loop or a duplicate. ``add=False`` only removes.
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
