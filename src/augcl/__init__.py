"""Self-supervised learning on graphs with hardness-aware negatives."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from augcl import hardness
    from augcl.attacks import RLS2V, GradArgmax, RandSampling
    from augcl.data import GraphSet, load
    from augcl.errors import InputError
    from augcl.evaluation import evaluate
    from augcl.hardness import DCL, HCL, AffinityUncertainty, Oracle, ProGCL
    from augcl.methods import GCA, GRACE, GraphCL, RawFeatures, Structure2VecClassifier, load_model
    from augcl.objectives import info_nce

__version__ = "0.1.0"

__all__ = [
    "DCL",
    "GCA",
    "GRACE",
    "HCL",
    "RLS2V",
    "AffinityUncertainty",
    "GradArgmax",
    "GraphCL",
    "GraphSet",
    "InputError",
    "Oracle",
    "ProGCL",
    "RandSampling",
    "RawFeatures",
    "Structure2VecClassifier",
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
    "GCA": "augcl.methods",
    "GRACE": "augcl.methods",
    "HCL": "augcl.hardness",
    "GradArgmax": "augcl.attacks",
    "GraphCL": "augcl.methods",
    "GraphSet": "augcl.data",
    "InputError": "augcl.errors",
    "Oracle": "augcl.hardness",
    "ProGCL": "augcl.hardness",
    "RLS2V": "augcl.attacks",
    "RandSampling": "augcl.attacks",
    "RawFeatures": "augcl.methods",
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
