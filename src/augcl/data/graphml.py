"""Read graphs from GraphML and GML files, one graph per file."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from augcl.data.convert import graphset_of_networkx
from augcl.data.graph import GraphSet
from augcl.data.limits import check_parsed
from augcl.data.node_convert import graph_of_networkx
from augcl.data.node_graph import NodeGraph
from augcl.data.targets import Reading
from augcl.errors import InputError, mistakes_in, readable, shortened

SUFFIXES = (".graphml", ".gml")


def read_graphml(path: str | os.PathLike[str], how: Reading | None = None) -> GraphSet:
    """Read a GraphML or GML file, or all of them in a folder in the order of their names.

    Attributes of nodes and edges become features, words and booleans one-hot; a ``label`` that
    differs from node to node is a name. The target of a graph is its attribute ``y`` or ``label``,
    or what `how` names. ``names`` are the file names.

    Examples
    --------
    >>> import tempfile
    >>> import networkx as nx
    >>> folder = Path(tempfile.mkdtemp())
    >>> nx.write_graphml(nx.path_graph(3), folder / "path.graphml")
    >>> nx.write_gml(nx.cycle_graph(4), folder / "ring.gml")
    >>> read_graphml(folder).names
    ['path', 'ring']
    """
    path = Path(path)
    files = [path]
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix.lower() in SUFFIXES)
        if not files:
            raise InputError(f"{path} holds no file that ends in {' or '.join(SUFFIXES)}")
    graphs = [_read(file) for file in files]
    name = path.resolve().name if path.is_dir() else path.stem
    places = [str(file) for file in files]
    found = graphset_of_networkx(graphs, how or Reading(), places, label=str(path), named=True)
    return replace(found, names=[file.stem for file in files], name=name)


def read_graphml_graph(path: str | os.PathLike[str], how: Reading | None = None) -> NodeGraph:
    """Read a GraphML or GML file as one graph whose nodes are embedded.

    The target of a node is its attribute ``y`` or ``label``, or what `how` names; a ``label`` that
    differs from node to node is the node's name, as drawing programs write it. Other attributes
    (also a ``y`` with fractions beside an ``x``) are features; ``weight`` of edges is their weight.

    Examples
    --------
    >>> import tempfile
    >>> import networkx as nx
    >>> file = Path(tempfile.mkdtemp()) / "pair.graphml"
    >>> pair = nx.Graph([("ann", "bob")])
    >>> nx.set_node_attributes(pair, {"ann": "old", "bob": "young"}, "y")
    >>> nx.write_graphml(pair, file)
    >>> graph = read_graphml_graph(file)
    >>> graph.names, graph.y.tolist()
    (['ann', 'bob'], [0, 1])
    """
    file = Path(path)
    graph = _read(file)
    with mistakes_in(file):
        found = graph_of_networkx(graph, how or Reading(), label=str(file))
    return replace(found, name=file.stem)


def _read(file: Path) -> Any:
    import networkx as nx  # slow to import

    gml = file.suffix.lower() == ".gml"
    with readable(file):
        check_parsed(file)
        try:
            graph = nx.read_gml(file, label="id") if gml else nx.read_graphml(file)
        except (OSError, MemoryError, Warning):
            raise
        except Exception as error:  # networkx and the XML parser have errors of many kinds
            kind = "GML" if gml else "GraphML"
            reason = " ".join(shortened(error).split()) or type(error).__name__
            raise InputError(f"{file} is not a {kind} file: {reason}") from None
    if not len(graph):
        raise InputError(f"{file} has no nodes: remove the file or give it a node")
    if gml:
        for _, values in graph.nodes(data=True):  # GML's names of nodes, which may be numbers
            if "label" in values:
                values["label"] = str(values["label"])
    for _, _, values in graph.edges(data=True):
        values.pop("id", None)  # names of edges, which GraphML has beside their attributes
    return graph
