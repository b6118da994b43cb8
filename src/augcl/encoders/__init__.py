"""Networks that turn graphs into vectors."""

from augcl.encoders.contrastive import (
    ContrastiveNetwork,
    Edges,
    encode,
    inputs,
    output_width,
    own_or_gin,
    pool,
)
from augcl.encoders.gin import GIN
from augcl.encoders.gine import GINE
from augcl.encoders.heads import glorot_linear, projector
from augcl.encoders.structure2vec import Structure2Vec

__all__ = [
    "GIN",
    "GINE",
    "ContrastiveNetwork",
    "Edges",
    "Structure2Vec",
    "encode",
    "glorot_linear",
    "inputs",
    "output_width",
    "own_or_gin",
    "pool",
    "projector",
]
