"""`load`: find, download and read a graph set or a graph by its name or path."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from augcl.data.cache import cache_dir
from augcl.data.catalogue import ALIASES, PLANTED, is_node_set, known_name, names
from augcl.data.download import fetch
from augcl.data.features import node_features, structure_features
from augcl.data.formats import KNOWN, is_one_graph, read_graph, read_graphs
from augcl.data.generators import SIZES, components, digits, digits_knn, planted
from augcl.data.graph import GraphSet
from augcl.data.node_graph import NodeGraph
from augcl.data.planetoid import PARTS
from augcl.data.table import TABLES
from augcl.data.targets import Reading, with_task
from augcl.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from torch_geometric.data import Data


PathLike = str | os.PathLike[str]
PACKAGED = Path(__file__).with_name("files")
"""The folder of the package with the data sets that need no download: MUTAG."""

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
    "Roman-empire": ("HeterophilousGraphDataset", "roman_empire.npz"),
    "Amazon-ratings": ("HeterophilousGraphDataset", "amazon_ratings.npz"),
    "Minesweeper": ("HeterophilousGraphDataset", "minesweeper.npz"),
    "Tolokers": ("HeterophilousGraphDataset", "tolokers.npz"),
    "Questions": ("HeterophilousGraphDataset", "questions.npz"),
    "Chameleon-filtered": ("HeterophilousGraphDataset", "chameleon_filtered.npz"),
    "Squirrel-filtered": ("HeterophilousGraphDataset", "squirrel_filtered.npz"),
    "Actor": ("HeterophilousGraphDataset", "actor.npz"),
}

BELOW = ("npz", "heterophilous", "planetoid")
"""Folders below a data folder in which files of single graphs may lie."""


_MOVED: ContextVar[Mapping[str, Path]] = ContextVar("moved")


@contextmanager
def moved(places: Mapping[str, Path]) -> Iterator[None]:
    """Read some data sets, by name or by path as given, from another place than usual.

    For a process on another machine, where the path that a user gave does not exist.

    >>> with moved({"a/b.zip": PACKAGED / "MUTAG.zip"}):
    ...     len(load("a/b.zip"))
    188
    """
    before = _MOVED.set(places)
    try:
        yield
    finally:
        _MOVED.reset(before)


def files_of(name_or_path: PathLike, *, data_dir: PathLike | None = None) -> list[Path]:
    """Return what `load` would read from this disk: one path, of a file or folder, in most cases.

    Empty for data sets that are generated, part of the package, or not downloaded yet.

    >>> files_of("MUTAG"), files_of("digits-knn")
    ([], [])
    """
    known, path = _wanted(name_or_path, data_dir)
    if known is not None:
        find = find_node_set if is_node_set(known) else find_graph_set
        path = _MOVED.get({}).get(known) or find(known, data_folders(data_dir))
    if path is None or path.is_relative_to(PACKAGED):
        return []
    if path.name.startswith("ind."):
        return [path, *(part for part in _planetoid_parts(path) if part != path)]
    return [path]


def data_folders(data_dir: PathLike | None) -> list[Path]:
    """Return the folders in which names are searched, in order."""
    folders = [] if data_dir is None else [_existing(data_dir)]
    if own := os.environ.get("AUGCL_DATA"):
        folders.append(_existing(own, cure=": change or unset $AUGCL_DATA"))
    return [*folders, PACKAGED, cache_dir()]


def _existing(given: PathLike, cure: str = "") -> Path:
    folder = Path(given).expanduser()
    if not folder.is_dir():
        raise InputError(f"data folder {given} does not exist{cure}")
    return folder


def find_graph_set(name: str, folders: Iterable[Path]) -> Path | None:
    """Find ``NAME.zip`` or ``NAME/``, directly in a folder or below ``TU/``."""
    candidates = (
        folder / file
        for place in folders
        for folder in (place, place / "TU")
        for file in (f"{name}.zip", name)
    )
    return next((path for path in candidates if path.exists()), None)


def find_node_set(name: str, folders: Iterable[Path]) -> Path | None:
    """Find the published file of a graph, ``NAME.npz``, or a folder ``NAME`` with edges.csv.

    It lies directly in a folder, below one of the folders `BELOW`, or in a subfolder with the name
    of the graph, perhaps in its ``raw/`` (PyG's layout).
    """
    for place in folders:
        for folder in (place, *(place / below for below in BELOW)):
            for path in _candidates(name, folder):
                if _is_whole(path):
                    return path
    return None


def _candidates(name: str, folder: Path) -> Iterator[Path]:
    files = [f"{name}.npz", f"{name.lower()}.npz"]
    if name in NODE_FILES:
        files.insert(0, NODE_FILES[name][1])
    yield from (folder / file for file in files if file != "data.json")  # too common a name
    for called in (name, name.lower(), name.replace("-", ""), name.split("-")[-1]):
        own = folder / called
        yield from (own / file for file in files)
        yield from (own / "raw" / file for file in files)
        if any((own / f"edges{ending}").is_file() for ending in TABLES):
            yield own


def _is_whole(path: Path) -> bool:
    if path.name.startswith("ind."):
        return all(part.is_file() for part in _planetoid_parts(path))
    return path.exists()


def _planetoid_parts(path: Path) -> list[Path]:
    """Return all files of the graph to which a file such as ``ind.NAME.graph`` belongs."""
    prefix = ".".join(path.name.split(".")[:2])
    return [path.with_name(f"{prefix}.{part}") for part in PARTS]


def download_tu(name: str, folder: Path) -> Path:
    """Download ``NAME.zip`` into `folder` and return its path; never leave a partial file.

    The source is ``$AUGCL_TU_URL``, or the address that PyG uses. Unlike PyG's download this one
    checks the server's certificate, that a zip has arrived and, where it is known, its hash.
    """
    from torch_geometric.datasets import TUDataset

    above = os.environ.get("AUGCL_TU_URL") or TUDataset.url
    return fetch(f"{above.rstrip('/')}/{name}.zip", folder / f"{name}.zip", name)


def download_node_set(name: str, folder: Path) -> Path:
    """Download the file or files of a graph into `folder`; return the one to read.

    The source is ``$AUGCL_NODE_URL``, or the address that PyG uses. Files that exist are not
    downloaded again.
    """
    import torch_geometric.datasets

    collection, published = NODE_FILES[name]
    pyg: str = getattr(torch_geometric.datasets, collection).url
    above = (os.environ.get("AUGCL_NODE_URL") or pyg).rstrip("/")
    files = [published]
    if collection == "Planetoid":
        files = [f"{published.removesuffix('graph')}{part}" for part in PARTS]
    for file in files:
        if not (folder / file).is_file():
            fetch(f"{above}/{file}", folder / file, name)
    return folder / published


def load(
    name_or_path: PathLike,
    *,
    data_dir: PathLike | None = None,
    features: str = "auto",
    seed: int = 0,
    target: str | Sequence[str] | None = None,
    task: str = "auto",
    missing: str = "error",
    smiles: str | None = None,
    skip_bad: bool = False,
) -> GraphSet | Data:
    """Load graphs, or one graph for node methods, by name or from a file or folder.

    A name is looked for in `data_dir`, in ``$AUGCL_DATA``, in the package itself (MUTAG) and
    in the cache, then downloaded if it is one of :func:`names`.

    Parameters
    ----------
    name_or_path : str or path
        A name in any case (``"MUTAG"``, ``"rdt-b"``, ``"Amazon-Photo"``), or the path of a TU zip
        or folder, of a folder with ``edges.csv``, of a ``.csv`` file of molecules, of GraphML/GML
        files, of a gnn-benchmark ``.npz``, of Wiki-CS's ``data.json`` or of planetoid files. Where
        ``.csv`` is read, ``.parquet`` is too. Write ``./NAME`` for a folder here that is called
        like a data set.
    data_dir : path, optional
        Folder with ``NAME.zip`` or ``NAME/``, directly or below ``TU/``, and with the files of
        single graphs as published, directly or below ``npz/``.
    features : str
        Node features, see :func:`augcl.data.node_features`.
    seed : int
        For sets that are drawn at random.
    target : str or sequence of str, optional
        Column (attribute) of graphs, or of one graph's nodes, to predict: ``"logP"``,
        ``"group_*"`` for several; ``label`` or ``y`` if None.
    task : {"auto", "classification", "regression", "multilabel"}
        What the target asks for. "auto": words and whole numbers are classes, fractions and
        several columns are numbers (0 and 1 in several columns: multi-label).
    missing : {"error", "zero"}
        A missing feature is an error, or 0 with a column ``NAME missing`` that holds 1.
    smiles : str, optional
        Name of the column with SMILES, if it is not ``smiles``.
    skip_bad : bool
        Leave out molecules that RDKit refuses, with a warning.

    Returns
    -------
    GraphSet or torch_geometric.data.Data
        A ``Data`` for one graph: a file whose nodes have classes, a single GraphML or GML file, a
        folder whose CSV files have no column ``graph``. Its ``x`` is ``torch.sparse_csr`` when most
        features are 0; ``y`` is −1 where a class is not known.

    Examples
    --------
    >>> load("mutag")
    GraphSet('MUTAG': 188 graphs, 3371 nodes, 7442 edge entries, 7 features, 2 classes)
    >>> load("digits-knn")
    Data(x=[1797, 64], edge_index=[2, 24678], y=[1797], name='digits-knn')
    """
    how = Reading(target, task, missing, smiles, skip_bad)  # type: ignore[arg-type]
    if level_of(name_or_path, data_dir=data_dir) == "node":
        return load_graph(name_or_path, data_dir=data_dir, features=features, how=how).to_data()
    return load_graphs(name_or_path, data_dir=data_dir, features=features, seed=seed, how=how)


def level_of(name_or_path: PathLike, *, data_dir: PathLike | None = None) -> str:
    """What is embedded, "graph" or "node", without reading all of the data.

    >>> level_of("MUTAG"), level_of("digits-knn")
    ('graph', 'node')
    """
    known, path = _wanted(name_or_path, data_dir)
    of_nodes = is_node_set(known) if path is None else is_one_graph(path)
    return "node" if of_nodes else "graph"


def load_graphs(
    name_or_path: PathLike,
    *,
    data_dir: PathLike | None = None,
    features: str = "auto",
    seed: int = 0,
    how: Reading | None = None,
) -> GraphSet:
    """As `load`, for who needs a set of graphs; the name of a single graph is refused.

    >>> len(load_graphs("MUTAG"))
    188
    """
    known, path = _wanted(name_or_path, data_dir)
    if is_node_set(known):
        raise InputError(
            f"{known} is one graph whose nodes have classes, but a set of graphs is needed here: "
            "choose a node method, or a set of graphs that augcl data lists"
        )
    if known is not None and known.startswith("components"):
        size, p = SIZES[known.removeprefix("components").removeprefix("-") or "15-20"]
        drawn = replace(components(nodes=size, p=p, seed=seed), name=known)
        graphs = with_task(drawn, how or Reading())
    elif known == "digits":
        graphs = with_task(digits(), how or Reading())
    elif known is not None:
        found = _MOVED.get({}).get(known) or find_graph_set(known, data_folders(data_dir))
        graphs = read_graphs(found or download_tu(known, cache_dir() / "TU"), how)
    else:
        assert path is not None
        graphs = read_graphs(path, how)
    return node_features(graphs, features)


def load_graph(
    name_or_path: PathLike,
    *,
    data_dir: PathLike | None = None,
    features: str = "auto",
    how: Reading | None = None,
) -> NodeGraph:
    """Load one graph whose nodes are embedded, as `load` does; refuse a set of graphs.

    >>> load_graph("digits-knn")
    NodeGraph('digits-knn': 1797 nodes, 24678 edge entries, 64 features, 10 classes)
    """
    known, path = _wanted(name_or_path, data_dir)
    if known is not None and not is_node_set(known):
        raise InputError(
            f"{known} is a set of graphs, but one graph is needed here, whose nodes are embedded: "
            "choose GraphCL, or a graph that augcl data lists"
        )
    drawn = PLANTED.fullmatch(known or "")
    if known == "digits-knn":
        graph = with_task(digits_knn(), how or Reading())
    elif drawn is not None:
        graph = with_task(planted(int(drawn[1])), how or Reading())
    elif known is not None:
        found = _MOVED.get({}).get(known) or find_node_set(known, data_folders(data_dir))
        graph = read_graph(found or download_node_set(known, cache_dir() / known), how)
        graph = replace(graph, name=known)
    else:
        assert path is not None
        graph = read_graph(path, how)
    return structure_features(graph, features)


def _wanted(name_or_path: PathLike, data_dir: PathLike | None) -> tuple[str | None, Path | None]:
    """Return the catalogue name or the path that the user means; download nothing."""
    if not isinstance(name_or_path, str | os.PathLike):
        raise InputError(
            f"load takes a name or a path, not {type(name_or_path).__name__}: "
            "fit and transform take graphs as they are"
        )
    known = known_name(name_or_path) if isinstance(name_or_path, str) else None
    folders = data_folders(data_dir)  # refuses a data folder that does not exist
    if known is not None:
        return known, None
    name = str(name_or_path)
    path = _MOVED.get({}).get(name) or Path(name).expanduser()
    if path.exists():
        return None, path
    if os.sep in name or "/" in name or path.suffix:
        near = did_you_mean(path.name, _beside(path))
        raise InputError(
            f"{name} does not exist: {near}give {KNOWN}; or a name that augcl data lists"
        )
    found = find_graph_set(name, folders) or find_node_set(name, folders)
    if found is None:
        known_names = [*names(), *ALIASES]
        near = did_you_mean(name, [*_beside(path), *known_names])
        raise InputError(
            f"unknown data set {name!r}: {near}no file or folder here has this name; "
            f"choose from {', '.join(known_names)}, or give a path"
        )
    return None, found


def _beside(path: Path) -> list[str]:
    """Return the names in the folder of a path that does not exist, to find a typing error."""
    try:
        return sorted(os.listdir(path.parent))
    except OSError:
        return []
