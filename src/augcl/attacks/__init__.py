"""Attacks that change few edges of a graph and not its meaning."""

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
