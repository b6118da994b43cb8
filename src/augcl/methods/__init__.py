"""Contrastive methods: views plus loss, one file each."""

from augcl.methods.dgi import DGI
from augcl.methods.gca import GCA
from augcl.methods.gmi import GMI
from augcl.methods.grace import GRACE
from augcl.methods.graphcl import GraphCL
from augcl.methods.hsan import HSAN
from augcl.methods.model_file import METHODS, load_model
from augcl.methods.mvgrl import MVGRL
from augcl.methods.raw_features import RawFeatures

__all__ = [
    "DGI",
    "GCA",
    "GMI",
    "GRACE",
    "HSAN",
    "METHODS",
    "MVGRL",
    "GraphCL",
    "RawFeatures",
    "load_model",
]
