"""What contrastive methods are compared with: kernels, walks and autoencoders."""

from augcl.baselines.deep_graph_kernel import DeepGraphKernel
from augcl.baselines.gae import GAE
from augcl.baselines.graphlet_kernel import GraphletKernel
from augcl.baselines.vgae import VGAE
from augcl.baselines.wl import WLKernel

__all__ = [
    "GAE",
    "VGAE",
    "DeepGraphKernel",
    "GraphletKernel",
    "WLKernel",
]
