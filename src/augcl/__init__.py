"""Self-supervised learning on graphs with hardness-aware negatives."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from augcl import hardness
    from augcl.attacks import RLS2V, GradArgmax, RandSampling
    from augcl.baselines import (
        GAE,
        VGAE,
        DeepGraphKernel,
        DeepWalk,
        DeepWalkFeatures,
        Graph2Vec,
        GraphletKernel,
        Node2Vec,
        Node2VecGraphs,
        Sub2Vec,
        WLKernel,
    )
    from augcl.data import GraphSet, load
    from augcl.errors import InputError
    from augcl.evaluation import evaluate
    from augcl.hardness import DCL, HCL, AffinityUncertainty, Oracle, ProGCL
    from augcl.methods import (
        DGI,
        GCA,
        GMI,
        GRACE,
        HSAN,
        JOAO,
        MVGRL,
        GraphCL,
        InfoGraph,
        JOAOv2,
        MVGRLGraphs,
        RawFeatures,
        SimGRACE,
        Structure2VecClassifier,
        load_model,
    )
    from augcl.objectives import info_nce

__version__ = "0.1.0"

__all__ = [
    "DCL",
    "DGI",
    "GAE",
    "GCA",
    "GMI",
    "GRACE",
    "HCL",
    "HSAN",
    "JOAO",
    "MVGRL",
    "RLS2V",
    "VGAE",
    "AffinityUncertainty",
    "DeepGraphKernel",
    "DeepWalk",
    "DeepWalkFeatures",
    "GradArgmax",
    "Graph2Vec",
    "GraphCL",
    "GraphSet",
    "GraphletKernel",
    "InfoGraph",
    "InputError",
    "JOAOv2",
    "MVGRLGraphs",
    "Node2Vec",
    "Node2VecGraphs",
    "Oracle",
    "ProGCL",
    "RandSampling",
    "RawFeatures",
    "SimGRACE",
    "Structure2VecClassifier",
    "Sub2Vec",
    "WLKernel",
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
    "DeepGraphKernel": "augcl.baselines",
    "DGI": "augcl.methods",
    "GAE": "augcl.baselines",
    "DeepWalk": "augcl.baselines",
    "DeepWalkFeatures": "augcl.baselines",
    "GCA": "augcl.methods",
    "GMI": "augcl.methods",
    "GRACE": "augcl.methods",
    "HCL": "augcl.hardness",
    "HSAN": "augcl.methods",
    "Graph2Vec": "augcl.baselines",
    "GradArgmax": "augcl.attacks",
    "GraphCL": "augcl.methods",
    "GraphSet": "augcl.data",
    "GraphletKernel": "augcl.baselines",
    "InfoGraph": "augcl.methods",
    "InputError": "augcl.errors",
    "JOAO": "augcl.methods",
    "JOAOv2": "augcl.methods",
    "MVGRLGraphs": "augcl.methods",
    "Oracle": "augcl.hardness",
    "ProGCL": "augcl.hardness",
    "RLS2V": "augcl.attacks",
    "RandSampling": "augcl.attacks",
    "RawFeatures": "augcl.methods",
    "WLKernel": "augcl.baselines",
    "SimGRACE": "augcl.methods",
    "MVGRL": "augcl.methods",
    "VGAE": "augcl.baselines",
    "Node2Vec": "augcl.baselines",
    "Node2VecGraphs": "augcl.baselines",
    "Sub2Vec": "augcl.baselines",
    "Structure2VecClassifier": "augcl.methods",
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
