"""Losses: each as a function, and as a module with its temperature and hardness inside."""

from augcl.losses.info_nce import info_nce
from augcl.losses.modules import InfoNCE, NodeInfoNCE
from augcl.losses.node_info_nce import PairWeights, node_info_nce

__all__ = ["InfoNCE", "NodeInfoNCE", "PairWeights", "info_nce", "node_info_nce"]
