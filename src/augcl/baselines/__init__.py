"""Rivals that learn without contrasting views: one file a method."""

from augcl.baselines.deepwalk import DeepWalk, DeepWalkFeatures
from augcl.baselines.graph2vec import Graph2Vec
from augcl.baselines.node2vec import Node2Vec
from augcl.baselines.node2vec_graphs import Node2VecGraphs
from augcl.baselines.sub2vec import Sub2Vec

__all__ = ["DeepWalk", "DeepWalkFeatures", "Graph2Vec", "Node2Vec", "Node2VecGraphs", "Sub2Vec"]
