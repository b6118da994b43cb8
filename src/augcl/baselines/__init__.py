"""Methods that the contrastive ones are compared with: autoencoders, kernels, walks."""

from augcl.baselines.gae import GAE
from augcl.baselines.vgae import VGAE

__all__ = ["GAE", "VGAE"]
