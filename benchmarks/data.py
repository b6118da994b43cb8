"""Real graphs for the benchmarks, if they are on this machine; nothing is downloaded."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import augcl
from augcl.data import GraphSet
from benchmarks.measure import NoData
from benchmarks.textbook import Graph


def data_dir() -> Path:
    """`$AUGCL_DATA`, or the shared folder beside the repository."""
    beside = Path(__file__).parents[2] / "shared" / "data" / "TU"
    return Path(os.environ.get("AUGCL_DATA", beside))


def require(name: str) -> None:
    """Raise `NoData` if the TU data set `name` is not there."""
    if not any((data_dir() / file).exists() for file in (name, f"{name}.zip")):
        raise NoData(name)


@cache
def graphs(name: str) -> GraphSet:
    """The TU data set `name`; raises `NoData` if it is not there."""
    require(name)
    loaded = augcl.load(name, data_dir=data_dir())
    assert isinstance(loaded, GraphSet)
    return loaded


def one_by_one(many: GraphSet) -> list[Graph]:
    """The same graphs as the textbook takes them."""
    return [Graph(data.x, data.edge_index) for data in many]
