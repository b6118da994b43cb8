"""Contrastive methods: views plus loss, one file each."""

from augcl.methods.gca import GCA
from augcl.methods.grace import GRACE
from augcl.methods.graphcl import GraphCL
from augcl.methods.infograph import InfoGraph
from augcl.methods.joao import JOAO
from augcl.methods.joao_v2 import JOAOv2
from augcl.methods.model_file import METHODS, load_model
from augcl.methods.mvgrl_graphs import MVGRLGraphs
from augcl.methods.raw_features import RawFeatures
from augcl.methods.simgrace import SimGRACE

__all__ = [
    "GCA",
    "GRACE",
    "JOAO",
    "METHODS",
    "GraphCL",
    "InfoGraph",
    "JOAOv2",
    "MVGRLGraphs",
    "RawFeatures",
    "SimGRACE",
    "load_model",
]
