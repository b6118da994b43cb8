"""Graphs in memory, and readers for files, names and objects of other libraries."""

from augcl.data.catalogue import names
from augcl.data.convert import as_graphset
from augcl.data.csv_folder import from_pandas
from augcl.data.features import node_features
from augcl.data.generators import component_sets, components, digits, digits_knn
from augcl.data.graph import GraphSet
from augcl.data.loading import load, load_graph, load_graphs
from augcl.data.molecules import from_smiles, scaffold_groups
from augcl.data.node_convert import as_node_graph
from augcl.data.node_graph import NodeGraph, Splits
from augcl.data.summary import statistics
from augcl.data.targets import Reading

__all__ = [
    "GraphSet",
    "NodeGraph",
    "Reading",
    "Splits",
    "as_graphset",
    "as_node_graph",
    "component_sets",
    "components",
    "digits",
    "digits_knn",
    "from_pandas",
    "from_smiles",
    "load",
    "load_graph",
    "load_graphs",
    "names",
    "node_features",
    "scaffold_groups",
    "statistics",
]
