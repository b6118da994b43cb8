"""Read graphs from tables of edges, nodes and graphs: CSV or Parquet files, or DataFrames."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from torch import Tensor

from augcl.data.graph import GraphSet
from augcl.data.node_graph import NodeGraph
from augcl.data.table import TABLES, Table, read_header, warn_unused
from augcl.data.targets import (
    LIKE_LABELS,
    NoTargetError,
    Reading,
    Targets,
    chosen_columns,
    read_targets,
)
from augcl.errors import InputError, mistakes_in

Array = np.ndarray[Any, Any]

CSV_FILES = (
    "edges.csv (columns source, target; and graph if there are several); optionally nodes.csv "
    "(node, features; label for a single graph) and graphs.csv (graph, label); or the same as "
    ".parquet"
)
RENAME = ": rename the one that holds the names"
EDGE_IDS, NODE_IDS, GRAPH_IDS = (
    ("source", "target", "graph"),
    ("node", "id", "graph"),
    ("graph", "id"),
)


def read_csv_folder(path: str | os.PathLike[str], how: Reading | None = None) -> GraphSet:
    """Read graphs from CSV files with a header; nodes and graphs may have any names.

    * ``edges.csv``: ``source``, ``target``, optionally ``graph``; further columns are edge
      features.
    * ``nodes.csv``, optional: ``node`` (or ``id``), optionally ``graph``; further columns are
      features. It lists all nodes, also those without edges.
    * ``graphs.csv``, optional: ``graph`` (or ``id``), optionally ``label`` (or ``y``), or the
      targets that `how` names; a blank is not known.

    Features that are words are one-hot. These names may have any case. A feature with the name of a
    class (``class``, ``target`` …) is refused, because it may be the answer to predict. Instead of
    ``.csv`` each file may be ``.parquet``.

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
    edges = Table.read(need_edges(folder), ids=EDGE_IDS)
    nodes = _table(folder, "nodes", NODE_IDS)
    graphs = _table(folder, "graphs", GRAPH_IDS)
    with mistakes_in(folder):
        return graphset_of_tables(edges, nodes, graphs, how, name=folder.resolve().name)


def from_pandas(
    edges: Any,
    nodes: Any = None,
    graphs: Any = None,
    *,
    target: str | tuple[str, ...] | None = None,
    task: str = "auto",
    missing: str = "error",
    name: str | None = None,
) -> GraphSet | NodeGraph:
    """Turn DataFrames of edges, nodes and graphs into graphs, as the same CSV files are read.

    Parameters
    ----------
    edges : DataFrame
        Columns ``source`` and ``target``, and ``graph`` if there are several graphs; further
        columns are edge features (``weight`` of one graph: the weights of its edges).
    nodes : DataFrame, optional
        ``node`` (or ``id``) and features; ``graph`` if there are several.
    graphs : DataFrame, optional
        ``graph`` (or ``id``), and ``label`` or the targets.
    target, task, missing
        See :func:`augcl.load`.
    name : str, optional
        Name of the data set.

    Returns
    -------
    GraphSet or NodeGraph
        One graph, whose nodes are embedded, if there is neither a column ``graph`` nor `graphs`.

    Examples
    --------
    >>> import pandas as pd
    >>> edges = pd.DataFrame({"source": ["ann", "bob"], "target": ["bob", "cem"]})
    >>> from_pandas(edges).names
    ['ann', 'bob', 'cem']
    """
    how = Reading(target, task, missing)
    tables = Table.from_pandas(edges, "edges", EDGE_IDS)
    of_nodes = None if nodes is None else Table.from_pandas(nodes, "nodes", NODE_IDS)
    of_graphs = None if graphs is None else Table.from_pandas(graphs, "graphs", GRAPH_IDS)
    given = [table for table in (tables, of_nodes) if table is not None]
    if of_graphs is None and not any("graph" in table.columns for table in given):
        return graph_of_tables(tables, of_nodes, how, name=name or "graph")
    return graphset_of_tables(tables, of_nodes, of_graphs, how, name=name or "graphs")


def graphset_of_tables(
    edges: Table, nodes: Table | None, graphs: Table | None, how: Reading | None, *, name: str
) -> GraphSet:
    """Build a set of graphs from its tables."""
    how = how or Reading()
    if nodes is not None:
        cure = "put the classes of graphs into graphs.csv as label, or rename it if it is a feature"
        refuse_hidden_classes(nodes, cure)
    parts = read_tables(edges, nodes, graphs, missing=how.missing)
    edge_columns, edge_attr = edges.numbers(without=EDGE_IDS, missing=how.missing)
    found = _targets_of_graphs(graphs, how)
    return GraphSet.from_arrays(
        pairs=parts.pairs,
        graph_of_node=parts.graph_of_node,
        num_graphs=len(parts.graph_names),
        x=parts.x,
        columns=parts.columns,
        edge_attr=edge_attr,
        edge_columns=edge_columns or None,
        names=parts.graph_names,
        name=name,
        **found._asdict(),
    )


def table_file(folder: Path, name: str) -> Path | None:
    """Return the file of a table, ``NAME.csv`` or ``NAME.parquet``; None if there is none."""
    files = [folder / f"{name}{ending}" for ending in TABLES]
    found = [file for file in files if file.is_file()]
    if len(found) > 1:
        raise InputError(f"{folder} has {found[0].name} and {found[1].name}: remove one of them")
    return found[0] if found else None


def need_edges(folder: Path) -> Path:
    """Return the file of the edges; raise `InputError` with the expected files if it is missing."""
    found = table_file(folder, "edges")
    if found is None:
        there = sorted(file.name for file in folder.iterdir() if file.suffix.lower() in TABLES)
        found_instead = f". The folder has {', '.join(there[:5])}" if there else ""
        raise InputError(f"{folder / 'edges.csv'} does not exist: give {CSV_FILES}{found_instead}")
    return found


def refuse_hidden_classes(table: Table, cure: str, taken: Sequence[str] = ()) -> None:
    """Raise `InputError` if a feature without fractions has the name of a class."""
    for name in table.columns:
        like = name not in taken and name.lower() in LIKE_LABELS
        if like and not table.has_fractions(name):
            raise InputError(
                f"{table.head}: column {name!r} looks like the class, which must not be a "
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
    edges: Table,
    nodes: Table | None,
    graphs: Table | None,
    *,
    not_features: Sequence[str] = (),
    missing: str = "error",
) -> Tables:
    """Order the nodes and number the ends of the edges; skip the columns `not_features`."""
    source, target = (
        edges.text(edges.need(end, cure=": name the two ends of an edge source and target"))
        for end in ("source", "target")
    )
    if nodes is None:
        owner = edges
        node = pa.chunked_array([source, target]).combine_chunks()
    else:
        owner = nodes
        node = nodes.text(nodes.need("node", "id", cure=RENAME))
    if not len(node):
        raise InputError(f"{owner.label} has a header but no lines: there are no nodes")
    names, graph_of = _graphs(owner, graphs)
    if nodes is None:
        graph_of = np.concatenate([graph_of, graph_of])
    elif edges.first_of("graph") and not nodes.first_of("graph"):
        raise InputError(f"{nodes.head}: no column graph, but {edges.short} has one: add it")

    # A node is identified by its name, or by graph and name if both files have a graph.
    distinct = pc.unique(node)
    per_graph = edges.first_of("graph") is not None
    key = _codes(node, distinct) + (graph_of * len(distinct) if per_graph else 0)
    known, first, entry = np.unique(key, return_index=True, return_inverse=True)
    if nodes is not None and len(known) < len(node):
        again = int(np.flatnonzero(first[entry] != np.arange(len(node)))[0])
        cure = "" if per_graph else f" ({edges.short} has no column graph to tell them apart)"
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
        lost = known[place] != wanted
        if lost.any():
            row = int(lost.argmax())
            scope = f" with graph {edges.text('graph')[row].as_py()!r}" if per_graph else ""
            raise InputError(
                f"{edges.at(row)}: node {end[row].as_py()!r} is not in {owner.short}{scope}: add it"
            )
        pairs.append(position[place])
    columns, x = _features(nodes, first[order], not_features, missing)
    return Tables(
        pairs=torch.from_numpy(np.stack(pairs)),
        graph_of_node=torch.from_numpy(graph_of[first][order]),
        x=x,
        columns=columns,
        node_names=node.take(pa.array(first[order])).to_pylist(),
        graph_names=names.to_pylist(),
    )


def _table(folder: Path, name: str, ids: Sequence[str]) -> Table | None:
    file = table_file(folder, name)
    return None if file is None else Table.read(file, ids)


def _codes(values: Any, distinct: Any) -> Array:
    """Return (n,) int64 the index of each value in `distinct`, −1 if it is not there."""
    codes: Array = np.from_dlpack(pc.fill_null(pc.index_in(values, distinct), -1))
    return codes.astype(np.int64)


def _graphs(owner: Table, graphs: Table | None) -> tuple[Any, Array]:
    """Return the names of all graphs, and the graph of each line of `owner`."""
    column = owner.first_of("graph")
    own = owner.text(column) if column else None
    listed = None if graphs is None else graphs.text(graphs.need("graph", "id", cure=RENAME))
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
                f"{owner.head}: no column graph, but {'' if graphs is None else graphs.short} "
                f"lists {len(names)} graphs"
            )
        return names, np.zeros(len(owner), np.int64)
    codes = _codes(own, names)
    if (codes < 0).any():
        row = int((codes < 0).argmax())
        listing = "graphs.csv" if graphs is None else graphs.short
        raise InputError(f"{owner.at(row)}: graph {own[row].as_py()!r} is not in {listing}")
    empty = np.bincount(codes, minlength=len(names)) == 0
    if empty.any() and graphs is not None:
        row = int(empty.argmax())
        raise InputError(f"{graphs.at(row)}: graph {names[row].as_py()!r} has no nodes")
    return names, codes


def _features(
    nodes: Table | None, order: Array, but: Sequence[str], missing: str
) -> tuple[list[str] | None, Tensor | None]:
    if nodes is None:
        return None, None
    columns, x = nodes.numbers(
        without=(nodes.need("node", "id", cure=RENAME), "graph", *but), missing=missing
    )
    return (None, None) if x is None else (columns, x[torch.from_numpy(order)])


def _targets_of_graphs(graphs: Table | None, how: Reading) -> Targets:
    """Return the targets of a table of graphs; warn of the columns that are not used."""
    if graphs is None:
        if how.target is not None:
            raise NoTargetError(f"no column {how.target!r} to predict: there is no graphs.csv")
        return Targets()
    return targets_of_graphs(graphs, how, but=(graphs.need("graph", "id", cure=RENAME),))


def targets_of_graphs(graphs: Table, how: Reading, but: Sequence[str] = ()) -> Targets:
    """Return the targets among the columns of graphs except `but`; warn of those not used."""
    others = [column for column in graphs.columns if column not in but]
    if how.wanted is not None:
        chosen = chosen_columns(others, how.wanted, graphs.head)
    else:
        default = graphs.first_of("label", "y")
        chosen = [] if default is None else [default]
    others = [column for column in others if column not in chosen]
    if not chosen:
        for name in others:
            if name.lower() in LIKE_LABELS:
                raise InputError(
                    f"{graphs.head}: column {name!r} looks like the class: rename it to label, "
                    f"or say so (target={name})"
                )
    if others:
        cure = "target= (--target) makes columns of graphs targets; features belong to nodes"
        warn_unused(graphs.label, others, cure)
    return read_targets(graphs, chosen, how, of_nodes=False)


def read_csv_graph(path: str | os.PathLike[str], how: Reading | None = None) -> NodeGraph:
    """Read a graph from ``edges.csv`` and, if there is one, ``nodes.csv``.

    * ``edges.csv``: ``source``, ``target``; ``weight`` are the weights of the edges; further
      columns are edge features.
    * ``nodes.csv``: ``node`` (or ``id``); ``label`` (or ``y``, or what `how` names) is the target:
      whole numbers, or text that is numbered in sorted order, or fractions; empty (or −1 for a
      class) if it is not known. Further columns are features. Beside a column ``x``, a ``y`` with
      fractions is a coordinate and a feature too. A feature with the name of a class (``class``,
      ``target`` …) is refused.

    Features that are words are one-hot.

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
    edges = Table.read(need_edges(folder), ids=EDGE_IDS[:2])
    nodes = _table(folder, "nodes", NODE_IDS[:2])
    with mistakes_in(folder):
        return graph_of_tables(edges, nodes, how, name=folder.resolve().name)


def graph_of_tables(
    edges: Table, nodes: Table | None, how: Reading | None, *, name: str
) -> NodeGraph:
    """Build one graph, whose nodes are embedded, from its tables."""
    how = how or Reading()
    chosen: list[str] = []
    left: list[str] = []
    if nodes is not None:
        chosen, left = node_targets(nodes, how, ids=(nodes.need("node", "id", cure=RENAME),))
    elif how.target is not None:
        raise InputError(f"no column {how.target!r} to predict: there is no nodes.csv")
    parts = read_tables(edges, nodes, None, not_features=[*chosen, *left], missing=how.missing)
    found = Targets()
    if nodes is not None:
        found = read_targets(nodes, chosen, how, of_nodes=True)
    return NodeGraph.from_arrays(
        pairs=parts.pairs,
        num_nodes=len(parts.node_names),
        x=parts.x,
        columns=parts.columns,
        names=parts.node_names,
        name=name,
        **found._asdict(),
        **edge_parts(edges, how, but=EDGE_IDS[:2]),
    )


def node_targets(
    nodes: Table, how: Reading, ids: Sequence[str] = (), usual: Sequence[str] = ("label", "y")
) -> tuple[list[str], list[str]]:
    """Return the target columns of one graph's nodes, and columns that must not be features."""
    others = [column for column in nodes.columns if column not in ids]
    if how.wanted is not None:
        chosen = chosen_columns(others, how.wanted, nodes.head)
        left = [name for name in usual if name in others and name not in chosen]
        left = [name for name in left if not _is_coordinate(nodes, name)]
        if left:
            warn_unused(nodes.label, left, "another target is chosen; rename them to use them")
        return chosen, left
    default = nodes.first_of(*(name for name in usual if not _is_coordinate(nodes, name)))
    chosen = [] if default is None else [default]
    cure = "rename it to label, or to something else if it is a feature"
    cure = "remove it, or rename it if it is a feature" if chosen else cure
    refuse_hidden_classes(nodes, cure, taken=chosen)
    return chosen, []


def _is_coordinate(nodes: Table, name: str) -> bool:
    """Return whether a column is the second of the coordinates x and y."""
    named = name == "y" and "x" in nodes.columns
    return named and nodes.has_fractions(name)


def edge_parts(edges: Table, how: Reading, but: Sequence[str] = ()) -> dict[str, Any]:
    """Return edge_weight, edge_attr and edge_columns of one graph, from the table of its edges."""
    weighted = "weight" in edges.columns and not edges.is_text("weight")
    weight = edges.values("weight") if weighted else None
    if weight is not None and not np.isfinite(weight).all():
        row = int((~np.isfinite(weight)).argmax())
        raise InputError(f"{edges.at(row)}: column 'weight' is empty, NaN or infinite")
    without = [*but, *(["weight"] if weighted else [])]
    columns, edge_attr = edges.numbers(without=without, missing=how.missing)
    return {
        "edge_weight": None if weight is None else torch.tensor(weight, dtype=torch.float32),
        "edge_attr": edge_attr,
        "edge_columns": columns or None,
    }


def is_one_csv_graph(path: Path) -> bool:
    """Return whether `path` is a folder with edges.csv and without any column or file of graphs."""
    if table_file(path, "edges") is None or table_file(path, "graphs") is not None:
        return False
    files = [table_file(path, name) for name in ("edges", "nodes")]
    return not any("graph" in read_header(file) for file in files if file is not None)
