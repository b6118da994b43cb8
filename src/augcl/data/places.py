"""Where named data sets are looked for."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from augcl.data.cache import cache_dir
from augcl.data.planetoid import PARTS
from augcl.errors import InputError

PathLike = str | os.PathLike[str]

# How each graph is published: the collection (PyG's name for it) and the file.
NODE_FILES = {
    "Amazon-Photo": ("Amazon", "amazon_electronics_photo.npz"),
    "Amazon-Computers": ("Amazon", "amazon_electronics_computers.npz"),
    "Wiki-CS": ("WikiCS", "data.json"),
    "Coauthor-CS": ("Coauthor", "ms_academic_cs.npz"),
    "Coauthor-Physics": ("Coauthor", "ms_academic_phy.npz"),
    "Cora": ("Planetoid", "ind.cora.graph"),
    "CiteSeer": ("Planetoid", "ind.citeseer.graph"),
    "PubMed": ("Planetoid", "ind.pubmed.graph"),
}


def places(data_dir: PathLike | None) -> list[Path]:
    """Folders in which names are looked for, first one first."""
    folders = [] if data_dir is None else [_existing(data_dir)]
    if own := os.environ.get("AUGCL_DATA"):
        folders.append(_existing(own, cure=": change or unset $AUGCL_DATA"))
    grakel = importlib.util.find_spec("grakel")  # found, not imported
    if grakel is not None and grakel.origin is not None:
        folders.append(Path(grakel.origin).parent / "tests" / "data")
    return [*folders, cache_dir()]


def _existing(given: PathLike, cure: str = "") -> Path:
    folder = Path(given).expanduser()
    if not folder.is_dir():
        raise InputError(f"data folder {given} does not exist{cure}")
    return folder


def find_graph_set(name: str, folders: Iterable[Path]) -> Path | None:
    """``NAME.zip`` or ``NAME/``, directly or below ``TU/``."""
    candidates = (
        folder / file
        for place in folders
        for folder in (place, place / "TU")
        for file in (f"{name}.zip", name)
    )
    return next((path for path in candidates if path.exists()), None)


def find_node_set(name: str, folders: Iterable[Path]) -> Path | None:
    """The file of a graph as published, or ``NAME.npz``, or a folder ``NAME`` with edges.csv.

    It lies directly in a place, below ``npz/``, or in a folder called like the graph, perhaps in
    ``raw/`` in that (PyG's layout).
    """
    for place in folders:
        for folder in (place, place / "npz"):
            for path in _candidates(name, folder):
                if _is_whole(path):
                    return path
    return None


def _candidates(name: str, folder: Path) -> Iterator[Path]:
    files = [f"{name}.npz", f"{name.lower()}.npz"]
    if name in NODE_FILES:
        files.insert(0, NODE_FILES[name][1])
    yield from (folder / file for file in files if file != "data.json")  # that may be anything
    for called in (name, name.lower(), name.replace("-", ""), name.split("-")[-1]):
        own = folder / called
        yield from (own / file for file in files)
        yield from (own / "raw" / file for file in files)
        if (own / "edges.csv").is_file():
            yield own


def _is_whole(path: Path) -> bool:
    if path.name.startswith("ind."):
        prefix = path.name.removesuffix("graph")
        return all((path.parent / f"{prefix}{part}").is_file() for part in PARTS)
    return path.exists()
