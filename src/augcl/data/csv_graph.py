"""One graph in a folder of CSV files, whose nodes are what is embedded."""

from __future__ import annotations

import os
from pathlib import Path

from augcl.data.csv_folder import need_edges, read_tables, refuse_hidden_classes
from augcl.data.csv_table import CSVTable, read_header
from augcl.data.labels import node_class_names, node_classes
from augcl.data.node_graph import NodeGraph
from augcl.data.where import mistakes_in


def read_csv_graph(path: str | os.PathLike[str]) -> NodeGraph:
    """Read a graph from ``edges.csv`` and, if there is one, ``nodes.csv``.

    * ``edges.csv``: ``source``, ``target``; further columns are left alone.
    * ``nodes.csv``: ``node`` (or ``id``); ``label`` (or ``y``) is the class, whole numbers or
      words that are numbered in sorted order, empty or −1 where it is not known; further columns
      are features, words as one-hot. One that is called like a class (``class``, ``target`` …) is
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
    words = [] if nodes is None or column is None else nodes.words(column)
    with mistakes_in(folder):
        return NodeGraph.from_arrays(
            pairs=parts.pairs,
            num_nodes=len(parts.node_names),
            x=parts.x,
            columns=parts.columns,
            y=node_classes(words) if words else None,
            classes=node_class_names(words),
            names=parts.node_names,
            name=folder.resolve().name,
        )


def is_one_csv_graph(path: Path) -> bool:
    """Whether `path` is a folder with edges.csv that nowhere speaks of several graphs."""
    if not (path / "edges.csv").is_file() or (path / "graphs.csv").exists():
        return False
    files = [file for file in (path / "edges.csv", path / "nodes.csv") if file.is_file()]
    return not any("graph" in read_header(file) for file in files)
