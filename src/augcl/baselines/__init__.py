"""Methods that are not contrastive: kernels between graphs."""

from augcl.baselines.deep_graph_kernel import DeepGraphKernel
from augcl.baselines.graphlet_kernel import GraphletKernel
from augcl.baselines.wl import WLKernel

__all__ = ["DeepGraphKernel", "GraphletKernel", "WLKernel"]
