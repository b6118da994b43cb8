"""The graph-classification table: which rows it has, and computing the cells that are missing.

    python -m augcl.experiments.graph_classification MUTAG PROTEINS --seeds 5 --jobs 2

What is there is not computed again, so a run can be stopped and continued, and rows can be added
later.
"""

from __future__ import annotations

from typing import Any

from augcl.experiments.cells import Table, command

ROWS: dict[str, dict[str, Any]] = {
    "untrained": {"hardness": "none", "epochs": 0},
    "GraphCL-20": {"hardness": "none", "epochs": 20},
    "GraphCL-40": {"hardness": "none", "epochs": 40},
    "GraphCL-own-loss": {
        "hardness": "none",
        "epochs": 20,
        "options": {"positive_in_denominator": False},
    },
    "AUGCL": {"hardness": "augcl"},
    "AUGCL-full": {"hardness": "augcl", "hardness_options": {"temper": 1.0}},
    "AUGCL-authors": {"hardness": "augcl", "recipe": "authors"},
    "AUGCL-paper": {"hardness": "augcl", "recipe": "paper"},
}
ROWS |= {f"{name}+degree": {**row, "features": "degree"} for name, row in ROWS.items()}

TABLE = Table("graph-classification", ROWS)

if __name__ == "__main__":
    command(TABLE, __doc__)
