"""How much AUGCL's two numbers matter: the reward o, and α that scales all weights."""

from __future__ import annotations

from augcl.experiments.graph_classification import variants_of_augcl
from augcl.experiments.published import REWARDS

ALPHAS = {
    "1/(μ−δ)": {"alpha": -1.0},
    "1/(μ−δ/2)": {"alpha": -0.5},
    "1/μ": {"alpha": 0.0},
    "1/(μ+δ/2)": {"alpha": 0.5},
    "1/(μ+δ)": {"alpha": 1.0},
}
"""The paper's grid."""

TABLES = {
    "reward": variants_of_augcl("reward", {f"{o:.1f}": {"reward": o} for o in REWARDS}),
    "alpha": variants_of_augcl("alpha", ALPHAS),
}
