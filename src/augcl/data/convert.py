"""Convert sets of graphs of other libraries (PyG, networkx) to a GraphSet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import torch
from torch import Tensor

from augcl.data.edges import check_pairs
from augcl.data.features import node_features
from augcl.data.graph import GraphSet
from augcl.data.labels import class_names, class_numbers
from augcl.errors import InputError, mistakes_in


class _Graph(NamedTuple):
    """One graph before it joins a set; `pairs` (2, P) are numbered from 0."""

    num_nodes: int
    pairs: Tensor
    x: Tensor | None
    edge_attr: Tensor | None
    y: Any


def as_graphset(graphs: Any, *, features: str | None = None) -> GraphSet:
    """Turn a list of PyG ``Data``, a PyG dataset or a list of networkx graphs into a GraphSet.

    Edges become undirected; self-loops and duplicates are removed. Without node features every node
    gets the constant 1. Classes are kept if every graph has one whole number or text (text and
    negative numbers are renumbered in sorted order); any other target is ignored.

    Parameters
    ----------
    graphs : GraphSet, iterable of Data, Batch, or iterable of networkx graphs
        A GraphSet is returned as it is. networkx graphs may have any node names; their features
        are the node attribute ``x``, ``feat`` or a numeric ``label``, their class is
        ``G.graph["y"]`` or ``G.graph["label"]``.
    features : str, optional
        Node features to use instead, see :func:`augcl.data.node_features`.

    Examples
    --------
    >>> as_graphset([nx.Graph([("a", "b")], y=0), nx.Graph([(1, 2), (2, 3)], y=1)])
    GraphSet('graphs': 2 graphs, 5 nodes, 6 edge entries, 1 features, 2 classes)
    """
    if not isinstance(graphs, GraphSet):
        graphs = _join([_read(graph, number) for number, graph in enumerate(_items(graphs), 1)])
    return node_features(graphs, "auto" if features is None else features)


def _items(graphs: Any) -> Iterable[Any]:
    from torch_geometric.data import Batch, Data  # slow to import: only who converts pays

    if isinstance(graphs, Batch):
        items: Iterable[Any] = graphs.to_data_list()
        return items
    if isinstance(graphs, (Data, nx.Graph)):
        raise InputError(
            f"expected a list of graphs, got one graph (a {type(graphs).__name__}): give [graph]"
        )
    if isinstance(graphs, (str, bytes, dict)) or not isinstance(graphs, Iterable):
        raise InputError(
            f"cannot make graphs from a {type(graphs).__name__}: give a GraphSet, a list of PyG "
            "Data, a PyG dataset or a list of networkx graphs (augcl.load reads names and files)"
        )
    return graphs


def _read(graph: Any, number: int) -> _Graph:
    from torch_geometric.data import Batch, Data

    if isinstance(graph, Batch) or not isinstance(graph, Data | nx.Graph):
        raise InputError(
            f"graph number {number} is a {type(graph).__name__}: give PyG Data or networkx graphs"
        )
    with mistakes_in(f"graph number {number}"):
        found = _from_data(graph) if isinstance(graph, Data) else _from_networkx(graph)
        _check(found)
    return found


def _from_data(data: Any) -> _Graph:
    pairs = edge_pairs(data)
    x, edge_attr = _matrix(data.x), _matrix(data.edge_attr)
    return _Graph(number_of_nodes(data, pairs), pairs, x, edge_attr, data.y)


def edge_pairs(data: Any) -> Tensor:
    """Return the edges of a PyG ``Data`` as (2, P) int64 on the CPU."""
    if data.edge_index is None and getattr(data, "adj_t", None) is not None:
        raise InputError("the edges of a Data are in adj_t: give them as edge_index")
    pairs = torch.empty(2, 0) if data.edge_index is None else data.edge_index
    return pairs.detach().cpu().to(torch.long)


def number_of_nodes(data: Any, pairs: Tensor) -> int:
    """Return the number of nodes of a PyG ``Data``; if it has none, up to the last edge's node."""
    if data.x is not None:
        return len(data.x)
    if "num_nodes" in data:
        return int(data.num_nodes)
    return int(pairs.max()) + 1 if pairs.numel() else 0


def _from_networkx(graph: Any) -> _Graph:
    x = networkx_features(graph, "x", "feat", "label")
    y = graph.graph.get("y", graph.graph.get("label"))
    return _Graph(len(graph), networkx_pairs(graph), x, None, y)


def networkx_pairs(graph: Any) -> Tensor:
    """Return (2, P) the edges of a networkx graph; nodes are numbered in their order."""
    index = {node: i for i, node in enumerate(graph)}
    ends = [(index[u], index[v]) for u, v in graph.edges()]
    return torch.tensor(ends, dtype=torch.long).reshape(-1, 2).t()


def networkx_features(graph: Any, *keys: str) -> Tensor | None:
    """Return (N, F) float32 from the first of the node attributes `keys` that holds numbers."""
    for key in keys:
        values = [value for _, value in graph.nodes(data=key) if value is not None]
        if not values or (key == "label" and any(isinstance(value, str) for value in values)):
            continue  # a label in words is a name, not a feature
        what = f"node attribute {key!r}"
        if len(values) != len(graph):
            raise InputError(
                f"{what} is set on {len(values)} of {len(graph)} nodes: set it on all nodes or none"
            )
        try:
            return torch.from_numpy(np.asarray(values, dtype=np.float32).reshape(len(graph), -1))
        except (TypeError, ValueError):
            raise InputError(f"{what} must be numbers, the same count for each node") from None
    return None


def _matrix(values: Tensor | None) -> Tensor | None:
    """Return (n,) or (n, F) values as (n, F) float32 on the CPU; None stays None."""
    if values is None:
        return None
    values = values.detach().cpu().to(torch.float32)
    values = values if values.layout == torch.strided else values.to_dense()
    return values.unsqueeze(1) if values.dim() == 1 else values


def _join(graphs: list[_Graph]) -> GraphSet:
    if not graphs:
        raise InputError("the list of graphs is empty: give at least one graph")
    counts = torch.tensor([graph.num_nodes for graph in graphs])
    starts = (counts.cumsum(0) - counts).tolist()
    targets = [graph.y for graph in graphs]
    return GraphSet.from_arrays(
        pairs=torch.cat([g.pairs + start for g, start in zip(graphs, starts, strict=True)], dim=1),
        graph_of_node=torch.repeat_interleave(counts),
        num_graphs=len(graphs),
        x=_stack([graph.x for graph in graphs], "node features"),
        edge_attr=_stack([graph.edge_attr for graph in graphs], "edge attributes"),
        y=_classes(targets),
        classes=class_names(targets) if all(isinstance(y, str) for y in targets) else None,
    )


def _check(graph: _Graph) -> None:
    check_pairs(graph.pairs, graph.num_nodes)
    if graph.x is not None and graph.x.dim() != 2:
        raise InputError(
            f"node features have shape {tuple(graph.x.shape)}: expected (nodes, features)"
        )
    if graph.x is not None and not bool(torch.isfinite(graph.x).all()):
        raise InputError("node features contain NaN or infinity")
    if graph.edge_attr is not None and len(graph.edge_attr) != graph.pairs.shape[1]:
        raise InputError(
            f"{len(graph.edge_attr)} rows of edge attributes for {graph.pairs.shape[1]} edges"
        )


def _stack(parts: Sequence[Tensor | None], what: str) -> Tensor | None:
    widths = [0 if part is None else part.shape[1] for part in parts]
    for number, width in enumerate(widths, 1):
        if width != widths[0]:
            raise InputError(
                f"graph number {number} has {width} {what} but graph number 1 has {widths[0]}: "
                "every graph needs the same number"
            )
    return torch.cat([part for part in parts if part is not None]) if widths[0] else None


def _classes(targets: Sequence[Any]) -> Tensor | None:
    values = [t.reshape(-1).tolist() if hasattr(t, "reshape") else [t] for t in targets]
    if any(len(value) != 1 or value[0] is None for value in values):
        return None
    single = [value[0] for value in values]
    if all(isinstance(value, str) for value in single):
        return class_numbers(single)
    if not all(isinstance(v, (int, float, np.number)) and float(v).is_integer() for v in single):
        return None
    whole = [int(value) for value in single]
    return torch.tensor(whole) if min(whole) >= 0 else class_numbers(whole)
