"""Node features from degrees and attributes, and features in the order of a trained model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from augcl.data.graph import GraphSet
from augcl.data.node_graph import NodeGraph
from augcl.errors import InputError, one_of

G = TypeVar("G", GraphSet, NodeGraph)

KINDS = ("auto", "constant", "degree", "log-degree", "attributes")


def node_features(graphs: GraphSet, kind: str = "auto", *, cap: int = 64) -> GraphSet:
    """Return the graphs with other node features.

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
    if kind != "attributes":
        x, columns = _of_degree(kind, degrees(graphs), cap)
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


def structure_features(graph: NodeGraph, kind: str = "auto", *, cap: int = 64) -> NodeGraph:
    """Return one graph with other node features, as `node_features` without ``"attributes"``.

    >>> path = NodeGraph.from_arrays(pairs=torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
    >>> structure_features(path, "degree", cap=2).x.int().tolist()
    [[0, 1, 0], [0, 0, 1], [0, 1, 0]]
    """
    one_of(kind, KINDS[:-1], "features of one graph's nodes")
    if kind == "auto":
        return graph
    x, columns = _of_degree(kind, degrees(graph), cap)
    return replace(graph, x=x, columns=columns)


def _of_degree(kind: str, degree: Tensor, cap: int) -> tuple[Tensor, list[str]]:
    """Return features (V, ·) computed from the degrees (V,), and the meaning of their columns."""
    if kind == "constant":
        return torch.ones(len(degree), 1, device=degree.device), ["constant"]
    if kind == "log-degree":
        return degree.to(torch.float32).log1p().unsqueeze(1), ["log-degree"]
    if cap < 0:
        raise InputError(f"cap of the degree features is {cap}: give 0 or more")
    x = one_hot(degree.clamp(max=cap), cap + 1).to(torch.float32)
    return x, [f"degree={d}" for d in range(cap)] + [f"degree>={cap}"]


def align_columns(graphs: G, columns: Sequence[str] | None) -> G:
    """Return the graphs with their features in the order of `columns`, if both have names.

    A column that the graphs lack becomes 0. A column that the graphs use and `columns` lacks is an
    error: a model trained with `columns` has never seen it.

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
    own = graphs.x if graphs.x.layout == torch.strided else graphs.x.to_dense()
    place = {name: i for i, name in enumerate(columns)}
    known = [i for i, name in enumerate(graphs.columns) if name in place]
    for i, name in enumerate(graphs.columns):
        if name not in place and bool(own[:, i].any()):
            what = f"the node feature {name!r}, never seen in training"
            what = "no node features" if name == "constant" else what
            raise InputError(f"{graphs.name} has {what}: the model was trained on {_some(columns)}")
    x = own.new_zeros(graphs.num_nodes, len(columns))
    x[:, [place[graphs.columns[i]] for i in known]] = own[:, known]
    return replace(graphs, x=x, columns=list(columns))


def align_edge_columns(graphs: GraphSet, columns: Sequence[str] | None, width: int) -> GraphSet:
    """Return the graphs with their `width` edge features in the order of `columns`.

    As `align_columns`; without names, the number of edge features must be the same.

    >>> edge = GraphSet.from_arrays(
    ...     pairs=torch.tensor([[0], [1]]),
    ...     graph_of_node=torch.tensor([0, 0]),
    ...     num_graphs=1,
    ...     edge_attr=torch.ones(1, 1),
    ...     edge_columns=["bond=2"],
    ... )
    >>> align_edge_columns(edge, ["bond=1", "bond=2"], 2).edge_attr.tolist()
    [[0.0, 1.0], [0.0, 1.0]]
    """
    own, names = graphs.edge_attr, graphs.edge_columns
    if not graphs.num_edges:
        empty = graphs.x.new_zeros(0, width)
        return replace(graphs, edge_attr=empty, edge_columns=columns)
    if own is None:
        seen = "edge features" if columns is None else f"the edge features {_some(columns)}"
        raise InputError(
            f"{graphs.name} has no edge features: the model was trained on {seen}; give every edge "
            "the same, or train with edge_features=False (edge_labels=False for WL)"
        )
    if columns is None or names is None or list(columns) == list(names):
        if own.shape[1] != width:
            raise InputError(
                f"{graphs.name} has {own.shape[1]} edge features, the model was trained on "
                f"{width}: give graphs with the same edge features"
            )
        return graphs
    place = {name: i for i, name in enumerate(columns)}
    for i, name in enumerate(names):
        if name not in place and bool(own[:, i].any()):
            raise InputError(
                f"{graphs.name} has the edge feature {name!r}, never seen in training: the model "
                f"was trained on {_some(columns)}"
            )
    known = [i for i, name in enumerate(names) if name in place]
    edge_attr = own.new_zeros(graphs.num_edges, len(columns))
    edge_attr[:, [place[names[i]] for i in known]] = own[:, known]
    return replace(graphs, edge_attr=edge_attr, edge_columns=list(columns))


def _some(columns: Sequence[str]) -> str:
    return ", ".join(columns[:8]) + (" …" if len(columns) > 8 else "")


def degrees(graphs: GraphSet | NodeGraph) -> Tensor:
    """Return (V,) int64 the number of neighbours of each node."""
    return torch.bincount(graphs.edge_index[0], minlength=graphs.num_nodes)
