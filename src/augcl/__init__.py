"""Self-supervised learning on graphs with hardness-aware negatives."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from augcl import attacks, data, encoders, evaluation, hardness, losses, methods, rivals, views
    from augcl.attacks import RLS2V, GradArgmax, RandSampling, Structure2VecClassifier
    from augcl.data import GraphSet, from_pandas, from_smiles, load, scaffold_groups
    from augcl.errors import InputError
    from augcl.evaluation import evaluate, evaluate_links
    from augcl.hardness import DCL, HCL, AffinityUncertainty, NearestOut, Oracle, ProGCL
    from augcl.losses import info_nce
    from augcl.methods import *
    from augcl.methods.beside import Beside
    from augcl.rivals import *
    from augcl.runs.models import load_model
    from augcl.training import callbacks

__version__ = "0.2.0"

# Where each name lives. It is imported at first use: torch alone takes seconds, and `augcl --help`
# needs none of it.
_HOME = {
    "AffinityUncertainty": "augcl.hardness",
    "Beside": "augcl.methods.beside",
    "DCL": "augcl.hardness",
    "GradArgmax": "augcl.attacks",
    "GraphSet": "augcl.data",
    "HCL": "augcl.hardness",
    "InputError": "augcl.errors",
    "NearestOut": "augcl.hardness",
    "Oracle": "augcl.hardness",
    "ProGCL": "augcl.hardness",
    "RLS2V": "augcl.attacks",
    "RandSampling": "augcl.attacks",
    "Structure2VecClassifier": "augcl.attacks",
    "evaluate": "augcl.evaluation",
    "evaluate_links": "augcl.evaluation",
    "from_pandas": "augcl.data",
    "from_smiles": "augcl.data",
    "info_nce": "augcl.losses",
    "load": "augcl.data",
    "load_model": "augcl.runs.models",
    "scaffold_groups": "augcl.data",
}
_METHODS = ("augcl.methods", "augcl.rivals")  # every name that these packages export is ours too
_ROOMS = {
    "attacks": "augcl.attacks",
    "callbacks": "augcl.training.callbacks",
    "data": "augcl.data",
    "encoders": "augcl.encoders",
    "evaluation": "augcl.evaluation",
    "hardness": "augcl.hardness",
    "losses": "augcl.losses",
    "methods": "augcl.methods",
    "rivals": "augcl.rivals",
    "views": "augcl.views",
}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted(__dir__())
    if name in _ROOMS:
        return import_module(_ROOMS[name])
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if not name.startswith("_"):
        for package in map(import_module, _METHODS):
            if name in package.__all__:
                return getattr(package, name)
    raise AttributeError(f"module 'augcl' has no attribute {name!r}")


def __dir__() -> list[str]:
    exported = [name for package in _METHODS for name in import_module(package).__all__]
    return ["__version__", *_HOME, *_ROOMS, *exported]
