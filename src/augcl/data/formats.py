"""Choose the reader for a file or folder by its format."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from augcl.data.cache import cached, cached_graph
from augcl.data.csv_folder import (
    is_one_csv_graph,
    need_edges,
    read_csv_folder,
    read_csv_graph,
    table_file,
)
from augcl.data.graph import GraphSet
from augcl.data.graphml import SUFFIXES, read_graphml, read_graphml_graph
from augcl.data.large import ARRAYS, EDGES, large_file, ogb_splits, read_large
from augcl.data.limits import reading
from augcl.data.molecules import read_molecules
from augcl.data.node_convert import as_node_graph
from augcl.data.node_graph import NodeGraph
from augcl.data.npz import read_npz
from augcl.data.planetoid import planetoid_file, read_planetoid
from augcl.data.table import TABLES
from augcl.data.targets import Reading, with_task
from augcl.data.tu import read_tu
from augcl.data.wikics import read_wikics
from augcl.errors import InputError, mistakes_in

KNOWN = (
    "a TU zip, a TU folder (NAME_A.txt, NAME_graph_indicator.txt …), a folder with edges.csv "
    "(or .parquet), a .csv or .parquet of molecules with a column smiles, "
    "GraphML/GML (one file or a folder of them), a gnn-benchmark or heterophilous-graphs .npz, "
    "Wiki-CS data.json, "
    "a folder of planetoid files (ind.NAME.x …), an OGB folder (raw/edge.csv.gz), "
    "or a folder with edges.npy (features.npy)"
)


def read_graphs(path: str | os.PathLike[str], how: Reading | None = None) -> GraphSet:
    """Read a graph set from a file or folder, whichever format it has.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "edges.csv").write_text("source,target\\nann,bob\\nbob,cem\\n")
    >>> read_graphs(folder)[0].num_nodes
    3
    """
    path = _existing(path)
    with reading(path):
        return _read_graphs(path, how or Reading())


def _read_graphs(path: Path, how: Reading) -> GraphSet:
    if _only_nodes(path) is not None:
        raise InputError(
            f"{path} is one graph whose nodes have classes, but a set of graphs is needed here: "
            "use a node method"
        )
    source, read = _reader_of_sets(path)
    if how.smiles is not None and read is not read_molecules:
        raise InputError(f"{path} is not a table of molecules: leave out smiles={how.smiles}")
    if path.is_file() and read is not read_tu:
        return read(source, how)
    return cached(source, lambda file: read(file, how), how.mark)


def _reader_of_sets(path: Path) -> tuple[Path, Callable[[Path, Reading], GraphSet]]:
    """Return what to read, and the function that reads it."""
    if path.is_file():
        ending = path.suffix.lower()
        if ending in SUFFIXES:
            return path, read_graphml
        if ending == ".zip":
            return path, read_tu
        if ending in TABLES:
            return path, read_molecules
        raise InputError(f"{path} has an unknown format: give {KNOWN}")
    if table_file(path, "edges") is not None:
        return path, read_csv_folder
    for folder in (path, path / "raw"):  # raw: where PyG puts the files
        if any(folder.glob("*_A.txt")):
            return folder, read_tu
    if any(file.suffix.lower() in SUFFIXES for file in path.iterdir()):
        return path, read_graphml
    if any(path.glob("*.csv")):
        need_edges(path)
    raise InputError(f"{path} contains no graphs that can be read: give {KNOWN}")


def read_graph(path: str | os.PathLike[str], how: Reading | None = None) -> NodeGraph:
    """Read one graph, whose nodes are embedded, from a file or folder.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "edges.csv").write_text("source,target\\nann,bob\\nbob,cem\\n")
    >>> read_graph(folder).names
    ['ann', 'bob', 'cem']
    """
    path = _existing(path)
    with reading(path):
        return _read_graph(path, how or Reading())


def _read_graph(path: Path, told: Reading) -> NodeGraph:
    file = _only_nodes(path)
    if file is not None:
        if file.suffix.lower() == ".npz":
            return with_task(read_npz(file, told), told)
        if file.suffix.lower() == ".json":
            return with_task(
                cached_graph(file, lambda found: read_wikics(found, told), told.missing), told
            )
        if file.name in ARRAYS:  # its features are mapped already
            return with_task(read_large(file, told), told)
        if file.name == EDGES:
            graph = cached_graph(file.parent, lambda _: read_large(file, told), told.mark)
            return with_task(replace(graph, splits=ogb_splits(file, graph.num_nodes)), told)
        return with_task(read_planetoid(file, told), told)
    if path.is_file() and path.suffix.lower() in SUFFIXES:
        return read_graphml_graph(path, told)
    if is_one_csv_graph(path):
        return cached_graph(path, lambda folder: read_csv_graph(folder, told), told.mark)
    graphs = read_graphs(path, told)
    with mistakes_in(path):
        return replace(as_node_graph(graphs), cleaned=graphs.cleaned)


def is_one_graph(path: Path) -> bool:
    """Return whether a path holds one graph, so that its nodes are embedded."""
    with reading(path):
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
    large = large_file(path)
    if large is not None:
        return large
    if table_file(path, "edges") is not None:
        return None
    for folder in (path, path / "raw"):
        if folder.is_dir():
            if (folder / "data.json").is_file():
                return folder / "data.json"
            found = planetoid_file(folder)
            if found is not None:
                return found
    return None
