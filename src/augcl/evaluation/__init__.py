"""Named protocols that turn embeddings into a score, and tests between scores."""

from augcl.evaluation.clustering import ClusteringScore, clustering
from augcl.evaluation.links import LinkSplit, evaluate_links, split_links
from augcl.evaluation.protocol import PROTOCOLS, evaluate
from augcl.evaluation.score import Score
from augcl.evaluation.statistics import (
    PairedDifference,
    Ranks,
    compare_ranks,
    paired_difference,
    wilson_interval,
)

__all__ = [
    "PROTOCOLS",
    "ClusteringScore",
    "LinkSplit",
    "PairedDifference",
    "Ranks",
    "Score",
    "clustering",
    "compare_ranks",
    "evaluate",
    "evaluate_links",
    "paired_difference",
    "split_links",
    "wilson_interval",
]
