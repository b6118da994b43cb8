"""The parts of AUGCL exchanged: how the candidates are split, and what is called uncertain."""

from __future__ import annotations

from augcl.paper import published as paper
from augcl.paper.graph_rows import DATASETS, variants_of_augcl

PARTS = {
    "k-means, Deep Gamblers": ("kmeans", "gamblers", "k-means", "ExtraClass"),
    "spectral, Deep Gamblers": ("spectral", "gamblers", "Spectral", "ExtraClass"),
    "k-means, softmax response": ("kmeans", "softmax", "k-means", "Softmax"),
    "k-means, entropy": ("kmeans", "entropy", "k-means", "Entropy"),
    "k-means, distance": ("kmeans", "distance", "k-means", "Distance"),
}
"""By row: our names of partition and estimator, and the paper's."""


def published(row: str, dataset: str) -> tuple[float, float] | None:
    """The paper's accuracy in percent."""
    if row not in ("GraphCL", *PARTS) or dataset not in DATASETS:
        return None
    _, _, partition, estimator = PARTS.get(row, (None, None, None, None))
    return paper.ablation(partition, estimator, dataset)


TABLE = variants_of_augcl(
    "ablation",
    {row: {"partition": f, "estimator": g} for row, (f, g, *_) in PARTS.items()},
    published,
)
