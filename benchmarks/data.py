"""Load real graphs for the benchmarks if they are on this machine; download nothing."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import augcl
from augcl.data import GraphSet, NodeGraph, load_graph
from augcl.data.loading import find_graph_set, find_node_set
from benchmarks.measure import NoData
from benchmarks.textbook import Graph


def data_dir() -> Path:
    """Return `$AUGCL_DATA`, or the shared folder beside the repository."""
    return Path(os.environ.get("AUGCL_DATA", Path(__file__).parents[2] / "shared" / "data"))


def require(name: str) -> None:
    """Raise `NoData` if the data set `name` is not on this machine."""
    if not any(find(name, [data_dir()]) for find in (find_graph_set, find_node_set)):
        raise NoData(name)


@cache
def graphs(name: str) -> GraphSet:
    """Return the TU data set `name`; raise `NoData` if it is not on this machine."""
    require(name)
    loaded = augcl.load(name, data_dir=data_dir())
    assert isinstance(loaded, GraphSet)
    return loaded


def one_graph(name: str) -> NodeGraph:
    """Return the graph `name` for node methods; raise `NoData` if it is not on this machine."""
    require(name)
    return load_graph(name, data_dir=data_dir())


def one_by_one(many: GraphSet) -> list[Graph]:
    """Return the same graphs in the format of the textbook code."""
    return [Graph(data.x, data.edge_index) for data in many]
