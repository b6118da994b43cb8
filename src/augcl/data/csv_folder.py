"""Read graphs from a folder of CSV files: edges.csv, optionally nodes.csv and graphs.csv."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from torch import Tensor

from augcl.data.csv_table import CSVTable, read_header
from augcl.data.graph import GraphSet
from augcl.data.labels import class_names, class_numbers, node_class_names, node_classes
from augcl.data.node_graph import NodeGraph
from augcl.errors import InputError, mistakes_in

Array = np.ndarray[Any, Any]

CSV_FILES = (
    "edges.csv (columns source, target; and graph if there are several); optionally nodes.csv "
    "(node, features; label for a single graph) and graphs.csv (graph, label)"
)
LIKE_LABELS = ("labels", "class", "classes", "target", "targets", "y")
"""Other common names of the class column."""


def read_csv_folder(path: str | os.PathLike[str]) -> GraphSet:
    """Read graphs from CSV files with a header; nodes and graphs may have any names.

    * ``edges.csv``: ``source``, ``target``, optionally ``graph``; further columns are edge
      attributes.
    * ``nodes.csv``, optional: ``node`` (or ``id``), optionally ``graph``; further columns are
      features, words as one-hot. It lists all nodes, also those without edges.
    * ``graphs.csv``, optional: ``graph`` (or ``id``), optionally ``label`` (or ``y``).

    These names may have any case. A feature with the name of a class (``class``, ``target`` …) is
    refused, because it may be the answer to predict.

    Without a column ``graph`` everything is one graph. With it in both files, two graphs may use
    the same node names; with it in nodes.csv only, node names must differ between graphs.
    Graphs keep the order of their first occurrence; their names are in ``names``.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "edges.csv").write_text("graph,source,target\\nf,a,b\\ng,a,b\\ng,b,c\\n")
    >>> _ = (folder / "graphs.csv").write_text("graph,label\\ng,yes\\nf,no\\n")
    >>> graphs = read_csv_folder(folder)
    >>> graphs.names, graphs.y.tolist(), graphs.node_ptr.tolist()
    (['g', 'f'], [1, 0], [0, 3, 5])
    """
    folder = Path(path)
    need_edges(folder)
    edges = CSVTable(folder / "edges.csv", ids=("source", "target", "graph"))
    nodes = _table(folder / "nodes.csv", ("node", "id", "graph"))
    graphs = _table(folder / "graphs.csv", ("graph", "id", "label", "y"))
    if nodes is not None:
        cure = "put the classes of graphs into graphs.csv as label, or rename it if it is a feature"
        refuse_hidden_classes(nodes, cure)

    parts = read_tables(edges, nodes, graphs)
    labels = _labels(graphs)
    with mistakes_in(folder):
        return GraphSet.from_arrays(
            pairs=parts.pairs,
            graph_of_node=parts.graph_of_node,
            num_graphs=len(parts.graph_names),
            x=parts.x,
            columns=parts.columns,
            edge_attr=edges.numbers(without=("source", "target", "graph"))[1],
            y=class_numbers(labels) if labels else None,
            classes=class_names(labels),
            names=parts.graph_names,
            name=folder.resolve().name,
        )


def need_edges(folder: Path) -> None:
    """Raise `InputError` with the expected files if the folder has no edges.csv."""
    if not (folder / "edges.csv").is_file():
        raise InputError(f"{folder / 'edges.csv'} does not exist: give {CSV_FILES}")


def refuse_hidden_classes(table: CSVTable, cure: str, taken: str | None = None) -> None:
    """Raise `InputError` if a feature without fractions has the name of a class."""
    for name in table.columns:
        like = name != taken and name.lower() in LIKE_LABELS
        if like and not table.has_fractions(name):
            raise InputError(
                f"{table.path}, line 1: column {name!r} looks like the class, which must not be a "
                f"feature: {cure}"
            )


class Tables(NamedTuple):
    """The content of the tables, ordered by graph and node."""

    pairs: Tensor
    graph_of_node: Tensor
    x: Tensor | None
    columns: list[str] | None
    node_names: list[str]
    graph_names: list[str]


def read_tables(
    edges: CSVTable,
    nodes: CSVTable | None,
    graphs: CSVTable | None,
    *,
    not_features: tuple[str | None, ...] = (),
) -> Tables:
    """Order the nodes and number the ends of the edges; skip the columns `not_features`."""
    source, target = edges.text(edges.need("source")), edges.text(edges.need("target"))
    if nodes is None:
        owner = edges
        node = pa.chunked_array([source, target]).combine_chunks()
    else:
        owner = nodes
        node = nodes.text(nodes.need("node", "id"))
    if not len(node):
        raise InputError(f"{owner.path} has a header but no lines: there are no nodes")
    names, graph_of = _graphs(owner, graphs)
    if nodes is None:
        graph_of = np.concatenate([graph_of, graph_of])
    elif edges.first_of("graph") and not nodes.first_of("graph"):
        raise InputError(f"{nodes.path}, line 1: no column graph, but edges.csv has one: add it")

    # A node is identified by its name, or by graph and name if both files have a graph.
    distinct = pc.unique(node)
    per_graph = edges.first_of("graph") is not None
    key = _codes(node, distinct) + (graph_of * len(distinct) if per_graph else 0)
    known, first, entry = np.unique(key, return_index=True, return_inverse=True)
    if nodes is not None and len(known) < len(node):
        again = int(np.flatnonzero(first[entry] != np.arange(len(node)))[0])
        cure = "" if per_graph else " (edges.csv has no column graph to tell them apart)"
        raise InputError(f"{nodes.at(again)}: node {node[again].as_py()!r} is listed twice{cure}")
    order = np.lexsort((first, graph_of[first]))  # by graph, in the order of the file
    position = np.empty(len(known), np.int64)
    position[order] = np.arange(len(known))

    graph = _codes(edges.text("graph"), names) if per_graph else np.zeros(len(edges), np.int64)
    pairs = []
    for end in (source, target):
        code = _codes(end, distinct)
        wanted = np.where((code < 0) | (graph < 0), -1, graph * len(distinct) + code)
        place = np.searchsorted(known, wanted).clip(max=len(known) - 1)
        missing = known[place] != wanted
        if missing.any():
            row = int(missing.argmax())
            scope = f" with graph {edges.text('graph')[row].as_py()!r}" if per_graph else ""
            raise InputError(
                f"{edges.at(row)}: node {end[row].as_py()!r} is not in {owner.path.name}{scope}"
            )
        pairs.append(position[place])
    columns, x = _features(nodes, first[order], not_features)
    return Tables(
        pairs=torch.from_numpy(np.stack(pairs)),
        graph_of_node=torch.from_numpy(graph_of[first][order]),
        x=x,
        columns=columns,
        node_names=node.take(pa.array(first[order])).to_pylist(),
        graph_names=names.to_pylist(),
    )


def _table(path: Path, ids: tuple[str, ...]) -> CSVTable | None:
    return CSVTable(path, ids) if path.exists() else None


def _codes(values: Any, distinct: Any) -> Array:
    """Return (n,) int64 the index of each value in `distinct`, −1 if it is not there."""
    codes: Array = pc.fill_null(pc.index_in(values, distinct), -1).to_numpy(False)
    return codes.astype(np.int64)


def _graphs(owner: CSVTable, graphs: CSVTable | None) -> tuple[Any, Array]:
    """Return the names of all graphs, and the graph of each line of `owner`."""
    column = owner.first_of("graph")
    own = owner.text(column) if column else None
    listed = None if graphs is None else graphs.text(graphs.need("graph", "id"))
    if graphs is None or listed is None:
        names = pa.array(["graph"]) if own is None else pc.unique(own)
    else:
        names = pc.unique(listed)
        if len(names) < len(listed):
            codes = _codes(listed, names)
            again = int(np.flatnonzero(np.maximum.accumulate(codes)[:-1] >= codes[1:])[0]) + 1
            raise InputError(f"{graphs.at(again)}: graph {listed[again].as_py()!r} is listed twice")
    if own is None:
        if len(names) != 1:
            raise InputError(
                f"{owner.path}, line 1: no column graph, but graphs.csv lists {len(names)} graphs"
            )
        return names, np.zeros(len(owner), np.int64)
    codes = _codes(own, names)
    if (codes < 0).any():
        row = int((codes < 0).argmax())
        raise InputError(f"{owner.at(row)}: graph {own[row].as_py()!r} is not in graphs.csv")
    empty = np.bincount(codes, minlength=len(names)) == 0
    if empty.any() and graphs is not None:
        row = int(empty.argmax())
        raise InputError(f"{graphs.at(row)}: graph {names[row].as_py()!r} has no nodes")
    return names, codes


def _features(
    nodes: CSVTable | None, order: Array, but: tuple[str | None, ...]
) -> tuple[list[str] | None, Tensor | None]:
    if nodes is None:
        return None, None
    columns, x = nodes.numbers(without=(nodes.need("node", "id"), "graph", *but))
    return (None, None) if x is None else (columns, x[torch.from_numpy(order)])


def _labels(graphs: CSVTable | None) -> list[str]:
    """Return one label per graph, or an empty list."""
    if graphs is None:
        return []
    column = graphs.first_of("label", "y")
    others = [c for c in graphs.columns if c not in (graphs.need("graph", "id"), column)]
    if column is None:
        for name in others:
            if name.lower() in LIKE_LABELS:
                raise InputError(
                    f"{graphs.path}, line 1: column {name!r} looks like the class: rename it to "
                    "label, or remove it"
                )
    if others:
        warnings.warn(
            f"{graphs.path}: column{'s' * (len(others) > 1)} {', '.join(others)} not used: only "
            "graph and label are read; features of nodes belong in nodes.csv",
            stacklevel=2,
        )
    if column is None:
        return []
    labels = graphs.strings(column)
    if "" in labels:
        raise InputError(
            f"{graphs.at(labels.index(''))}: column {column!r} is empty: give every graph a class, "
            "or remove the column"
        )
    return labels


def read_csv_graph(path: str | os.PathLike[str]) -> NodeGraph:
    """Read a graph from ``edges.csv`` and, if there is one, ``nodes.csv``.

    * ``edges.csv``: ``source``, ``target``; further columns are ignored.
    * ``nodes.csv``: ``node`` (or ``id``); ``label`` (or ``y``) is the class: whole numbers, or text
      that is numbered in sorted order; empty or −1 if it is not known. Further columns are
      features, text as one-hot. A feature with the name of a class (``class``, ``target`` …) is
      refused.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "edges.csv").write_text("source,target\\nann,bob\\nbob,cem\\n")
    >>> _ = (folder / "nodes.csv").write_text("node,age,label\\ncem,3,b\\nbob,2,a\\nann,1,\\n")
    >>> graph = read_csv_graph(folder)
    >>> graph.names, graph.x.tolist(), graph.y.tolist()
    (['cem', 'bob', 'ann'], [[3.0], [2.0], [1.0]], [1, 0, -1])
    """
    folder = Path(path)
    need_edges(folder)
    edges = CSVTable(folder / "edges.csv", ids=("source", "target"))
    nodes = column = None
    if (folder / "nodes.csv").exists():
        nodes = CSVTable(folder / "nodes.csv", ids=("node", "id"))
        column = nodes.first_of("label", "y")
        if column is not None and nodes.has_fractions(column):
            column = None  # a coordinate, say: a feature like the others
        cure = "rename it to label, or to something else if it is a feature"
        cure = cure if column is None else "remove it, or rename it if it is a feature"
        refuse_hidden_classes(nodes, cure, taken=column)
    parts = read_tables(edges, nodes, None, not_features=(column,))
    labels = [] if nodes is None or column is None else nodes.strings(column)
    with mistakes_in(folder):
        return NodeGraph.from_arrays(
            pairs=parts.pairs,
            num_nodes=len(parts.node_names),
            x=parts.x,
            columns=parts.columns,
            y=node_classes(labels) if labels else None,
            classes=node_class_names(labels),
            names=parts.node_names,
            name=folder.resolve().name,
        )


def is_one_csv_graph(path: Path) -> bool:
    """Return whether `path` is a folder with edges.csv and without any column or file of graphs."""
    if not (path / "edges.csv").is_file() or (path / "graphs.csv").exists():
        return False
    files = [file for file in (path / "edges.csv", path / "nodes.csv") if file.is_file()]
    return not any("graph" in read_header(file) for file in files)
