"""Node dropping for the victims of attacks: as meant, and as the released code computes it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from augcl.data.graph import GraphSet
from augcl.errors import one_of
from augcl.ops.segments import pointer, ranges
from augcl.views.basic import NodeDrop

FORMS = ("intended", "authors", "plain")


@dataclass(frozen=True)
class VictimDrop:
    """Remove floor(ratio · n) nodes with their edges.

    Parameters
    ----------
    ratio : float
    form : {"intended", "authors", "plain"}
        "intended": every kept node gets a self-loop besides, which the original graph has not.
        "authors": the list of edges and self-loops, stored as 64-bit numbers, is read as 32-bit
        ones. Every second number is then 0, and the reader takes as many edges as the *original*
        graph has: entry q of the list becomes an edge to the first node, in both directions.
        What is left is a star with many-fold edges. "plain": only the nodes are removed.
    """

    ratio: float = 0.2
    form: str = "intended"

    def __call__(self, graphs: GraphSet, generator: torch.Generator) -> GraphSet:
        """The changed batch: graph i of the result is a view of graph i."""
        one_of(self.form, FORMS, "form of the view")
        kept = NodeDrop(self.ratio)(graphs, generator)
        if self.form == "plain":
            return kept
        loops = torch.arange(kept.num_nodes, device=kept.device).expand(2, -1)
        if self.form == "intended":
            return _with_edges(kept, torch.cat([kept.edge_index, loops], 1), symmetric=True)
        once = kept.edge_index[:, kept.edge_index[0] < kept.edge_index[1]]
        ends = _star_ends(kept, torch.cat([loops, once], 1), graphs.edge_ptr.diff() // 2)
        centre = kept.node_ptr[kept.graph_of_node[ends]]
        both = torch.stack([torch.cat([ends, centre]), torch.cat([centre, ends])])
        return _with_edges(kept, both, symmetric=True)


def _star_ends(kept: GraphSet, entries: Tensor, wanted: Tensor) -> Tensor:
    """The first `wanted[g]` numbers of each graph's row-major list of edge entries.

    Where that list is too short the released code reads past its end; here it starts again.
    """
    order = torch.argsort(entries[0] * kept.num_nodes + entries[1])
    numbers = entries[:, order].t().flatten()  # r0, c0, r1, c1, …
    length = 2 * torch.bincount(kept.graph_of_node[entries[0]], minlength=len(kept))
    graph = torch.repeat_interleave(wanted)
    position = ranges(torch.zeros_like(wanted), wanted) % length[graph]
    return numbers[pointer(length)[:-1][graph] + position]


def _with_edges(graphs: GraphSet, edges: Tensor, *, symmetric: bool) -> GraphSet:
    source, order = edges[0].sort(stable=True)
    counts = torch.bincount(graphs.graph_of_node[source], minlength=len(graphs))
    return replace(
        graphs,
        edge_index=torch.stack([source, edges[1][order]]),
        edge_ptr=pointer(counts),
        symmetric=symmetric,
    )
