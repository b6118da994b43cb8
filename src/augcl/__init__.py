"""Self-supervised learning on graphs with hardness-aware negatives."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from augcl import hardness
    from augcl.baselines import (
        DeepWalk,
        DeepWalkFeatures,
        Graph2Vec,
        Node2Vec,
        Node2VecGraphs,
        Sub2Vec,
    )
    from augcl.data import GraphSet, load
    from augcl.errors import InputError
    from augcl.evaluation import evaluate
    from augcl.hardness import DCL, HCL, AffinityUncertainty, Oracle, ProGCL
    from augcl.methods import GCA, GRACE, GraphCL, RawFeatures, load_model
    from augcl.objectives import info_nce

__version__ = "0.1.0"

__all__ = [
    "DCL",
    "GCA",
    "GRACE",
    "HCL",
    "AffinityUncertainty",
    "DeepWalk",
    "DeepWalkFeatures",
    "Graph2Vec",
    "GraphCL",
    "GraphSet",
    "InputError",
    "Node2Vec",
    "Node2VecGraphs",
    "Oracle",
    "ProGCL",
    "RawFeatures",
    "Sub2Vec",
    "__version__",
    "evaluate",
    "hardness",
    "info_nce",
    "load",
    "load_model",
]

# Where each name lives. It is imported at first use: torch alone takes seconds, and `augcl --help`
# needs none of it.
_HOME = {
    "AffinityUncertainty": "augcl.hardness",
    "DCL": "augcl.hardness",
    "DeepWalk": "augcl.baselines",
    "DeepWalkFeatures": "augcl.baselines",
    "GCA": "augcl.methods",
    "GRACE": "augcl.methods",
    "HCL": "augcl.hardness",
    "Graph2Vec": "augcl.baselines",
    "GraphCL": "augcl.methods",
    "GraphSet": "augcl.data",
    "InputError": "augcl.errors",
    "Node2Vec": "augcl.baselines",
    "Node2VecGraphs": "augcl.baselines",
    "Oracle": "augcl.hardness",
    "ProGCL": "augcl.hardness",
    "RawFeatures": "augcl.methods",
    "Sub2Vec": "augcl.baselines",
    "evaluate": "augcl.evaluation",
    "info_nce": "augcl.objectives",
    "load": "augcl.data",
    "load_model": "augcl.methods",
}


def __getattr__(name: str) -> Any:
    if name == "hardness":
        return import_module("augcl.hardness")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'augcl' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
