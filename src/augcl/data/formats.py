"""Which reader reads which file."""

from __future__ import annotations

import os
from pathlib import Path

from augcl.data.cache import cached
from augcl.data.csv_folder import read_csv_folder
from augcl.data.graph import GraphSet
from augcl.data.graphml import SUFFIXES, read_graphml
from augcl.data.tu import read_tu
from augcl.errors import InputError

KNOWN = (
    "a TU zip, a TU folder (NAME_A.txt, NAME_graph_indicator.txt …), a folder with edges.csv, "
    "or GraphML/GML: one file or a folder of them"
)


def read_graphs(path: str | os.PathLike[str]) -> GraphSet:
    """Read a graph set from a file or folder, whichever format it has.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "edges.csv").write_text("source,target\\nann,bob\\nbob,cem\\n")
    >>> read_graphs(folder)[0].num_nodes
    3
    """
    path = Path(path).expanduser()
    if not path.exists():
        raise InputError(f"{path} does not exist: give {KNOWN}")
    if path.is_file():
        if path.suffix.lower() in SUFFIXES:
            return read_graphml(path)
        if path.suffix.lower() == ".zip":
            return cached(path, read_tu)
        raise InputError(f"{path} has a format that is not known: give {KNOWN}")
    if (path / "edges.csv").is_file():
        return cached(path, read_csv_folder)
    for folder in (path, path / "raw"):  # raw: where PyG puts the files
        if any(folder.glob("*_A.txt")):
            return cached(folder, read_tu)
    if any(file.suffix.lower() in SUFFIXES for file in path.iterdir()):
        return cached(path, read_graphml)
    raise InputError(f"{path} holds no graphs that can be read: give {KNOWN}")
