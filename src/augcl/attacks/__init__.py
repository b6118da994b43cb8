"""Attacks on classifiers of graphs and of nodes, and the classifier that they attack.

An attack changes few edges of a graph so that the classifier errs while the true class stays the
same (`Semantics`). `RandSampling`, `GradArgmax` and `RLS2V` attack graphs, `NodeRandomFlips` and
`NodeGradientFlips` attack nodes.
"""

from augcl.attacks.classifier import Structure2VecClassifier
from augcl.attacks.grad_argmax import GradArgmax
from augcl.attacks.graph_attack import Attack, WeightedEdges, accuracy_under
from augcl.attacks.node_flips import (
    NodeAttackResult,
    NodeGradientFlips,
    NodeRandomFlips,
    NodeVictim,
)
from augcl.attacks.rand_sampling import RandSampling
from augcl.attacks.rl_s2v import RLS2V
from augcl.attacks.rules import SameComponents, Semantics

__all__ = [
    "RLS2V",
    "Attack",
    "GradArgmax",
    "NodeAttackResult",
    "NodeGradientFlips",
    "NodeRandomFlips",
    "NodeVictim",
    "RandSampling",
    "SameComponents",
    "Semantics",
    "Structure2VecClassifier",
    "WeightedEdges",
    "accuracy_under",
]
