"""Networks that turn graphs into vectors."""

from augcl.encoders.contrastive import ContrastiveNetwork, inputs, output_width, pool
from augcl.encoders.gin import GIN
from augcl.encoders.heads import glorot_linear, projector

__all__ = [
    "GIN",
    "ContrastiveNetwork",
    "glorot_linear",
    "inputs",
    "output_width",
    "pool",
    "projector",
]
