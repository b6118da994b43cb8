"""Self-supervised learning on graphs with hardness-aware negatives."""

from augcl import hardness
from augcl.data import GraphSet, load
from augcl.errors import InputError
from augcl.evaluation import evaluate
from augcl.hardness import AffinityUncertainty
from augcl.methods import GraphCL
from augcl.objectives import info_nce

__version__ = "0.1.0"

__all__ = [
    "AffinityUncertainty",
    "GraphCL",
    "GraphSet",
    "InputError",
    "__version__",
    "evaluate",
    "hardness",
    "info_nce",
    "load",
]
