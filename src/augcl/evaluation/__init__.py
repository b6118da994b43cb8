"""Named protocols that turn embeddings into a score, and tests between scores."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from augcl.evaluation.clustering import ClusteringScore, clustering  # a function, not the module

if TYPE_CHECKING:
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

# Where each name lives. It is imported at first use: a training needs no scikit-learn.
_HOME = {
    "PROTOCOLS": "protocol",
    "LinkSplit": "links",
    "PairedDifference": "statistics",
    "Ranks": "statistics",
    "Score": "score",
    "compare_ranks": "statistics",
    "evaluate": "protocol",
    "evaluate_links": "links",
    "paired_difference": "statistics",
    "split_links": "links",
    "wilson_interval": "statistics",
}
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


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'augcl.evaluation' has no attribute {name!r}")
    return getattr(import_module(f"augcl.evaluation.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
