"""Attacks that change few edges of a graph and not its meaning."""

from augcl.attacks.base import Attack, accuracy_under
from augcl.attacks.grad_argmax import GradArgmax
from augcl.attacks.node_flips import NodeAttackResult, NodeGradientFlips, NodeRandomFlips
from augcl.attacks.node_victim import NodeVictim
from augcl.attacks.rand_sampling import RandSampling
from augcl.attacks.rl_s2v import RLS2V
from augcl.attacks.semantics import SameComponents, Semantics
from augcl.attacks.victim import WeightedEdges

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
    "WeightedEdges",
    "accuracy_under",
]
