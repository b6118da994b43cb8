"""Choose the reader for a file or folder by its format."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from augcl.data.cache import cached, cached_graph
from augcl.data.csv_folder import is_one_csv_graph, need_edges, read_csv_folder, read_csv_graph
from augcl.data.graph import GraphSet
from augcl.data.graphml import SUFFIXES, read_graphml, read_graphml_graph
from augcl.data.node_convert import as_node_graph
from augcl.data.node_graph import NodeGraph
from augcl.data.npz import read_npz
from augcl.data.planetoid import planetoid_file, read_planetoid
from augcl.data.tu import read_tu
from augcl.data.wikics import read_wikics
from augcl.errors import InputError, mistakes_in

KNOWN = (
    "a TU zip, a TU folder (NAME_A.txt, NAME_graph_indicator.txt …), a folder with edges.csv, "
    "GraphML/GML (one file or a folder of them), a gnn-benchmark or heterophilous-graphs .npz, "
    "Wiki-CS data.json, "
    "or a folder of planetoid files (ind.NAME.x …)"
)


def read_graphs(path: str | os.PathLike[str]) -> GraphSet:
    """Read a graph set from a file or folder, whichever format it has.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "edges.csv").write_text("source,target\\nann,bob\\nbob,cem\\n")
    >>> read_graphs(folder)[0].num_nodes
    3
    """
    path = _existing(path)
    if _only_nodes(path) is not None:
        raise InputError(
            f"{path} is one graph whose nodes have classes, but a set of graphs is needed here: "
            "use a node method"
        )
    if path.is_file():
        if path.suffix.lower() in SUFFIXES:
            return read_graphml(path)
        if path.suffix.lower() == ".zip":
            return cached(path, read_tu)
        raise InputError(f"{path} has an unknown format: give {KNOWN}")
    if (path / "edges.csv").is_file():
        return cached(path, read_csv_folder)
    for folder in (path, path / "raw"):  # raw: where PyG puts the files
        if any(folder.glob("*_A.txt")):
            return cached(folder, read_tu)
    if any(file.suffix.lower() in SUFFIXES for file in path.iterdir()):
        return cached(path, read_graphml)
    if any(path.glob("*.csv")):
        need_edges(path)
    raise InputError(f"{path} contains no graphs that can be read: give {KNOWN}")


def read_graph(path: str | os.PathLike[str]) -> NodeGraph:
    """Read one graph, whose nodes are embedded, from a file or folder.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "edges.csv").write_text("source,target\\nann,bob\\nbob,cem\\n")
    >>> read_graph(folder).names
    ['ann', 'bob', 'cem']
    """
    path = _existing(path)
    file = _only_nodes(path)
    if file is not None:
        if file.suffix.lower() == ".npz":
            return read_npz(file)
        if file.suffix.lower() == ".json":
            return cached_graph(file, read_wikics)
        return read_planetoid(file)
    if path.is_file() and path.suffix.lower() in SUFFIXES:
        return read_graphml_graph(path)
    if is_one_csv_graph(path):
        return cached_graph(path, read_csv_graph)
    graphs = read_graphs(path)
    with mistakes_in(path):
        return replace(as_node_graph(graphs), cleaned=graphs.cleaned)


def is_one_graph(path: Path) -> bool:
    """Return whether a path holds one graph, so that its nodes are embedded."""
    if _only_nodes(path) is not None or is_one_csv_graph(path):
        return True
    return path.is_file() and path.suffix.lower() in SUFFIXES


def _existing(path: str | os.PathLike[str]) -> Path:
    path = Path(path).expanduser()
    if not path.exists():
        raise InputError(f"{path} does not exist: give {KNOWN}")
    return path


def _only_nodes(path: Path) -> Path | None:
    """Return the file if `path` is or contains one in a format for single graphs only."""
    if path.is_file():
        own = path.suffix.lower() in (".npz", ".json") or planetoid_file(path) is not None
        return path if own else None
    if (path / "edges.csv").is_file():
        return None
    for folder in (path, path / "raw"):
        if folder.is_dir():
            if (folder / "data.json").is_file():
                return folder / "data.json"
            found = planetoid_file(folder)
            if found is not None:
                return found
    return None
