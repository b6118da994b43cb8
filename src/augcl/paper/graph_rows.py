"""The rows of the paper's table of graph classification."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from augcl.paper.published import accuracy
from augcl.paper.table import Published, Table, unpublished

DATASETS = ("MUTAG", "PROTEINS", "IMDB-BINARY", "NCI1", "DD", "REDDIT-BINARY", "COLLAB")
"""All of the paper, those that take least time first."""

RIVALS = {
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
"""The other systems of the paper, each with its own epochs."""

PAPER = ("untrained", *RIVALS, "GraphCL", "DCL", "HCL", "ProGCL", "AUGCL", "oracle")
"""All rows of the paper's table, with floor and ceiling."""

IN_THE_PAPER = {
    **{name: name for name in RIVALS},
    "GraphCL": "GraphCL",
    "GraphCL-20": "GraphCL",
    "DCL": "GraphCL_DCL",
    "HCL": "GraphCL_HCL",
    "ProGCL": "GraphCL_ProGCL",
    "AUGCL": "GraphCL_AUGCL",
    "AUGCL-full": "GraphCL_AUGCL",
}


UNIT_ROWS: dict[str, Any] = {"normalize": True}
BY_AFFINITY: dict[str, Any] = {"partition_of": "affinity"}

READINGS: dict[str, dict[str, Any]] = {
    "GraphCL-paper": {"hardness": "none", "recipe": "paper"},
    "AUGCL-paper": {"hardness": "augcl", "recipe": "paper"},
    "AUGCL-paper-affinity": {
        "hardness": "augcl",
        "recipe": "paper",
        "hardness_options": BY_AFFINITY,
    },
    "AUGCL-authors": {"hardness": "augcl", "recipe": "authors"},
    "AUGCL-authors-unit": {
        "hardness": "augcl",
        "recipe": "authors",
        "hardness_options": UNIT_ROWS,
    },
}
"""AUGCL as the paper or its released code can be read, and GraphCL with the views of the text."""


def published(row: str, dataset: str) -> tuple[float, float] | None:
    """The paper's accuracy in percent.

    >>> published("AUGCL", "MUTAG")
    (89.2, 1.08)
    """
    return accuracy("graph_classification", IN_THE_PAPER.get(row), dataset)


TABLE = Table(
    "graph-classification",
    {
        "untrained": {"hardness": "none", "epochs": 0},
        "GraphCL": {"hardness": "none"},
        "DCL": {"hardness": "dcl"},
        "HCL": {"hardness": "hcl"},
        "ProGCL": {"hardness": "progcl"},
        "AUGCL": {"hardness": "augcl"},
        "oracle": {"hardness": "oracle"},
        **{name: {"hardness": "none", "epochs": None, "method": m} for name, m in RIVALS.items()},
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
        **READINGS,
    },
    base="GraphCL",
    compared=("untrained", "GraphCL", "DCL", "HCL", "ProGCL", "AUGCL", "oracle"),
    epochs=40,
    published=published,
)


def variants_of_augcl(
    name: str, variants: dict[str, dict[str, Any]], published: Published = unpublished
) -> Table:
    """AUGCL with each of some settings of its hardness, between floor, base and ceiling."""
    rows: dict[str, dict[str, Any]] = {
        TABLE.floor: TABLE.rows[TABLE.floor],
        TABLE.base: TABLE.rows[TABLE.base],
        **{row: {"hardness": "augcl", "hardness_options": o} for row, o in variants.items()},
        TABLE.ceiling: TABLE.rows[TABLE.ceiling],
    }
    return replace(TABLE, name=name, rows=rows, compared=tuple(rows), published=published)
