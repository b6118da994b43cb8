"""Convert one graph of another library (PyG, networkx) to a NodeGraph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx as nx
import numpy as np
import torch
from torch import Tensor

from augcl.data.convert import edge_pairs, networkx_features, networkx_pairs, number_of_nodes
from augcl.data.features import structure_features
from augcl.data.graph import GraphSet
from augcl.data.labels import node_class_names, node_classes
from augcl.data.node_graph import NodeGraph, Splits
from augcl.errors import InputError


def as_node_graph(graph: Any, *, features: str | None = None) -> NodeGraph:
    """Turn a PyG ``Data`` or a networkx graph into one clean graph for node methods.

    Edges become undirected; self-loops and duplicates are removed. Without features every node gets
    the constant 1. Classes are whole numbers or text; −1, NaN or nothing marks a node without a
    class (it is embedded, but left out of evaluations).

    Parameters
    ----------
    graph : NodeGraph, Data, networkx graph
        A NodeGraph is returned as it is. Of a ``Data``: dense or sparse ``x``, ``y``,
        ``train_mask``, ``val_mask``, ``test_mask`` (N,) or (N, S), ``name``, ``node_names``,
        ``class_names``, ``column_names``.
        networkx nodes may have any names; their features are the attribute ``x`` or ``feat``,
        their class is ``y`` or ``label``. A set that holds a single graph counts as that graph.
    features : str, optional
        Use ``"constant"``, ``"degree"`` or ``"log-degree"`` instead of the features, see
        :func:`augcl.data.node_features`.

    Examples
    --------
    >>> as_node_graph(nx.Graph([("ann", "bob"), ("bob", "cem")])).names
    ['ann', 'bob', 'cem']
    """
    found = graph if isinstance(graph, NodeGraph) else _convert(graph)
    return structure_features(found, "auto" if features is None else features)


def _convert(graph: Any) -> NodeGraph:
    from torch_geometric.data import Batch, Data, Dataset  # slow to import

    if isinstance(graph, GraphSet | Batch | Dataset | list | tuple):
        graph = _only_one(graph)
    if isinstance(graph, NodeGraph):
        return graph
    if isinstance(graph, Data):
        return _from_data(graph)
    if isinstance(graph, nx.Graph):
        return _from_networkx(graph)
    raise InputError(
        f"cannot make a graph from a {type(graph).__name__}: give a PyG Data or a networkx graph "
        "(augcl.load reads names and files)"
    )


def _only_one(graphs: Any) -> Any:
    count = getattr(graphs, "num_graphs", None)  # of a Batch, whose length is something else
    count = len(graphs) if count is None else int(count)
    if count != 1:
        raise InputError(
            f"expected one graph, got a set of {count}: a node method embeds the nodes of one "
            "graph; give one of them, or use GraphCL to embed whole graphs"
        )
    one = graphs.get_example(0) if hasattr(graphs, "get_example") else graphs[0]
    if isinstance(graphs, GraphSet):
        one.y, one.name = None, graphs.name  # the class of the graph is not a class of nodes
        one.column_names = graphs.columns
    return one


def _from_data(data: Any) -> NodeGraph:
    pairs = edge_pairs(data)
    stated = "num_nodes" in data and data.num_nodes is not None
    num_nodes = int(data.num_nodes) if stated else number_of_nodes(data, pairs)
    y = data.y if data.y is None or isinstance(data.y, Tensor) else np.asarray(data.y)
    if y is not None and (y.ndim == 0 or len(y) != num_nodes):
        length = 1 if y.ndim == 0 else len(y)
        raise InputError(f"y has length {length} for {num_nodes} nodes: give one class per node")
    name, names = getattr(data, "name", None), getattr(data, "node_names", None)
    classes, columns = (getattr(data, key, None) for key in ("class_names", "column_names"))
    if isinstance(y, np.ndarray):
        classes = classes or node_class_names(y.tolist())
    return NodeGraph.from_arrays(
        pairs=pairs,
        num_nodes=num_nodes,
        x=data.x,
        y=None if y is None else node_classes(y),
        splits=_splits(data, num_nodes),
        names=None if names is None else [str(one) for one in names],
        name=name if isinstance(name, str) else "graph",
        classes=None if classes is None else [str(one) for one in classes],
        columns=None if columns is None else [str(one) for one in columns],
    )


def _splits(data: Any, num_nodes: int) -> Splits | None:
    """Return the masks of a ``Data`` as splits; None without train and test nodes."""
    parts = ("train", "val", "test", "stopping")
    masks = {part: _mask(data, f"{part}_mask", num_nodes) for part in parts}
    if masks["train"] is None or masks["test"] is None:
        return None
    counts = {len(mask) for mask in masks.values() if mask is not None} - {1}
    if len(counts) > 1:
        raise InputError(
            f"the masks of the nodes have {' and '.join(map(str, sorted(counts)))} splits: "
            "give masks (N,), or the same number of columns in each"
        )
    if masks["val"] is None:
        masks["val"] = torch.zeros(1, num_nodes, dtype=torch.bool)
    count = max(counts, default=1)
    return Splits(
        **{
            part: mask.expand(count, -1) if len(mask) == 1 else mask
            for part, mask in masks.items()
            if mask is not None
        }
    )


def _mask(data: Any, key: str, num_nodes: int) -> Tensor | None:
    """Return a mask (N,) or (N, S) as (S, N)."""
    if key not in data or data[key] is None:
        return None
    mask: Tensor = torch.as_tensor(data[key]).detach().cpu().to(torch.bool)
    if mask.dim() not in (1, 2) or len(mask) != num_nodes:
        raise InputError(
            f"{key} has shape {tuple(mask.shape)}: with {num_nodes} nodes give ({num_nodes},), or "
            f"({num_nodes}, S) for S splits"
        )
    return mask.unsqueeze(0) if mask.dim() == 1 else mask.t().contiguous()


def _from_networkx(graph: Any) -> NodeGraph:
    labels = _labels(graph)
    return NodeGraph.from_arrays(
        pairs=networkx_pairs(graph),
        num_nodes=len(graph),
        x=networkx_features(graph, "x", "feat"),
        y=None if labels is None else node_classes(labels),
        classes=None if labels is None else node_class_names(labels),
        names=[str(node) for node in graph],
        name=str(graph.graph.get("name") or "graph"),
    )


def _labels(graph: Any) -> Sequence[Any] | None:
    for key in ("y", "label"):
        values: Sequence[Any] = [value for _, value in graph.nodes(data=key)]
        if any(value is not None for value in values):
            return values
    return None
