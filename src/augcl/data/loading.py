"""`load`: a graph set or a graph by its name or path."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from augcl.data.cache import cache_dir
from augcl.data.catalogue import ALIASES, NODE_SETS, known_name, names
from augcl.data.component_sets import SIZES
from augcl.data.download import download_node_set, download_tu
from augcl.data.features import node_features, structure_features
from augcl.data.formats import KNOWN, is_one_graph, read_graph, read_graphs
from augcl.data.generators import components, digits, digits_knn
from augcl.data.graph import GraphSet
from augcl.data.node_graph import NodeGraph
from augcl.data.places import PathLike, find_graph_set, find_node_set, places
from augcl.errors import InputError, one_of

if TYPE_CHECKING:
    from torch_geometric.data import Data


def load(
    name_or_path: PathLike,
    *,
    data_dir: PathLike | None = None,
    features: str = "auto",
    seed: int = 0,
) -> GraphSet | Data:
    """Load graphs, or one graph for node methods, by name or from a file or folder.

    A name is looked for in `data_dir`, in ``$AUGCL_DATA``, in the installed packages (MUTAG) and
    in the cache, then downloaded if it is one of :func:`names`.

    Parameters
    ----------
    name_or_path : str or path
        A name in any case (``"MUTAG"``, ``"rdt-b"``, ``"Amazon-Photo"``), or the path of a TU zip
        or folder, of a folder with ``edges.csv``, of GraphML/GML files, of a gnn-benchmark
        ``.npz``, of Wiki-CS's ``data.json`` or of planetoid files. Write ``./NAME`` for a folder
        here that is called like a data set.
    data_dir : path, optional
        Folder with ``NAME.zip`` or ``NAME/``, directly or below ``TU/``, and with the files of
        single graphs as published, directly or below ``npz/``.
    features : str
        Node features, see :func:`augcl.data.node_features`.
    seed : int
        For sets that are drawn at random.

    Returns
    -------
    GraphSet or torch_geometric.data.Data
        A ``Data`` for one graph: a file whose nodes have classes, a single GraphML or GML file, a
        folder whose CSV files know no ``graph``. Its ``x`` is ``torch.sparse_csr`` when most
        features are 0; ``y`` is −1 where a class is not known.

    Examples
    --------
    >>> load("mutag")
    GraphSet('MUTAG': 188 graphs, 3371 nodes, 7442 edge entries, 7 features, 2 classes)
    >>> load("digits-knn")
    Data(x=[1797, 64], edge_index=[2, 24678], y=[1797], name='digits-knn')
    """
    if level_of(name_or_path, data_dir=data_dir) == "node":
        return load_graph(name_or_path, data_dir=data_dir, features=features).to_data()
    return load_graphs(name_or_path, data_dir=data_dir, features=features, seed=seed)


def level_of(name_or_path: PathLike, *, data_dir: PathLike | None = None) -> str:
    """What is embedded, "graph" or "node", without reading all of the data.

    >>> level_of("MUTAG"), level_of("digits-knn")
    ('graph', 'node')
    """
    known, path = _wanted(name_or_path, data_dir)
    of_nodes = known in NODE_SETS if path is None else is_one_graph(path)
    return "node" if of_nodes else "graph"


def load_graphs(
    name_or_path: PathLike,
    *,
    data_dir: PathLike | None = None,
    features: str = "auto",
    seed: int = 0,
) -> GraphSet:
    """As `load`, for who needs a set of graphs; the name of a single graph is refused.

    >>> len(load_graphs("MUTAG"))
    188
    """
    known, path = _wanted(name_or_path, data_dir)
    if known in NODE_SETS:
        raise InputError(
            f"{known} is one graph with classes of nodes, a set of graphs is needed here: choose "
            "a node method, or a set of graphs that augcl data lists"
        )
    if known is not None and known.startswith("components"):
        size, p = SIZES[known.removeprefix("components").removeprefix("-") or "15-20"]
        graphs = replace(components(nodes=size, p=p, seed=seed), name=known)
    elif known == "digits":
        graphs = digits()
    elif known is not None:
        found = find_graph_set(known, places(data_dir))
        graphs = read_graphs(found or download_tu(known, cache_dir() / "TU"))
    else:
        assert path is not None
        graphs = read_graphs(path)
    return node_features(graphs, features)


def load_graph(
    name_or_path: PathLike, *, data_dir: PathLike | None = None, features: str = "auto"
) -> NodeGraph:
    """As `load`, for who needs one graph whose nodes are embedded; a set of graphs is refused.

    >>> load_graph("digits-knn")
    NodeGraph('digits-knn': 1797 nodes, 24678 edge entries, 64 features, 10 classes)
    """
    known, path = _wanted(name_or_path, data_dir)
    if known is not None and known not in NODE_SETS:
        raise InputError(
            f"{known} is a set of graphs, one graph is needed here, whose nodes are embedded: "
            "choose GraphCL, or a graph that augcl data lists"
        )
    if known == "digits-knn":
        graph = digits_knn()
    elif known is not None:
        found = find_node_set(known, places(data_dir))
        graph = read_graph(found or download_node_set(known, cache_dir() / known))
        graph = replace(graph, name=known)
    else:
        assert path is not None
        graph = read_graph(path)
    return structure_features(graph, features)


def _wanted(name_or_path: PathLike, data_dir: PathLike | None) -> tuple[str | None, Path | None]:
    """The name in the catalogue, or the path that is meant; nothing is downloaded."""
    if not isinstance(name_or_path, str | os.PathLike):
        raise InputError(
            f"load takes a name or a path, not {type(name_or_path).__name__}: "
            "fit and transform take graphs as they are"
        )
    known = known_name(name_or_path) if isinstance(name_or_path, str) else None
    folders = places(data_dir)  # complains about a data folder that is not there
    if known is not None:
        return known, None
    name = str(name_or_path)
    path = Path(name).expanduser()
    if path.exists():
        return None, path
    if os.sep in name or "/" in name or path.suffix:
        raise InputError(f"{name} does not exist: give {KNOWN}; or a name that augcl data lists")
    found = find_graph_set(name, folders) or find_node_set(name, folders)
    if found is None:
        one_of(name, [*names(), *ALIASES], "data set")  # raises, and names the closest
    return None, found
