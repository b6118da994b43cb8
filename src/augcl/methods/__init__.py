"""Contrastive methods that take any hardness, and Morgan fingerprints as a training-free floor."""

from augcl.methods.fingerprints import MorganFingerprints
from augcl.methods.grace import GCA, GRACE
from augcl.methods.graphcl import GraphCL

__all__ = ["GCA", "GRACE", "GraphCL", "MorganFingerprints"]
