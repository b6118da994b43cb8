"""Networks that turn graphs into vectors."""

from augcl.encoders.contrastive import ContrastiveNetwork, inputs, output_width, own_or_gin, pool
from augcl.encoders.gin import GIN
from augcl.encoders.heads import glorot_linear, projector
from augcl.encoders.structure2vec import Structure2Vec

__all__ = [
    "GIN",
    "ContrastiveNetwork",
    "Structure2Vec",
    "glorot_linear",
    "inputs",
    "output_width",
    "own_or_gin",
    "pool",
    "projector",
]
