"""Read graphs from GraphML and GML files, one graph per file."""

from __future__ import annotations

import math
import os
import warnings
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

import networkx as nx

from augcl.data.convert import as_graphset
from augcl.data.graph import GraphSet
from augcl.data.labels import node_class_names, node_classes
from augcl.data.node_convert import as_node_graph
from augcl.data.node_graph import NodeGraph
from augcl.errors import InputError, mistakes_in, readable

SUFFIXES = (".graphml", ".gml")


def read_graphml(path: str | os.PathLike[str]) -> GraphSet:
    """Read a GraphML or GML file, or all of them in a folder in the order of their names.

    Numeric node attributes become features, sorted by name; text attributes are ignored with a
    warning. The class of a graph is its attribute ``y`` or ``label``. ``names`` are the file names.

    Examples
    --------
    >>> import tempfile
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
    keys = sorted({key for graph in graphs for key in _keys(graph, Real)})
    plain = [_with_features(g, keys, file) for g, file in zip(graphs, files, strict=True)]
    texts = sorted({key for graph in graphs for key in _keys(graph, str)} - {"label", "name"})
    if texts:
        warnings.warn(
            f"{path}: node attribute{'s' * (len(texts) > 1)} {', '.join(texts)} not used: only "
            "numbers are read; nodes.csv in a folder of CSV files takes text as features",
            stacklevel=2,
        )
    name = path.resolve().name if path.is_dir() else path.stem
    names = [file.stem for file in files]
    found = as_graphset(plain)
    return replace(found, names=names, columns=keys or found.columns, name=name)


def read_graphml_graph(path: str | os.PathLike[str]) -> NodeGraph:
    """Read a GraphML or GML file as one graph whose nodes are embedded.

    The class of a node is its attribute ``y`` or ``label``; a ``label`` that differs from node to
    node is the node's name, as drawing programs write it. Other numeric attributes (also a ``y``
    with fractions) are features.

    Examples
    --------
    >>> import tempfile
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
    titles = [value for _, value in graph.nodes(data="label")]
    label_is_name = None not in titles and len(set(titles)) == len(titles)
    used = {"label"} if label_is_name else set()
    classes = called = None
    with mistakes_in(file):
        for key in ("y", "label"):
            if classes is None and key not in used:
                values = [value for _, value in graph.nodes(data=key)]
                classes, called = node_classes(values), node_class_names(values)
                used |= set() if classes is None else {key}
        keys = sorted(_keys(graph, Real) - used)
        found = as_node_graph(_with_features(graph, keys, file))
    names = [str(title) for title in titles] if label_is_name else found.names
    columns = keys or found.columns
    return replace(found, y=classes, classes=called, names=names, name=file.stem, columns=columns)


def _read(file: Path) -> Any:
    gml = file.suffix.lower() == ".gml"
    with readable(file):
        try:
            graph = nx.read_gml(file, label="id") if gml else nx.read_graphml(file)
        except (nx.NetworkXError, ParseError, ValueError, KeyError, TypeError) as error:
            kind = "GML" if gml else "GraphML"
            raise InputError(f"{file} is not a {kind} file: {error}") from None
    if not len(graph):
        raise InputError(f"{file} has no nodes: remove the file or give it a node")
    return graph


def _keys(graph: Any, kind: type) -> set[str]:
    """Return the node attributes with a value of that kind."""
    return {
        key
        for _, values in graph.nodes(data=True)
        for key, value in values.items()
        if isinstance(value, kind)
    }


def _with_features(graph: Any, keys: list[str], file: Path) -> Any:
    """Return the graph with its class and one feature vector ``x`` per node, nothing else."""
    label = {key: graph.graph[key] for key in ("y", "label") if key in graph.graph}
    plain = nx.MultiDiGraph(**label)  # keeps every edge as the file has it
    for node, values in graph.nodes(data=True):
        vector = [values.get(key) for key in keys]
        for key, value in zip(keys, vector, strict=True):
            if not isinstance(value, Real) or not math.isfinite(value):
                raise InputError(
                    f"{file}: attribute {key!r} of node {node!r} is {value!r}, but it is a number "
                    "on other nodes: give every node a finite number"
                )
        plain.add_node(node, **({"x": vector} if keys else {}))
    plain.add_edges_from(graph.edges())
    return plain
