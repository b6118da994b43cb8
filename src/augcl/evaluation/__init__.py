"""Named protocols that turn embeddings into a score, and tests between scores."""

from augcl.evaluation.protocol import evaluate
from augcl.evaluation.score import Score
from augcl.evaluation.statistics import PairedDifference, paired_difference

__all__ = ["PairedDifference", "Score", "evaluate", "paired_difference"]
