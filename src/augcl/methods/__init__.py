"""Contrastive methods: views plus loss, one file each."""

from augcl.methods.gca import GCA
from augcl.methods.grace import GRACE
from augcl.methods.graphcl import GraphCL
from augcl.methods.model_file import METHODS, load_model
from augcl.methods.raw_features import RawFeatures
from augcl.methods.structure2vec import Structure2VecClassifier

__all__ = [
    "GCA",
    "GRACE",
    "METHODS",
    "GraphCL",
    "RawFeatures",
    "Structure2VecClassifier",
    "load_model",
]
