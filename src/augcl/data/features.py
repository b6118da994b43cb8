"""Node features made from what a graph set holds."""

from __future__ import annotations

from collections.abc import Sequence
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
    columns: list[str] | None
    if kind == "constant":
        x, columns = torch.ones(graphs.num_nodes, 1, device=graphs.device), ["constant"]
    elif kind == "degree":
        if cap < 0:
            raise InputError(f"cap of the degree features is {cap}: give 0 or more")
        x = one_hot(degrees(graphs).clamp(max=cap), cap + 1).to(torch.float32)
        columns = [f"degree={d}" for d in range(cap)] + [f"degree>={cap}"]
    elif kind == "log-degree":
        x, columns = degrees(graphs).to(torch.float32).log1p().unsqueeze(1), ["log-degree"]
    elif graphs.node_attr is None:
        raise InputError(
            f"{graphs.name} has no continuous node attributes: choose node features from "
            f"{', '.join(KINDS[:-1])}"
        )
    else:
        x = torch.cat([graphs.x, graphs.node_attr], dim=1)
        own = graphs.columns or [f"feature{i}" for i in range(graphs.num_features)]
        columns = [*own, *(f"attribute{i}" for i in range(graphs.node_attr.shape[1]))]
    return replace(graphs, x=x, columns=columns)


def align_columns(graphs: GraphSet, columns: Sequence[str] | None) -> GraphSet:
    """The graphs with their features in the order of `columns`, where both name theirs.

    A column that the graphs lack is 0. One that they use and `columns` lacks is refused: a model
    trained with `columns` has never seen it.

    >>> node = GraphSet.from_arrays(
    ...     pairs=torch.zeros(2, 0).long(),
    ...     graph_of_node=torch.tensor([0]),
    ...     num_graphs=1,
    ...     columns=["label=2"],
    ... )
    >>> align_columns(node, ["label=1", "label=2"]).x.tolist()
    [[0.0, 1.0]]
    """
    if columns is None or graphs.columns is None or list(columns) == list(graphs.columns):
        return graphs
    place = {name: i for i, name in enumerate(columns)}
    known = [i for i, name in enumerate(graphs.columns) if name in place]
    for i, name in enumerate(graphs.columns):
        if name not in place and bool(graphs.x[:, i].any()):
            raise InputError(
                f"{graphs.name} has the node feature {name!r}, which the model has never seen: "
                "it was trained on " + ", ".join(columns[:8]) + (" …" if len(columns) > 8 else "")
            )
    x = graphs.x.new_zeros(graphs.num_nodes, len(columns))
    x[:, [place[graphs.columns[i]] for i in known]] = graphs.x[:, known]
    return replace(graphs, x=x, columns=columns)


def degrees(graphs: GraphSet) -> Tensor:
    """(V,) int64: the number of neighbours of each node."""
    return torch.bincount(graphs.edge_index[0], minlength=graphs.num_nodes)
