"""Contrastive losses: `info_nce` for a batch, `node_info_nce` for all nodes of one graph.

Each is a function, and a module (`InfoNCE`, `NodeInfoNCE`) that stores temperature and hardness.
"""

from augcl.losses.info_nce import info_nce
from augcl.losses.modules import InfoNCE, NodeInfoNCE
from augcl.losses.node_info_nce import BlockWeights, PairWeights, node_info_nce, weights_of

__all__ = [
    "BlockWeights",
    "InfoNCE",
    "NodeInfoNCE",
    "PairWeights",
    "info_nce",
    "node_info_nce",
    "weights_of",
]
