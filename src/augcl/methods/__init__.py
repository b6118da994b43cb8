"""Contrastive methods: views plus loss, one file each."""

from augcl.methods.gca import GCA
from augcl.methods.grace import GRACE
from augcl.methods.graphcl import GraphCL
from augcl.methods.model_file import METHODS, load_model
from augcl.methods.raw_features import RawFeatures

__all__ = ["GCA", "GRACE", "METHODS", "GraphCL", "RawFeatures", "load_model"]
