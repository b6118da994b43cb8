"""The node-classification table: which rows it has, and computing the cells that are missing.

    python -m augcl.experiments.node_classification Cora --rows GRACE GCA --seeds 5 --jobs 2
    python -m augcl.experiments.node_classification Amazon-Computers --rows GCA@200 --seeds 1

Rows take the published settings of the data set; NAME@200 is a row with 200 epochs instead. A cell
is one training, judged on 20 random splits. What is there is not computed again; with --work a
cell that was stopped goes on from its checkpoint.
"""

from __future__ import annotations

from typing import Any

from augcl.experiments.cells import Table, command


def _rows() -> dict[str, dict[str, Any]]:
    plain: dict[str, Any] = {"hardness": "none", "epochs": None}
    weighted: dict[str, Any] = {"hardness": "augcl", "epochs": None}
    full = {"hardness_options": {"temper": 1.0}}
    live = {"options": {"weights": "live"}}
    rows: dict[str, dict[str, Any]] = {
        "raw": {**plain, "method": "RawFeatures"},
        "untrained": {**plain, "method": "GCA", "epochs": 0},
    }
    for base in ("GRACE", "GCA"):
        rows |= {
            base: {**plain, "method": base},
            f"{base}+AUGCL": {**weighted, "method": base},
            f"{base}+AUGCL-full": {**weighted, **full, "method": base},
            f"{base}+AUGCL-live": {**weighted, **live, "method": base},
        }
    own = {"protocol": "grace-liblinear"}
    rows |= {f"{name}-liblinear": {**row, **own} for name, row in rows.items()}
    presets = {"-progcl": {"preset": "Amazon-Photo/progcl"}, "": {}}
    estimates = {"-sampled": {"candidates": 512}, "": {}}
    for name in [name for name in rows if name.startswith("GCA") and "-" not in name]:
        for preset, published in presets.items():
            for estimate, cheaper in estimates.items():
                options = {"options": {**published, **cheaper}}
                rows[f"{name}{preset}{estimate}"] = {**rows[name], **options}
    return rows


TABLE = Table("node-classification", _rows())

if __name__ == "__main__":
    command(TABLE, __doc__)
