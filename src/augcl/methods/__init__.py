"""Contrastive methods that take any hardness, and what needs no training: the floors.

`Propagation` for nodes, `WLFeatures` for graphs, `MorganFingerprints` for molecules.
"""

from augcl.methods.fingerprints import MorganFingerprints
from augcl.methods.grace import GCA, GRACE
from augcl.methods.graphcl import GraphCL
from augcl.methods.propagation import Propagation
from augcl.methods.wl_features import WLFeatures

__all__ = ["GCA", "GRACE", "GraphCL", "MorganFingerprints", "Propagation", "WLFeatures"]
