"""How much AUGCL's two numbers matter: the reward o, and α that scales all weights."""

from __future__ import annotations

from typing import Any

from augcl.experiments.table import Table

REWARDS = {f"{o:.1f}": {"reward": o} for o in (1.5, 1.6, 1.7, 1.8, 1.9)}
ALPHAS = {
    "1/(μ−δ)": {"alpha": -1.0},
    "1/(μ−δ/2)": {"alpha": -0.5},
    "1/μ": {"alpha": 0.0},
    "1/(μ+δ/2)": {"alpha": 0.5},
    "1/(μ+δ)": {"alpha": 1.0},
}
"""The paper's grids."""


def _table(name: str, values: dict[str, dict[str, Any]]) -> Table:
    rows: dict[str, dict[str, Any]] = {
        "untrained": {"hardness": "none", "epochs": 0},
        "GraphCL": {"hardness": "none"},
        **{value: {"hardness": "augcl", "hardness_options": o} for value, o in values.items()},
        "oracle": {"hardness": "oracle"},
    }
    return Table(
        name,
        rows,
        floor="untrained",
        base="GraphCL",
        ceiling="oracle",
        compared=tuple(rows),
        epochs=40,
    )


TABLES = {"reward": _table("reward", REWARDS), "alpha": _table("alpha", ALPHAS)}
