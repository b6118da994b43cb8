"""The other systems: those that the paper compares with and later ones, one file per system.

Parts that several of them share: `kernel` (graph kernels), `gensim_models` and `walks` (skip-gram
and doc2vec), `convolution` (DGI, GMI, MVGRL, GAE, CCA-SSG).
"""

from augcl.rivals.bgrl import BGRL
from augcl.rivals.cca_ssg import CCASSG
from augcl.rivals.deep_graph_kernel import DeepGraphKernel
from augcl.rivals.deepwalk import DeepWalk, DeepWalkFeatures, Node2Vec, Node2VecGraphs
from augcl.rivals.dgi import DGI
from augcl.rivals.gae import GAE, VGAE
from augcl.rivals.gmi import GMI
from augcl.rivals.graph2vec import Graph2Vec
from augcl.rivals.graphlets import GraphletKernel
from augcl.rivals.graphmae import GraphMAE, GraphMAEGraphs
from augcl.rivals.hsan import HSAN
from augcl.rivals.infograph import InfoGraph
from augcl.rivals.joao import JOAO, JOAOv2
from augcl.rivals.mvgrl import MVGRL, MVGRLGraphs
from augcl.rivals.raw_features import RawFeatures
from augcl.rivals.simgrace import SimGRACE
from augcl.rivals.sub2vec import Sub2Vec
from augcl.rivals.wl import WLKernel

__all__ = [
    "BGRL",
    "CCASSG",
    "DGI",
    "GAE",
    "GMI",
    "HSAN",
    "JOAO",
    "MVGRL",
    "VGAE",
    "DeepGraphKernel",
    "DeepWalk",
    "DeepWalkFeatures",
    "Graph2Vec",
    "GraphMAE",
    "GraphMAEGraphs",
    "GraphletKernel",
    "InfoGraph",
    "JOAOv2",
    "MVGRLGraphs",
    "Node2Vec",
    "Node2VecGraphs",
    "RawFeatures",
    "SimGRACE",
    "Sub2Vec",
    "WLKernel",
]
