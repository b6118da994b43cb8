"""Contrastive methods that take any hardness: views plus loss."""

from augcl.methods.grace import GCA, GRACE
from augcl.methods.graphcl import GraphCL

__all__ = ["GCA", "GRACE", "GraphCL"]
