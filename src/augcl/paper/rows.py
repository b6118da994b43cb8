"""The rows of every table of the paper. To add a row, add one line to its table here.

A row maps names of `Spec` settings (method, hardness, recipe, epochs, options) to values; all other
settings come from the study. First the tables of graph classification (`GRAPHS`), then of node
classification (`NODES`), then of AUGCL with other parts (`ABLATION`, `REWARD`, `ALPHA`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from augcl.paper import published as paper
from augcl.paper.published import REWARDS
from augcl.paper.table import Published, Table, unpublished

Rows = dict[str, dict[str, Any]]

WEIGHTED = ("DCL", "HCL", "ProGCL", "AUGCL")
"""The weightings of negatives that the paper compares."""

AUGCL_READINGS: Rows = {
    "AUGCL-paper": {"hardness": "augcl", "recipe": "paper"},
    "AUGCL-paper-affinity": {
        "hardness": "augcl",
        "recipe": "paper",
        "hardness_options": {"partition_of": "affinity"},
    },
    "AUGCL-authors": {"hardness": "augcl", "recipe": "authors"},
    "AUGCL-authors-unit": {
        "hardness": "augcl",
        "recipe": "authors",
        "hardness_options": {"normalize": True},
    },
}
"""The readings of AUGCL: our default, the paper's text and its released code."""


# Graph classification

GRAPH_DATASETS = ("MUTAG", "PROTEINS", "IMDB-BINARY", "NCI1", "DD", "REDDIT-BINARY", "COLLAB")
"""All data sets of graphs in the paper, the fastest first."""

GRAPH_RIVALS = {
    "GK": "GraphletKernel",
    "WL": "WLKernel",
    "DGK": "DeepGraphKernel",
    "node2vec": "Node2VecGraphs",
    "sub2vec": "Sub2Vec",
    "graph2vec": "Graph2Vec",
    "InfoGraph": "InfoGraph",
    "JOAOv2": "JOAOv2",
    "SimGRACE": "SimGRACE",
}
"""The other systems of the paper, by row, each with its own epochs."""

GRAPH_FREE = {
    "training-free": {"hardness": "none", "epochs": None, "method": "WLFeatures"},
    "default": {
        "hardness": "none",
        "epochs": None,
        "preset": "default",
        "beside": "WLFeatures",
    },
}
"""What needs no training, and the default of ``augcl train``: beside a trained GraphCL."""

GRAPH_PAPER = ("untrained", *GRAPH_FREE, *GRAPH_RIVALS, "GraphCL", *WEIGHTED, "oracle")
"""All rows of the paper's table, with floors, our default and ceiling."""

GRAPH_LATER = {"GraphMAE": "GraphMAEGraphs"}
"""Systems without negatives, which are not in the paper."""

GRAPH_SIMILAR: Rows = {
    "AUGCL-cap": {"hardness": "augcl", "hardness_options": {"cap": True}},
    "AUGCL-features": {"hardness": "augcl", "hardness_options": {"affinity": "features"}},
    "nearest 10 %": {
        "hardness": "nearest",
        "hardness_options": {"affinity": "features", "top": 0.1},
    },
    **{
        f"{row}-neighbors": {"hardness": hardness, "options": {"batches": "neighbors"}}
        for row, hardness in (("GraphCL", "none"), ("AUGCL", "augcl"), ("oracle", "oracle"))
    },
}
"""Batches of similar graphs, and weights by what a label-free score knows of similar graphs."""

GRAPH_NAMES = {
    **{name: name for name in GRAPH_RIVALS},
    "sub2vec-published": "sub2vec",
    "GraphCL": "GraphCL",
    "GraphCL-20": "GraphCL",
    "DCL": "GraphCL_DCL",
    "HCL": "GraphCL_HCL",
    "ProGCL": "GraphCL_ProGCL",
    "AUGCL": "GraphCL_AUGCL",
    "AUGCL-full": "GraphCL_AUGCL",
}
"""The paper's names of our rows."""


def graph_accuracy(row: str, dataset: str) -> tuple[float, float] | None:
    """Return the paper's accuracy in percent, mean and standard deviation, or None.

    >>> graph_accuracy("AUGCL", "MUTAG")
    (89.2, 1.08)
    """
    return paper.accuracy("graph_classification", GRAPH_NAMES.get(row), dataset)


GRAPHS = Table(
    "graph-classification",
    {
        "untrained": {"hardness": "none", "epochs": 0},
        **GRAPH_FREE,
        "GraphCL": {"hardness": "none"},
        **{name: {"hardness": name.lower()} for name in WEIGHTED},
        "oracle": {"hardness": "oracle"},
        **{
            name: {"hardness": "none", "epochs": None, "method": method}
            for name, method in (GRAPH_RIVALS | GRAPH_LATER).items()
        },
        "sub2vec-published": {
            "hardness": "none",
            "epochs": None,
            "method": "Sub2Vec",
            "recipe": "paper",
        },
        "JOAO": {"hardness": "none", "epochs": None, "method": "JOAO"},
        "MVGRL": {"hardness": "none", "epochs": None, "method": "MVGRLGraphs"},
        "GraphCL-20": {"hardness": "none", "epochs": 20},
        "GraphCL-own-loss": {
            "hardness": "none",
            "epochs": 20,
            "options": {"positive_in_denominator": False},
        },
        "ProGCL-mix": {"hardness": "progcl", "hardness_options": {"mode": "mix"}},
        "AUGCL-full": {"hardness": "augcl", "hardness_options": {"temper": 1.0}},
        "GraphCL-paper": {"hardness": "none", "recipe": "paper"},
        **AUGCL_READINGS,
        **GRAPH_SIMILAR,
    },
    base="GraphCL",
    compared=("untrained", "training-free", "GraphCL", *WEIGHTED, "oracle"),
    epochs=40,
    published=graph_accuracy,
)
"""GraphCL, all weightings of its negatives, and every other system for sets of graphs."""


# Node classification

NODE_DATASETS = ("Amazon-Photo", "Amazon-Computers", "Wiki-CS")
"""All data sets of nodes in the paper."""

NODE_RIVALS = {
    "raw": "RawFeatures",
    "node2vec": "Node2Vec",
    "DeepWalk": "DeepWalk",
    "DeepWalk+features": "DeepWalkFeatures",
    "GAE": "GAE",
    "VGAE": "VGAE",
    "DGI": "DGI",
    "GMI": "GMI",
    "MVGRL": "MVGRL",
    "HSAN": "HSAN",
}
"""The other systems of the paper, by row, each with its own epochs."""

NODE_VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "HSAN-20": ("HSAN", {"epochs": 20}),
    **{f"{name}-slow": (name, {"options": {"lr": 0.001}}) for name in ("GAE", "VGAE")},
    **{
        f"{name}-normalised": (name, {"options": {"normalize_features": True}})
        for name in ("GAE", "VGAE", "MVGRL")
    },
}
"""Other settings of rivals: with their own HSAN takes hours, and on Amazon-Photo graph autoencoders
die and MVGRL keeps its untrained weights, because the first steps go much too far."""

NODE_LATER: dict[str, tuple[str, dict[str, Any]]] = {
    "CCA-SSG": ("CCASSG", {}),
    "BGRL": ("BGRL", {}),
    "BGRL-500": ("BGRL", {"epochs": 500}),
    "GraphMAE": ("GraphMAE", {}),
    "GCA-half-hop": ("GCA", {"preset": "default", "options": {"half_hop": (0.5, 0.5)}}),
}
"""Systems that are not in the paper: method and settings by row. BGRL-500 has 500 of 10,000 epochs,
with schedules of that length; GCA-half-hop is GCA-default with slow nodes in its views."""

NODE_FREE = {
    "training-free": {"hardness": "none", "epochs": None, "method": "Propagation"},
    "default": {
        "hardness": "none",
        "epochs": None,
        "method": "GCA",
        "preset": "default",
        "beside": "Propagation",
    },
    "GCA-default": {"hardness": "none", "epochs": None, "method": "GCA", "preset": "default"},
}
"""What needs no training; the default of ``augcl train``, GCA with our settings beside it; and that
GCA alone."""

NODE_PAPER = ("untrained", *NODE_FREE, *NODE_RIVALS, "GCA", *WEIGHTED, "oracle")
"""All rows of the paper's table, with floors, our default and ceiling."""

NODE_NAMES = {
    **{name: name for name in NODE_RIVALS},
    "raw": "Raw features",
    **{row: method for row, (method, _) in NODE_VARIANTS.items()},
    "GCA": "GCA",
    "DCL": "GCA_DCL",
    "HCL": "GCA_HCL",
    "ProGCL": "GCA_ProGCL",
    "AUGCL": "GCA_AUGCL",
    "AUGCL-full": "GCA_AUGCL",
}
"""The paper's names of our rows."""


def node_accuracy(row: str, dataset: str) -> tuple[float, float] | None:
    """The paper's accuracy in percent, mean and standard deviation.

    >>> node_accuracy("GCA", "Amazon-Photo")
    (91.99, 0.39)
    """
    return paper.accuracy("node_classification", NODE_NAMES.get(row), dataset)


def _node_rows(base: str) -> Rows:
    """Return a base, all weightings of its negatives, and every other system for nodes."""
    plain: dict[str, Any] = {"method": base, "hardness": "none"}
    rival: dict[str, Any] = {"hardness": "none", "epochs": None}
    return {
        **{row: {**rival, "method": method} for row, method in NODE_RIVALS.items()},
        **{
            row: {**rival, "method": method, **own}
            for row, (method, own) in (NODE_VARIANTS | NODE_LATER).items()
        },
        "untrained": {**plain, "epochs": 0},
        **NODE_FREE,
        base: plain,
        **{name: {**plain, "hardness": name.lower()} for name in WEIGHTED},
        "oracle": {**plain, "hardness": "oracle"},
        "ProGCL-mix": {**plain, "hardness": "progcl", "hardness_options": {"mode": "mix"}},
        "AUGCL-full": {**plain, "hardness": "augcl", "hardness_options": {"temper": 1.0}},
        "AUGCL-live": {**plain, "hardness": "augcl", "options": {"weights": "live"}},
        **{f"{base}-{recipe}": {**plain, "recipe": recipe} for recipe in ("paper", "authors")},
        **{row: {**given, "method": base} for row, given in AUGCL_READINGS.items()},
        f"{base}-liblinear": {**plain, "protocol": "grace-liblinear"},
    }


NODES = Table(
    "node-classification",
    _node_rows("GCA"),
    base="GCA",
    compared=("untrained", "training-free", "GCA", *WEIGHTED, "oracle"),
    published=node_accuracy,
)
"""GCA, all weightings of its negatives, and every other system for nodes."""

NODES_GRACE = Table(
    "grace",
    _node_rows("GRACE"),
    base="GRACE",
    compared=("untrained", "training-free", "GRACE", *WEIGHTED, "oracle"),
)
"""The rows of `NODES` with GRACE as the base, which the paper does not show."""


# AUGCL with parts exchanged


def variants_of_augcl(name: str, variants: Rows, published: Published = unpublished) -> Table:
    """AUGCL with each of some settings of its hardness, between floor, base and ceiling."""
    rows: Rows = {
        GRAPHS.floor: GRAPHS.rows[GRAPHS.floor],
        GRAPHS.free: GRAPHS.rows[GRAPHS.free],
        GRAPHS.base: GRAPHS.rows[GRAPHS.base],
        **{row: {"hardness": "augcl", "hardness_options": o} for row, o in variants.items()},
        GRAPHS.ceiling: GRAPHS.rows[GRAPHS.ceiling],
    }
    return replace(GRAPHS, name=name, rows=rows, compared=tuple(rows), published=published)


ABLATED = {
    "k-means, Deep Gamblers": ("kmeans", "gamblers", "k-means", "ExtraClass"),
    "spectral, Deep Gamblers": ("spectral", "gamblers", "Spectral", "ExtraClass"),
    "k-means, softmax response": ("kmeans", "softmax", "k-means", "Softmax"),
    "k-means, entropy": ("kmeans", "entropy", "k-means", "Entropy"),
    "k-means, distance": ("kmeans", "distance", "k-means", "Distance"),
}
"""Our names of partition and estimator, and the paper's, by row."""


def ablation_accuracy(row: str, dataset: str) -> tuple[float, float] | None:
    """The paper's accuracy in percent, mean and standard deviation."""
    if row not in ("GraphCL", *ABLATED) or dataset not in GRAPH_DATASETS:
        return None
    _, _, partition, estimator = ABLATED.get(row, (None, None, None, None))
    return paper.ablation(partition, estimator, dataset)


ABLATION = variants_of_augcl(
    "ablation",
    {row: {"partition": f, "estimator": g} for row, (f, g, *_) in ABLATED.items()},
    ablation_accuracy,
)
"""The ablation: AUGCL with other partitions and uncertainty estimators."""

REWARD = variants_of_augcl("reward", {f"{o:.1f}": {"reward": o} for o in REWARDS})
"""The paper's grid of the reward o."""

ALPHA = variants_of_augcl(
    "alpha",
    {
        "1/(μ−δ)": {"alpha": -1.0},
        "1/(μ−δ/2)": {"alpha": -0.5},
        "1/μ": {"alpha": 0.0},
        "1/(μ+δ/2)": {"alpha": 0.5},
        "1/(μ+δ)": {"alpha": 1.0},
    },
)
"""The paper's grid of α."""
