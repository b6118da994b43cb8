"""Convert sets of graphs of other libraries (PyG, networkx) to a GraphSet."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from augcl.data.csv_folder import refuse_hidden_classes, targets_of_graphs
from augcl.data.edges import check_pairs
from augcl.data.features import node_features
from augcl.data.graph import GraphSet, is_networkx
from augcl.data.labels import class_names, class_numbers
from augcl.data.table import Table, known_numbers, warn_unused
from augcl.data.targets import Reading, Targets, chosen_columns, stacked_targets
from augcl.errors import InputError, mistakes_in

NOT_ATTRIBUTES = ("name", "node_default", "edge_default", "directed", "multigraph", "id")
"""What networkx keeps of a graph beside its attributes."""


class _Graph(NamedTuple):
    """One PyG graph before it joins a set; `pairs` (2, P) are numbered from 0."""

    num_nodes: int
    pairs: Tensor
    x: Tensor | None
    edge_attr: Tensor | None
    y: Any


def as_graphset(
    graphs: Any,
    *,
    features: str | None = None,
    target: str | Sequence[str] | None = None,
    task: str = "auto",
    missing: str = "error",
) -> GraphSet:
    """Turn a list of PyG ``Data``, a PyG dataset or a list of networkx graphs into a GraphSet.

    Edges become undirected; self-loops and duplicates are removed. Without node features every node
    gets the constant 1. Targets that are whole numbers or text are classes (text and negative
    numbers are renumbered in sorted order); fractions and several columns are kept as numbers.

    Parameters
    ----------
    graphs : GraphSet, iterable of Data, Batch, or iterable of networkx graphs
        A GraphSet is returned as it is. Of a ``Data``: ``x``, ``edge_attr``, ``edge_weight``,
        ``y``, ``smiles``; without ``x``, attributes with one entry per node are the features, as
        those of networkx nodes are, and beside ``x`` a warning names them. networkx graphs may
        have any node names; the attributes of their nodes and edges are features: numbers as they
        are, words and booleans one-hot, a vector ``x`` as ``x0``, ``x1`` …; their target is
        ``G.graph["y"]`` or ``G.graph["label"]``.
    features : str, optional
        Node features to use instead, see :func:`augcl.data.node_features`; ``"attributes"`` adds
        the other attributes of PyG nodes to their ``x``.
    target, task, missing
        See :func:`augcl.load`; a target is an attribute of the graphs.

    Examples
    --------
    >>> import networkx as nx
    >>> as_graphset([nx.Graph([("a", "b")], y=0), nx.Graph([(1, 2), (2, 3)], y=1)])
    GraphSet('graphs': 2 graphs, 5 nodes, 6 edge entries, 1 features, 2 classes)
    """
    if not isinstance(graphs, GraphSet):
        how = Reading(target, task, missing)  # type: ignore[arg-type]
        items = list(_items(graphs))
        if items and all(is_networkx(graph) for graph in items):
            graphs = graphset_of_networkx(items, how)
        else:
            read = [_read(graph, number, how) for number, graph in enumerate(items, 1)]
            add = features == "attributes"
            graphs = _join(read, items, how, add)
            features = "auto" if add else features
    return node_features(graphs, "auto" if features is None else features)


def graphset_of_networkx(
    graphs: Sequence[Any],
    how: Reading,
    places: Sequence[str] | None = None,
    *,
    label: str = "graphs",
    named: bool = False,
) -> GraphSet:
    """Turn networkx graphs into a set: their attributes are read as the tables of CSV files are.

    `places` are what messages call the graphs, `label` the whole; with `named`, labels that
    differ from node to node are known to be names.
    """
    places = places or [f"graph number {number}" for number in range(1, len(graphs) + 1)]
    for graph, place in zip(graphs, places, strict=True):
        if not len(graph):
            raise InputError(f"{place} has no nodes: remove it or give it at least one node")
    counts = torch.tensor([len(graph) for graph in graphs])
    starts = (counts.cumsum(0) - counts).tolist()
    nodes, edges = networkx_tables(graphs, places, label)
    names = []
    titled = [graph for graph in graphs if any(t is not None for _, t in graph.nodes(data="label"))]
    if titled and all(has_names(graph) for graph in titled):
        names = ["label"]
        if not named:
            cure = "it differs from node to node, as names do; rename it if it is a feature"
            warn_unused(nodes.label, names, cure)
    cure = "give it to the graphs as y, or rename it if it is a feature"
    refuse_hidden_classes(nodes, cure)
    columns, x = nodes.numbers(without=names, missing=how.missing)
    edge_columns, edge_attr = edges.numbers(missing=how.missing)
    called = [graph.graph.get("name") for graph in graphs]
    pairs = [networkx_pairs(g) + start for g, start in zip(graphs, starts, strict=True)]
    return GraphSet.from_arrays(
        pairs=torch.cat(pairs, dim=1),
        graph_of_node=torch.repeat_interleave(counts),
        num_graphs=len(graphs),
        x=x,
        columns=columns or None,
        edge_attr=edge_attr,
        edge_columns=edge_columns or None,
        names=[str(name) for name in called] if all(called) else None,
        **_networkx_targets(graphs, places, label, how)._asdict(),
    )


def _networkx_targets(
    graphs: Sequence[Any], places: Sequence[str], label: str, how: Reading
) -> Targets:
    rows = [
        {key: value for key, value in graph.graph.items() if key not in NOT_ATTRIBUTES}
        for graph in graphs
    ]
    both = how.target is None and any({"y", "label"} <= row.keys() for row in rows)
    if how.target is None:  # y counts before label
        for row in rows:
            if "y" not in row:
                row["y"] = row.pop("label", None)
    table = Table.from_rows(rows, label, places.__getitem__)
    if both and "y" in table.columns:
        how = Reading("y", how.task, how.missing)  # and a warning of label
    vector = [name for name in table.columns if name[:1] == "y" and name[1:].isdigit()]
    if how.target is None and vector and "y" not in table.columns:  # y was a vector
        how = Reading(tuple(vector), how.task, how.missing)
    return targets_of_graphs(table, how)


def networkx_tables(
    graphs: Sequence[Any], places: Sequence[str], label: str
) -> tuple[Table, Table]:
    """Return the attributes of all nodes, and of all edges, of networkx graphs."""
    nodes, edges = [], []
    for graph in graphs:
        default = graph.graph.get("node_default") or {}  # of GraphML
        nodes += [{**default, **values} for _, values in graph.nodes(data=True)]
        default = graph.graph.get("edge_default") or {}
        edges += [{**default, **values} for _, _, values in graph.edges(data=True)]
    return (
        Table.from_rows(nodes, f"nodes of {label}", _namer(graphs, places, "node")),
        Table.from_rows(edges, f"edges of {label}", _namer(graphs, places, "edge")),
    )


def _namer(graphs: Sequence[Any], places: Sequence[str], what: str) -> Callable[[int], str]:
    """Return what names row i of all nodes or edges: ``graph number 2, node 'b'``."""
    each = [list(graph.nodes if what == "node" else graph.edges()) for graph in graphs]
    ends = list(accumulate(map(len, each)))

    def name(row: int) -> str:
        graph = bisect.bisect_right(ends, row)
        entry = each[graph][row - ends[graph]]
        said = repr(entry) if what == "node" else f"{entry[0]!r} – {entry[1]!r}"
        return f"{places[graph]}, {what} {said}".removeprefix(", ")

    return name


def has_names(graph: Any) -> bool:
    """Return whether the label differs from node to node, as drawing programs write names."""
    titles = [value for _, value in graph.nodes(data="label")]
    number = all(isinstance(title, int | float) for title in titles)
    return None not in titles and not number and len(set(titles)) == len(titles)


def _items(graphs: Any) -> Iterable[Any]:
    from torch_geometric.data import Batch, Data  # slow to import: only who converts pays

    if isinstance(graphs, Batch):
        items: Iterable[Any] = graphs.to_data_list()
        return items
    if isinstance(graphs, Data) or is_networkx(graphs):
        raise InputError(
            f"expected a list of graphs, got one graph (a {type(graphs).__name__}): give [graph]"
        )
    if isinstance(graphs, (str, bytes, dict)) or not isinstance(graphs, Iterable):
        raise InputError(
            f"cannot make graphs from a {type(graphs).__name__}: give a GraphSet, a list of PyG "
            "Data, a PyG dataset or a list of networkx graphs (augcl.load reads names and files)"
        )
    return graphs


def _read(graph: Any, number: int, how: Reading) -> _Graph:
    from torch_geometric.data import Batch, Data

    if isinstance(graph, Batch) or not isinstance(graph, Data):
        raise InputError(
            f"graph number {number} is a {type(graph).__name__}: give PyG Data or networkx graphs, "
            "all of one kind"
        )
    with mistakes_in(f"graph number {number}"):
        pairs = edge_pairs(graph)
        parts = [graph.edge_attr, edge_weights(graph)]
        edges = [_matrix(part) for part in parts if part is not None]
        for part in edges:
            if len(part) != pairs.shape[1]:
                raise InputError(f"{len(part)} rows of edge attributes for {pairs.shape[1]} edges")
        y = graph.y if how.wanted is None else _data_targets(graph, how.wanted)
        found = _Graph(
            num_nodes=number_of_nodes(graph, pairs),
            pairs=pairs,
            x=None if graph.x is None else _matrix(graph.x),
            edge_attr=torch.cat(edges, dim=1) if edges else None,
            y=y,
        )
        _check(found)
    return found


def edge_weights(data: Any) -> Tensor | None:
    """Return the weights of a PyG ``Data`` as (P,) on the CPU, None if it has none."""
    weight = getattr(data, "edge_weight", None)
    return None if weight is None else torch.as_tensor(weight).detach().cpu().reshape(-1)


def _data_targets(data: Any, wanted: Sequence[str]) -> Any:
    """Return the attributes of a PyG ``Data`` that are to be predicted, as one row."""
    chosen = chosen_columns(keys_of(data), wanted, "Data")
    if len(chosen) == 1:
        return data[chosen[0]]
    return torch.cat([torch.as_tensor(data[key]).double().reshape(-1) for key in chosen])


def keys_of(data: Any) -> list[str]:
    """Return the attributes of a PyG ``Data`` in the order in which they were set.

    Its own ``keys()`` are in another order in every process.
    """
    return [str(key) for key in data.to_dict()]


KNOWN_KEYS = frozenset(
    [
        "x",
        "edge_index",
        "edge_attr",
        "edge_weight",
        "y",
        "num_nodes",
        "batch",
        "ptr",
        "adj_t",
        "name",
        "smiles",
        "node_names",
        "class_names",
        "column_names",
        "edge_column_names",
        "target_names",
        "train_mask",
        "usual_split",
        "val_mask",
        "test_mask",
        "stopping_mask",
    ]
)
"""Attributes of a PyG ``Data`` that are read, or that a batch of PyG adds."""
NUMBERS_OF_NODES = ("n_id", "node_id", "input_id")
"""Attributes with which PyG's loaders number nodes: names, not features."""


def data_features(
    items: Sequence[Any],
    counts: Sequence[int],
    x: Any,
    columns: Sequence[str] | None,
    how: Reading,
    *,
    at: Callable[[int], str],
    add: bool,
) -> tuple[Any, list[str] | None]:
    """Return the features of PyG graphs and their names: `x`, or their attributes, or both.

    An attribute with one entry per node is read as a column of a table: numbers as they are, words
    and booleans one-hot. Beside an `x` it is used only if the user asks (`add`). A warning names
    all attributes that are not used.

    `items` are the graphs, `counts` their numbers of nodes; `at` names a node in messages.
    """
    keys = list(dict.fromkeys(key for item in items for key in keys_of(item)))
    chosen = [] if how.wanted is None else chosen_columns(keys, how.wanted, "Data")
    keys = [key for key in keys if key not in KNOWN_KEYS and key not in chosen]
    found = {}
    for key in keys:
        if "edge" not in key and key not in NUMBERS_OF_NODES:
            given = [getattr(item, key, None) for item in items]
            parts = [
                [None] * count if value is None else _entries(value)
                for value, count in zip(given, counts, strict=True)
            ]
            if [len(part) for part in parts] == list(counts):
                found[key] = _one_column(parts)
    others = [key for key in keys if key not in found]
    if others:
        cure = "of a Data only x, edge_index, edge_attr, edge_weight, y, masks and attributes with "
        warn_unused("Data", others, f"{cure}one entry per node are read")
    if x is not None:
        x, names = known_numbers(x, columns, how.missing, at)
    if found and x is not None and not add:
        cure = 'x has the features; as_graphset and as_node_graph(…, features="attributes") add '
        warn_unused("Data", list(found), f"{cure}attributes of nodes")
    if x is not None and not (found and add):
        if add:
            raise InputError("Data have no attributes of nodes beside x: leave out features")
        return x, names
    own, values = Table.from_columns(found, "Data", at).numbers(missing=how.missing)
    if x is None or values is None:
        return values, own or None
    both = torch.cat([_matrix(torch.as_tensor(x)), values], dim=1)
    names = [f"x{i}" for i in range(both.shape[1] - len(own))] if names is None else names
    return both, [*names, *own]


def _entries(value: Any) -> Any:
    """Return an attribute as an array or list of entries, empty if it is no such thing."""
    if isinstance(value, Tensor):
        value = value.detach().cpu()
        value = (value if value.layout == torch.strided else value.to_dense()).numpy()
    if isinstance(value, np.ndarray):
        return value if value.ndim in (1, 2) else []
    return list(value) if isinstance(value, list | tuple) else []


def _one_column(parts: Sequence[Any]) -> Any:
    """Join the entries of all graphs."""
    same = all(isinstance(part, np.ndarray) and part.dtype.kind in "iufb" for part in parts)
    if same and len({part.shape[1:] for part in parts}) == 1:
        return np.concatenate(list(parts))
    return [entry for part in parts for entry in part]


def edge_pairs(data: Any) -> Tensor:
    """Return the edges of a PyG ``Data`` as (2, P) int64 on the CPU."""
    if data.edge_index is None and getattr(data, "adj_t", None) is not None:
        raise InputError("the edges of a Data are in adj_t: give them as edge_index")
    for name in ("x", "y", "edge_attr", "edge_weight"):
        if isinstance(getattr(data, name, None), Tensor) and getattr(data, name).is_complex():
            raise InputError(f"{name} of a Data is complex: give real numbers")
    pairs = torch.empty(2, 0) if data.edge_index is None else data.edge_index
    if pairs.numel() and (pairs.is_floating_point() or pairs.is_complex()):
        kind = str(pairs.dtype).removeprefix("torch.")
        raise InputError(f"edge_index of a Data is {kind}: give whole numbers (int64)")
    return pairs.detach().cpu().to(torch.long)


def number_of_nodes(data: Any, pairs: Tensor) -> int:
    """Return the number of nodes of a PyG ``Data``; if it has none, up to the last edge's node."""
    if data.x is not None:
        return len(data.x)
    if "num_nodes" in data:
        return int(data.num_nodes)
    if isinstance(data.pos, Tensor):
        return len(data.pos)
    return int(pairs.max()) + 1 if pairs.numel() else 0


def networkx_pairs(graph: Any) -> Tensor:
    """Return (2, P) the edges of a networkx graph; nodes are numbered in their order."""
    index = {node: i for i, node in enumerate(graph)}
    ends = [(index[u], index[v]) for u, v in graph.edges()]
    return torch.tensor(ends, dtype=torch.long).reshape(-1, 2).t()


def _matrix(values: Tensor) -> Tensor:
    """Return (n,) or (n, F) values as (n, F) float32 on the CPU."""
    values = values.detach().cpu().to(torch.float32)
    values = values if values.layout == torch.strided else values.to_dense()
    return values.unsqueeze(1) if values.dim() == 1 else values


def _join(graphs: list[_Graph], items: Sequence[Any], how: Reading, add: bool) -> GraphSet:
    if not graphs:
        raise InputError("the list of graphs is empty: give at least one graph")
    counts = torch.tensor([graph.num_nodes for graph in graphs])
    starts = (counts.cumsum(0) - counts).tolist()
    names = {
        part: getattr(items[0], f"{part}_names", None)
        for part in ("column", "edge_column", "class")
    }
    wanted = None if how.wanted is None else chosen_columns(keys_of(items[0]), how.wanted, "Data")
    y, classes, targets = _targets([graph.y for graph in graphs], how, wanted)
    edge_attr = _stack(
        [None if not g.pairs.shape[1] else g.edge_attr for g in graphs],
        "edge attributes",
        empty=[not graph.pairs.shape[1] for graph in graphs],
    )
    x, columns = data_features(
        items,
        counts.tolist(),
        _stack([graph.x for graph in graphs], "node features"),
        names["column"],
        how,
        at=_place_in(counts.tolist(), "node"),
        add=add,
    )
    edge_columns = names["edge_column"]
    if edge_attr is not None:
        at = _place_in([graph.pairs.shape[1] for graph in graphs], "edge")
        edge_attr, edge_columns = known_numbers(
            edge_attr, edge_columns, how.missing, at, called="edge_attr"
        )
    own = getattr(items[0], "target_names", None)
    smiles = [getattr(item, "smiles", None) for item in items]
    return GraphSet.from_arrays(
        pairs=torch.cat([g.pairs + start for g, start in zip(graphs, starts, strict=True)], dim=1),
        graph_of_node=torch.repeat_interleave(counts),
        num_graphs=len(graphs),
        x=None if x is None else torch.as_tensor(x),
        columns=columns,
        edge_attr=None if edge_attr is None else torch.as_tensor(edge_attr),
        edge_columns=edge_columns,
        y=y,
        classes=classes or names["class"],
        targets=own if own is not None and y is not None else targets,
        smiles=smiles if all(isinstance(one, str) for one in smiles) else None,
    )


def _place_in(counts: Sequence[int], what: str) -> Callable[[int], str]:
    """Return what names row i of all nodes or edges of PyG graphs."""
    ends = list(accumulate(counts))

    def name(row: int) -> str:
        graph = bisect.bisect_right(ends, row)
        number = row - (ends[graph] - counts[graph])
        return f"graph number {graph + 1}, {what} {number}, counted from 0"

    return name


def _targets(values: Sequence[Any], how: Reading, wanted: list[str] | None) -> Targets:
    """Return the targets of PyG graphs: words, or numbers of which None is not known.

    `wanted` are the attributes that the user has chosen.
    """
    rows = [v.reshape(-1).tolist() if hasattr(v, "reshape") else _as_list(v) for v in values]
    width = max((len(row) for row in rows if row != [None]), default=0)
    if not width:
        return Targets()
    bad = next((i for i, row in enumerate(rows) if row != [None] and len(row) != width), None)
    if bad is not None:
        raise InputError(
            f"graph number {bad + 1} has {len(rows[bad])} targets but others have {width}: every "
            "graph needs the same number"
        )
    if any(isinstance(v, str) for row in rows for v in row):
        words = ["" if row == [None] else str(row[0]) for row in rows]
        if width > 1 or how.task in ("regression", "multilabel"):
            raise InputError("y holds words: they can only be the classes of a single target")
        known = [i for i, word in enumerate(words) if word]
        y = torch.full((len(words),), -1)
        y[known] = class_numbers([words[i] for i in known])
        return Targets(y, class_names([words[i] for i in known]))
    try:
        table = np.array(
            [[np.nan if v is None else v for v in row] if row != [None] else [np.nan] * width
             for row in rows], dtype=np.float64,
        )  # fmt: skip
    except (TypeError, ValueError):
        raise InputError("y must be numbers or words: give one number or word a graph") from None
    found = stacked_targets(torch.from_numpy(table), how.task, of_nodes=False)
    if found is None or (not found.is_floating_point() and wanted is None):
        return Targets(found)
    names = wanted or ["y"]
    count = 1 if found.dim() == 1 else found.shape[1]
    return Targets(found, None, names if len(names) == count else [f"y{i}" for i in range(count)])


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _check(graph: _Graph) -> None:
    check_pairs(graph.pairs, graph.num_nodes)
    if graph.x is not None and graph.x.dim() != 2:
        raise InputError(
            f"node features have shape {tuple(graph.x.shape)}: expected (nodes, features)"
        )


def _stack(
    parts: Sequence[Tensor | None], what: str, empty: Sequence[bool] | None = None
) -> Tensor | None:
    """Return the rows of all graphs; those of a graph where `empty` have no say in the width."""
    widths = [0 if part is None else part.shape[1] for part in parts]
    asked = [n for n in range(len(parts)) if empty is None or not empty[n]]
    for number in asked:
        if widths[number] != widths[asked[0]]:
            raise InputError(
                f"graph number {number + 1} has {widths[number]} {what} but graph number "
                f"{asked[0] + 1} has {widths[asked[0]]}: every graph needs the same number"
            )
    found = [part for part in parts if part is not None]
    return torch.cat(found) if found and any(widths) else None
