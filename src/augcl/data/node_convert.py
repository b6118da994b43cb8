"""Convert one graph of another library (PyG, networkx) to a NodeGraph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from augcl.data.convert import (
    data_features,
    edge_pairs,
    edge_weights,
    has_names,
    keys_of,
    networkx_pairs,
    networkx_tables,
    number_of_nodes,
)
from augcl.data.csv_folder import edge_parts, node_targets
from augcl.data.features import structure_features
from augcl.data.graph import GraphSet, is_networkx
from augcl.data.labels import node_class_names, node_classes
from augcl.data.node_graph import NodeGraph, Splits
from augcl.data.table import known_numbers, warn_unused
from augcl.data.targets import Reading, chosen_columns, read_targets, stacked_targets
from augcl.errors import InputError


def as_node_graph(
    graph: Any,
    *,
    features: str | None = None,
    target: str | Sequence[str] | None = None,
    task: str = "auto",
    missing: str = "error",
) -> NodeGraph:
    """Turn a PyG ``Data`` or a networkx graph into one clean graph for node methods.

    Edges become undirected; self-loops and duplicates are removed. Without features every node gets
    the constant 1. Classes are whole numbers or text; −1, NaN or nothing marks a node without a
    class (it is embedded, but left out of evaluations). Fractions and several columns are targets
    of a regression, several columns of 0 and 1 multi-label.

    Parameters
    ----------
    graph : NodeGraph, Data, networkx graph
        A NodeGraph is returned as it is. Of a ``Data``: dense or sparse ``x``, ``y``,
        ``edge_weight``, ``edge_attr``, ``train_mask``, ``val_mask``, ``test_mask`` (N,) or (N, S),
        ``usual_split`` (whether a single split judges by default), ``name``, ``node_names``,
        ``class_names``, ``column_names``, ``edge_column_names``,
        ``target_names``. Without ``x``, other attributes with one entry per node are the features,
        as those of networkx nodes are; beside ``x`` a warning names them.
        networkx nodes may have any names; their target is the attribute ``y`` or ``label``, all
        others are features: numbers as they are, words and booleans one-hot, a vector ``x`` as
        ``x0``, ``x1`` … The edge attribute ``weight`` is the weight, others are edge features. A
        set that holds a single graph counts as that graph.
    features : str, optional
        Use ``"constant"``, ``"degree"`` or ``"log-degree"`` instead of the features, see
        :func:`augcl.data.node_features`; ``"attributes"`` adds the other attributes of a ``Data``
        to its ``x``.
    target, task, missing
        See :func:`augcl.load`; a target is an attribute of the nodes.

    Examples
    --------
    >>> import networkx as nx
    >>> as_node_graph(nx.Graph([("ann", "bob"), ("bob", "cem")])).names
    ['ann', 'bob', 'cem']
    """
    how = Reading(target, task, missing)  # type: ignore[arg-type]
    if features == "attributes" and not (isinstance(graph, NodeGraph) or is_networkx(graph)):
        return _convert(graph, how, attributes=True)
    found = graph if isinstance(graph, NodeGraph) else _convert(graph, how)
    return structure_features(found, "auto" if features is None else features)


def _convert(graph: Any, how: Reading, attributes: bool = False) -> NodeGraph:
    from torch_geometric.data import Batch, Data, Dataset  # slow to import

    if isinstance(graph, GraphSet | Batch | Dataset | list | tuple):
        graph = _only_one(graph)
    if isinstance(graph, NodeGraph):
        return graph
    if isinstance(graph, Data):
        return _from_data(graph, how, attributes)
    if is_networkx(graph):
        return graph_of_networkx(graph, how)
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
        one.column_names, one.edge_column_names = graphs.columns, graphs.edge_columns
    return one


def _from_data(data: Any, how: Reading, attributes: bool) -> NodeGraph:
    pairs = edge_pairs(data)
    stated = "num_nodes" in data and data.num_nodes is not None
    num_nodes = int(data.num_nodes) if stated else number_of_nodes(data, pairs)
    y, wanted = data.y, None
    if how.wanted is not None:
        wanted = chosen_columns(keys_of(data), how.wanted, "Data")
        y = data[wanted[0]]
        if len(wanted) > 1:
            y = torch.stack([torch.as_tensor(data[key]).double() for key in wanted], dim=1)
    y = y if y is None or isinstance(y, Tensor) else np.asarray(y)
    if y is not None and (y.ndim == 0 or len(y) != num_nodes):
        length = 1 if y.ndim == 0 else len(y)
        raise InputError(f"y has length {length} for {num_nodes} nodes: give one class per node")
    name, names = getattr(data, "name", None), getattr(data, "node_names", None)
    keys = ("class_names", "column_names", "edge_column_names", "target_names")
    classes, columns, edge_columns, targets = (_texts(data, key) for key in keys)
    if isinstance(y, np.ndarray) and y.dtype.kind not in "iufb":
        classes = classes or node_class_names(y.tolist())
        y = node_classes(y)
    elif y is not None:
        numbers = torch.as_tensor(y)
        # What the names of targets come with has been read before: it stays what it is.
        known = targets is not None and numbers.is_floating_point() and numbers.dim() == 1
        task = "regression" if known and how.task == "auto" else how.task
        y = stacked_targets(numbers, task, of_nodes=True)
    at = "node {}, counted from 0".format
    x, columns = data_features([data], [num_nodes], data.x, columns, how, at=at, add=attributes)
    if y is None:
        targets = None
    elif targets is None and (wanted or y.is_floating_point()):
        targets = wanted or (["y"] if y.dim() == 1 else [f"y{i}" for i in range(y.shape[1])])
    edge_attr = None
    if data.edge_attr is not None:
        edge_attr = data.edge_attr.detach().cpu().to(torch.float32)
        edge_attr = edge_attr.unsqueeze(1) if edge_attr.dim() == 1 else edge_attr
        if len(edge_attr) != pairs.shape[1]:
            raise InputError(f"{len(edge_attr)} rows of edge attributes for {pairs.shape[1]} edges")
        at = "edge {}, counted from 0".format
        known, edge_columns = known_numbers(
            edge_attr, edge_columns, how.missing, at, called="edge_attr"
        )
        edge_attr = torch.as_tensor(known)
    return NodeGraph.from_arrays(
        pairs=pairs,
        num_nodes=num_nodes,
        x=x,
        y=y,
        splits=_splits(data, num_nodes),
        names=None if names is None else [str(one) for one in names],
        name=name if isinstance(name, str) else "graph",
        classes=classes,
        columns=columns,
        edge_weight=edge_weights(data),
        edge_attr=edge_attr,
        edge_columns=edge_columns,
        targets=targets,
    )


def _texts(data: Any, key: str) -> list[str] | None:
    names = getattr(data, key, None)
    return None if names is None else [str(one) for one in names]


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
        },
        usual=bool(getattr(data, "usual_split", False)),
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


def graph_of_networkx(graph: Any, how: Reading, label: str = "the graph") -> NodeGraph:
    """Turn a networkx graph into one graph: its attributes are read as tables of CSV files are.

    A label that differs from node to node is the node's name, as drawing programs write it.
    """
    if not len(graph):
        raise InputError("the graph has no nodes: give it at least one")
    nodes, edges = networkx_tables([graph], [""], label)
    names = list(graph)
    titles = ["label"] if has_names(graph) else []
    if titles:
        names = [title for _, title in graph.nodes(data="label")]
    usual = [name for name in ("y", "label") if name not in titles]
    wanted = how
    vector = [name for name in nodes.columns if name[:1] == "y" and name[1:].isdigit()]
    if how.target is None and vector and "y" not in nodes.columns:
        wanted = Reading(tuple(vector), how.task, how.missing)
    chosen, left = node_targets(nodes, wanted, ids=titles, usual=usual)
    second = [n for n in usual if n == "label" and n in nodes.columns and n not in [*chosen, *left]]
    if second:
        warn_unused(nodes.label, second, "y is the target; rename it if it is a feature")
    without = [*titles, *chosen, *left, *second]
    columns, x = nodes.numbers(without=without, missing=how.missing)
    found = read_targets(nodes, chosen, wanted, of_nodes=True)
    return NodeGraph.from_arrays(
        pairs=networkx_pairs(graph),
        num_nodes=len(graph),
        x=x,
        columns=columns or None,
        names=[str(name) for name in names],
        name=str(graph.graph.get("name") or "graph"),
        **found._asdict(),
        **edge_parts(edges, how),
    )
