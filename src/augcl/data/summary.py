"""Summary statistics of a graph set or a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from augcl.data.features import degrees
from augcl.data.graph import GraphSet
from augcl.data.node_convert import as_node_graph
from augcl.data.node_graph import NodeGraph
from augcl.data.sparse import share_filled
from augcl.ops.components import component_of_node

CLASSES = "classification"


def statistics(graphs: Any) -> dict[str, Any]:
    """Return the sizes of a graph set, or of one graph for node methods, ready for JSON.

    An edge counts once, not once per direction.

    >>> two = GraphSet.from_arrays(
    ...     pairs=torch.tensor([[0], [1]]),
    ...     graph_of_node=torch.tensor([0, 0, 1]),
    ...     num_graphs=2,
    ...     y=torch.tensor([0, 1]),
    ... )
    >>> statistics(two)  # doctest: +NORMALIZE_WHITESPACE
    {'name': 'graphs', 'level': 'graphs', 'graphs': 2, 'classes': 2, 'class_sizes': [1, 1],
     'avg_nodes': 1.5, 'avg_edges': 0.5, 'features': 1, 'isolated_nodes': 1,
     'columns': ['constant']}
    >>> pair = NodeGraph.from_arrays(
    ...     pairs=torch.tensor([[0], [1]]), num_nodes=3, y=torch.tensor([0, 0, -1])
    ... )
    >>> statistics(pair)  # doctest: +NORMALIZE_WHITESPACE
    {'name': 'graph', 'level': 'nodes', 'nodes': 3, 'edges': 1, 'classes': 1, 'class_sizes': [2],
     'unlabelled': 1, 'edge_homophily': 1.0, 'features': 1, 'nonzero_features': 1.0,
     'isolated_nodes': 1, 'components': 2, 'splits': 0, 'columns': ['constant']}
    """
    return _of_set(graphs) if isinstance(graphs, GraphSet) else _of_graph(as_node_graph(graphs))


def _of_set(graphs: GraphSet) -> dict[str, Any]:
    labels = graphs.labels
    known = torch.empty(0).long() if labels is None else labels[labels >= 0]
    sizes = known.unique(return_counts=True)[1].tolist()
    unlabelled = 0 if labels is None else len(graphs) - len(known)
    return {
        "name": graphs.name,
        "level": "graphs",
        "graphs": len(graphs),
        "classes": len(sizes),
        "class_sizes": sizes,
        **_called(graphs),
        **({"unlabelled": unlabelled} if unlabelled else {}),
        **_targets(graphs),
        "avg_nodes": graphs.num_nodes / len(graphs),
        "avg_edges": graphs.num_edges / 2 / len(graphs),
        "features": graphs.num_features,
        "isolated_nodes": int((degrees(graphs) == 0).sum()),
        **_columns(graphs),
    }


def _of_graph(graph: NodeGraph) -> dict[str, Any]:
    labels = graph.labels
    known = torch.empty(0).long() if labels is None else labels[labels >= 0]
    return {
        "name": graph.name,
        "level": "nodes",
        "nodes": graph.num_nodes,
        "edges": graph.num_edges // 2,
        "classes": graph.num_classes,
        "class_sizes": torch.bincount(known).tolist(),
        **_called(graph),
        **({"unlabelled": graph.num_nodes - len(known)} if graph.task in (None, CLASSES) else {}),
        **_targets(graph),
        **_homophily(graph),
        "features": graph.num_features,
        "nonzero_features": share_filled(graph.x),
        "isolated_nodes": int((degrees(graph) == 0).sum()),
        "components": len(component_of_node(graph.edge_index, graph.num_nodes).unique()),
        "splits": 0 if graph.splits is None else len(graph.splits.train),
        **({} if graph.edge_weight is None else {"edge_weights": True}),
        **_columns(graph),
    }


def edge_homophily(graph: NodeGraph) -> float | None:
    """Return the share of edges whose two nodes have the same class; None if no edge has two.

    Edges at a node without a class do not count.

    >>> path = torch.tensor([[0, 1], [1, 2]])
    >>> edge_homophily(NodeGraph.from_arrays(pairs=path, num_nodes=3, y=torch.tensor([0, 0, 1])))
    0.5
    """
    if graph.y is None or graph.task != "classification":
        return None
    source, target = graph.y[graph.edge_index]
    known = (source >= 0) & (target >= 0)
    return float((source == target)[known].double().mean()) if bool(known.any()) else None


def _homophily(graph: NodeGraph) -> dict[str, Any]:
    found = edge_homophily(graph)
    return {} if found is None else {"edge_homophily": found}


def _called(data: GraphSet | NodeGraph) -> dict[str, Any]:
    """Return the names of the classes, if there are any."""
    return {} if data.classes is None else {"class_names": list(data.classes)}


def _targets(data: GraphSet | NodeGraph) -> dict[str, Any]:
    """Return task, range and number of known values of targets that are not classes."""
    if data.y is None or data.task == CLASSES:
        return {}
    table = data.y.unsqueeze(1) if data.y.dim() == 1 else data.y
    names = data.targets or [f"y{i}" for i in range(table.shape[1])]
    columns = [column[~column.isnan()] for column in table.t()]
    facts = {
        name: {"known": len(known), "least": float(known.min()), "mean": float(known.mean())}
        | {"most": float(known.max())}
        for name, known in zip(names, columns, strict=True)
        if len(known)
    }
    return {"task": data.task, "targets": facts}


def _columns(data: GraphSet | NodeGraph) -> dict[str, Any]:
    """Return the names of the features of nodes and edges, where they have names."""
    found = {"columns": data.columns, "edge_columns": data.edge_columns}
    return {key: list(names) for key, names in found.items() if names is not None}


def described_columns(columns: Sequence[str]) -> str:
    """Say which columns were made of what: words with their values, numbers, missing values.

    >>> described_columns(["element=C", "element=O", "charge", "charge missing"])
    'element (2 words: C, O), charge (number), charge missing (flag)'
    """
    words: dict[str, list[str]] = {}
    for column in columns:
        name, is_word, value = column.partition("=")
        words.setdefault(name, []).extend([value] if is_word else [])
    return ", ".join(_described(name, values) for name, values in words.items())


def _described(name: str, values: list[str]) -> str:
    if not values:
        kind = "flag" if name.endswith(" missing") else "number"
        return name if name == "constant" else f"{name} ({kind})"
    some = ", ".join(values[:8]) + (" …" if len(values) > 8 else "")
    return f"{name} ({len(values)} word{'s' * (len(values) > 1)}: {some})"
