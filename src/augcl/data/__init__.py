"""Graphs in memory and where they come from."""

from augcl.data.catalogue import load, names
from augcl.data.convert import as_graphset
from augcl.data.features import node_features
from augcl.data.generators import components, digits
from augcl.data.graph import GraphSet
from augcl.data.statistics import statistics

__all__ = [
    "GraphSet",
    "as_graphset",
    "components",
    "digits",
    "load",
    "names",
    "node_features",
    "statistics",
]
