"""A different view for every graph, drawn from a list; and the lists that have names."""

from __future__ import annotations

import torch
from torch import Tensor

from augcl.data.graph import GraphSet
from augcl.errors import one_of
from augcl.ops.segments import uniform
from augcl.views.basic import AttributeMask, EdgePerturb, Identity, NodeDrop
from augcl.views.edit import Edit, View
from augcl.views.subgraph import Subgraph


class OneOf(View):
    """One of several views for each graph, uniformly at random, anew at every call.

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

    def by(self, choice: Tensor, graphs: GraphSet, generator: torch.Generator) -> GraphSet:
        """The changed batch, where graph i goes through view number ``choice[i]``."""
        edit = Edit()
        for number in choice.unique().tolist():
            edit = edit.and_then(self.views[number].edit(graphs, choice == number, generator))
        return edit.apply(graphs)


def named_view(mode: str, *, growth: str = "star") -> View:
    """The views with names: single ones, and the paper's choices random2, random3 and random4."""
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
