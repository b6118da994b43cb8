"""The rows of the paper's table of node classification."""

from __future__ import annotations

from typing import Any

from augcl.paper.graph_rows import READINGS
from augcl.paper.published import accuracy
from augcl.paper.table import Setting, Table

DATASETS = ("Amazon-Photo", "Amazon-Computers", "Wiki-CS")
"""All of the paper."""

RIVALS = {
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
"""The other systems of the paper, each with its own epochs."""

VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "HSAN-20": ("HSAN", {"epochs": 20}),
    **{f"{name}-slow": (name, {"options": {"lr": 0.001}}) for name in ("GAE", "VGAE")},
    **{
        f"{name}-normalised": (name, {"options": {"normalize_features": True}})
        for name in ("GAE", "VGAE", "MVGRL")
    },
}
"""Other settings of rivals: with their own HSAN takes hours, and on Amazon-Photo graph autoencoders
die and MVGRL keeps its untrained weights, because the first steps go much too far."""

PAPER = ("untrained", *RIVALS, "GCA", "DCL", "HCL", "ProGCL", "AUGCL", "oracle")
"""All rows of the paper's table, with floor and ceiling."""


def _rows(base: str) -> dict[str, dict[str, Any]]:
    """The base and what can be put on it."""
    plain: dict[str, Any] = {"method": base, "hardness": "none"}
    rival: dict[str, Any] = {"hardness": "none", "epochs": None}
    return {
        **{row: {**rival, "method": method} for row, method in RIVALS.items()},
        **{row: {**rival, "method": method, **own} for row, (method, own) in VARIANTS.items()},
        "untrained": {**plain, "epochs": 0},
        base: plain,
        **{name: {**plain, "hardness": name.lower()} for name in ("DCL", "HCL", "ProGCL", "AUGCL")},
        "oracle": {**plain, "hardness": "oracle"},
        "ProGCL-mix": {**plain, "hardness": "progcl", "hardness_options": {"mode": "mix"}},
        "AUGCL-full": {**plain, "hardness": "augcl", "hardness_options": {"temper": 1.0}},
        "AUGCL-live": {**plain, "hardness": "augcl", "options": {"weights": "live"}},
        **_readings(base),
        f"{base}-liblinear": {**plain, "protocol": "grace-liblinear"},
    }


def _readings(base: str) -> dict[str, dict[str, Any]]:
    """AUGCL as the paper or its released code can be read, each recipe with its own base."""
    bases = {
        f"{base}-{recipe}": {"method": base, "hardness": "none", "recipe": recipe}
        for recipe in ("paper", "authors")
    }
    rows = {row: given for row, given in READINGS.items() if given["hardness"] == "augcl"}
    return {**bases, **{row: {**given, "method": base} for row, given in rows.items()}}


IN_THE_PAPER = {
    **{name: name for name in RIVALS},
    "raw": "Raw features",
    **{row: method for row, (method, _) in VARIANTS.items()},
    "GCA": "GCA",
    "DCL": "GCA_DCL",
    "HCL": "GCA_HCL",
    "ProGCL": "GCA_ProGCL",
    "AUGCL": "GCA_AUGCL",
    "AUGCL-full": "GCA_AUGCL",
}


def published(row: str, dataset: str) -> tuple[float, float] | None:
    """The paper's accuracy in percent.

    >>> published("GCA", "Amazon-Photo")
    (91.99, 0.39)
    """
    return accuracy("node_classification", IN_THE_PAPER.get(row), dataset)


TABLE = Table(
    "node-classification",
    _rows("GCA"),
    base="GCA",
    compared=("untrained", "GCA", "DCL", "HCL", "ProGCL", "AUGCL", "oracle"),
    published=published,
)

GRACE = Table(
    "grace",
    _rows("GRACE"),
    base="GRACE",
    compared=("untrained", "GRACE", "DCL", "HCL", "ProGCL", "AUGCL", "oracle"),
)
"""The same on GRACE, which the paper does not show."""


def setting(*, epochs: int | None = None, candidates: int | None = None) -> Setting:
    """The data set's preset, with fewer epochs and sampled negatives for a laptop."""
    return Setting(epochs=epochs, options={} if candidates is None else {"candidates": candidates})
