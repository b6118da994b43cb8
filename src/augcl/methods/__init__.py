"""Contrastive methods: views plus loss, one file each."""

from augcl.methods.dgi import DGI
from augcl.methods.gca import GCA
from augcl.methods.gmi import GMI
from augcl.methods.grace import GRACE
from augcl.methods.graphcl import GraphCL
from augcl.methods.hsan import HSAN
from augcl.methods.infograph import InfoGraph
from augcl.methods.joao import JOAO
from augcl.methods.joao_v2 import JOAOv2
from augcl.methods.model_file import METHODS, load_model
from augcl.methods.mvgrl import MVGRL
from augcl.methods.mvgrl_graphs import MVGRLGraphs
from augcl.methods.raw_features import RawFeatures
from augcl.methods.simgrace import SimGRACE
from augcl.methods.structure2vec import Structure2VecClassifier

__all__ = [
    "DGI",
    "GCA",
    "GMI",
    "GRACE",
    "HSAN",
    "JOAO",
    "METHODS",
    "MVGRL",
    "GraphCL",
    "InfoGraph",
    "JOAOv2",
    "MVGRLGraphs",
    "RawFeatures",
    "SimGRACE",
    "Structure2VecClassifier",
    "load_model",
]
