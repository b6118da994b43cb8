"""AUGCL written directly from the paper: one graph, one anchor, one list of pairs at a time.

This package shares no code with the library, so the tests use it as a reference.
"""

from benchmarks.textbook.contrast import Encoder, collate, cosines, info_nce, weighted_info_nce
from benchmarks.textbook.train import train
from benchmarks.textbook.uncertainty import (
    Gambler,
    gamblers_loss,
    kmeans_labels,
    pair_inputs,
    row_weights,
)
from benchmarks.textbook.views import (
    Graph,
    drop_nodes,
    mask_nodes,
    perturb_edges,
    random_view,
    star,
)

__all__ = [
    "Encoder",
    "Gambler",
    "Graph",
    "collate",
    "cosines",
    "drop_nodes",
    "gamblers_loss",
    "info_nce",
    "kmeans_labels",
    "mask_nodes",
    "pair_inputs",
    "perturb_edges",
    "random_view",
    "row_weights",
    "star",
    "train",
    "weighted_info_nce",
]
