"""What contrastive methods are compared with: kernels, walks and autoencoders."""

from augcl.baselines.deep_graph_kernel import DeepGraphKernel
from augcl.baselines.deepwalk import DeepWalk, DeepWalkFeatures
from augcl.baselines.gae import GAE
from augcl.baselines.graph2vec import Graph2Vec
from augcl.baselines.graphlet_kernel import GraphletKernel
from augcl.baselines.node2vec import Node2Vec
from augcl.baselines.node2vec_graphs import Node2VecGraphs
from augcl.baselines.sub2vec import Sub2Vec
from augcl.baselines.vgae import VGAE
from augcl.baselines.wl import WLKernel

__all__ = [
    "GAE",
    "VGAE",
    "DeepGraphKernel",
    "DeepWalk",
    "DeepWalkFeatures",
    "Graph2Vec",
    "GraphletKernel",
    "Node2Vec",
    "Node2VecGraphs",
    "Sub2Vec",
    "WLKernel",
]
