"""Node features made from what a graph set holds."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from augcl.data.graph import GraphSet
from augcl.errors import InputError, one_of

KINDS = ("auto", "constant", "degree", "log-degree", "attributes")


def node_features(graphs: GraphSet, kind: str = "auto", *, cap: int = 64) -> GraphSet:
    """The same graphs with other node features.

    The width never depends on the graphs at hand, so a model trained on one set embeds another.

    Parameters
    ----------
    graphs : GraphSet
        V nodes with F features and, perhaps, A attributes.
    kind : str
        ``"auto"``: as read, (V, F). ``"constant"``: 1 for every node, (V, 1).
        ``"degree"``: one-hot of the degree, (V, cap + 1); from `cap` on they share the last.
        ``"log-degree"``: log(1 + degree), (V, 1).
        ``"attributes"``: the features as read, then the continuous attributes, (V, F + A).
    cap : int
        Largest degree with a column of its own.

    Examples
    --------
    >>> path = GraphSet.from_arrays(
    ...     pairs=torch.tensor([[0, 1], [1, 2]]), graph_of_node=torch.zeros(3).long(), num_graphs=1
    ... )
    >>> node_features(path, "degree", cap=3).x.int().tolist()
    [[0, 1, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0]]
    """
    one_of(kind, KINDS, "node features")
    if kind == "auto":
        return graphs
    if kind == "constant":
        x = torch.ones(graphs.num_nodes, 1, device=graphs.device)
    elif kind == "degree":
        if cap < 0:
            raise InputError(f"cap of the degree features is {cap}: give 0 or more")
        x = one_hot(degrees(graphs).clamp(max=cap), cap + 1).to(torch.float32)
    elif kind == "log-degree":
        x = degrees(graphs).to(torch.float32).log1p().unsqueeze(1)
    elif graphs.node_attr is None:
        raise InputError(
            f"{graphs.name} has no continuous node attributes: choose node features from "
            f"{', '.join(KINDS[:-1])}"
        )
    else:
        x = torch.cat([graphs.x, graphs.node_attr], dim=1)
    return replace(graphs, x=x)


def degrees(graphs: GraphSet) -> Tensor:
    """(V,) int64: the number of neighbours of each node."""
    return torch.bincount(graphs.edge_index[0], minlength=graphs.num_nodes)
