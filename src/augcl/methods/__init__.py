"""Contrastive methods: views plus loss, one file each."""

from augcl.methods.graphcl import GraphCL
from augcl.methods.model_file import METHODS, load_model

__all__ = ["METHODS", "GraphCL", "load_model"]
