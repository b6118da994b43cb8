"""Graph sets by name: where each is looked for, and `load`, which takes a name or a path."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

from augcl.data.cache import cache_dir
from augcl.data.download import download_tu
from augcl.data.features import node_features
from augcl.data.formats import KNOWN, read_graphs
from augcl.data.generators import components, digits
from augcl.data.graph import GraphSet
from augcl.errors import InputError, one_of

PathLike = str | os.PathLike[str]

CATALOGUE = {
    "MUTAG": "188 nitro compounds, mutagenic or not (in the grakel wheel)",
    "PROTEINS": "1,113 proteins, enzyme or not",
    "NCI1": "4,110 compounds, active against lung cancer or not",
    "DD": "1,178 large protein graphs, enzyme or not",
    "COLLAB": "5,000 collaborations of scientists in 3 fields",
    "REDDIT-BINARY": "2,000 discussions, question/answer or debate",
    "IMDB-BINARY": "1,000 casts of films, action or romance",
    "NCI109": "4,127 compounds, active against ovarian cancer or not",
    "PTC_MR": "344 compounds, carcinogenic for male rats or not",
    "ENZYMES": "600 enzymes of 6 classes",
    "AIDS": "2,000 compounds, active against HIV or not",
    "Mutagenicity": "4,337 compounds, mutagenic or not",
    "IMDB-MULTI": "1,500 casts of films of 3 genres",
    "REDDIT-MULTI-5K": "4,999 discussions in 5 communities",
    "REDDIT-MULTI-12K": "11,929 discussions in 11 communities",
    "components": "drawn at random; the class is the number of connected components",
    "digits": "1,797 handwritten digits, each a graph of its bright pixels",
}
ALIASES = {"RDT-B": "REDDIT-BINARY", "IMDB-B": "IMDB-BINARY"}

_SPELLINGS = {name.lower(): name for name in CATALOGUE} | {
    alias.lower(): name for alias, name in ALIASES.items()
}


def names() -> list[str]:
    """The names that `load` knows.

    >>> names()[:3]
    ['MUTAG', 'PROTEINS', 'NCI1']
    """
    return list(CATALOGUE)


def load(
    name_or_path: PathLike,
    *,
    data_dir: PathLike | None = None,
    features: str = "auto",
    seed: int = 0,
) -> GraphSet:
    """Load a graph set by name or from a file or folder.

    A name is looked for in `data_dir`, in ``$AUGCL_DATA``, in the installed packages (MUTAG) and
    in the cache, then downloaded if it is one of :func:`names`.

    Parameters
    ----------
    name_or_path : str or path
        A name in any case (``"MUTAG"``, ``"rdt-b"``), or the path of a TU zip or folder, of a
        folder with ``edges.csv``, or of GraphML/GML files. Write ``./NAME`` for a folder here
        that is called like a data set.
    data_dir : path, optional
        Folder with ``NAME.zip`` or ``NAME/``, directly or below ``TU/``.
    features : str
        Node features, see :func:`augcl.data.node_features`.
    seed : int
        For sets that are drawn at random.

    Examples
    --------
    >>> load("mutag")
    GraphSet('MUTAG': 188 graphs, 3371 nodes, 7442 edge entries, 7 features, 2 classes)
    """
    if not isinstance(name_or_path, str | os.PathLike):
        raise InputError(
            f"load takes a name or a path, not {type(name_or_path).__name__}: "
            "fit and transform take lists of graphs as they are"
        )
    if data_dir is not None and not Path(data_dir).expanduser().is_dir():
        raise InputError(f"data folder {data_dir} does not exist")
    name = str(name_or_path)
    known = _SPELLINGS.get(name.lower()) if isinstance(name_or_path, str) else None
    if known == "components":
        graphs = components(seed=seed)
    elif known == "digits":
        graphs = digits()
    elif known is not None:
        places = list(_places(data_dir))
        found = _find(known, places) or download_tu(known, cache_dir() / "TU")
        graphs = read_graphs(found)
    else:
        graphs = read_graphs(_unlisted(name, data_dir))
    return node_features(graphs, features)


def _places(data_dir: PathLike | None) -> Iterator[Path]:
    """Folders in which names are looked for, first one first."""
    if data_dir is not None:
        yield Path(data_dir).expanduser()
    if own := os.environ.get("AUGCL_DATA"):
        yield Path(own).expanduser()
    grakel = importlib.util.find_spec("grakel")  # found, not imported
    if grakel is not None and grakel.origin is not None:
        yield Path(grakel.origin).parent / "tests" / "data"
    yield cache_dir()


def _find(name: str, places: list[Path]) -> Path | None:
    candidates = (
        folder / file
        for place in places
        for folder in (place, place / "TU")
        for file in (f"{name}.zip", name)
    )
    return next((path for path in candidates if path.exists()), None)


def _unlisted(name: str, data_dir: PathLike | None) -> Path:
    """The path that is meant by something outside the catalogue; nothing is downloaded."""
    path = Path(name).expanduser()
    if path.exists():
        return path
    if os.sep in name or "/" in name or path.suffix:
        raise InputError(f"{name} does not exist: give {KNOWN}; or a name that augcl data lists")
    found = _find(name, list(_places(data_dir)))
    if found is None:
        one_of(name, [*names(), *ALIASES], "data set")  # raises, and names the closest
    assert found is not None
    return found
