"""Settings chosen without a look at test data: by accuracy inside each training part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from augcl.errors import InputError
from augcl.experiments.measured import Measured
from augcl.experiments.published import REWARDS
from augcl.experiments.run import Spec

SHARES = (0.01, 0.05, 0.1)
GRIDS: dict[str, list[dict[str, Any]]] = {
    "augcl": [{"reward": reward} for reward in REWARDS],
    "dcl": [{"tau_plus": share} for share in SHARES],
    "hcl": [{"beta": b, "tau_plus": share} for b, share in product((0.1, 0.5, 1.0, 2.0), SHARES)],
}
"""The paper's grid of the reward, and the recommended ones of DCL and HCL."""

PROTOCOL = (
    "Selected rows: every setting of the grid is trained without labels; in each fold the setting "
    "with the best accuracy inside the training part (cross-validation; of nodes the validation "
    "nodes) is tested once on the test part. No test label takes part in a choice."
)


def variants(spec: Spec) -> list[Spec]:
    """The spec with each setting of its hardness's grid; none if that has no grid."""
    options = spec.hardness_options
    return [replace(spec, hardness_options={**options, **s}) for s in GRIDS.get(spec.hardness, [])]


def select(found: Sequence[Measured]) -> Measured:
    """One `Measured` from those of several settings.

    Examples
    --------
    >>> mild = Measured({0: (0.8, 0.9)}, {0: (0.85, 0.7)}, "graph")
    >>> strong = Measured({0: (0.7, 1.0)}, {0: (0.8, 0.75)}, "graph")
    >>> select([mild, strong]).folds
    {0: (0.8, 1.0)}
    """
    seeds = sorted(set.intersection(*(set(m.folds) for m in found)))
    if not all(m.inner[seed] for m in found for seed in seeds):
        raise InputError(
            "these results hold no inner accuracies to select by: they are older than the "
            "selection; delete them and compute them again"
        )
    folds, inner = {}, {}
    for seed in seeds:
        inside = np.array([m.inner[seed] for m in found])
        best = inside.argmax(0)  # the first of equal ones
        folds[seed] = tuple(found[i].folds[seed][fold] for fold, i in enumerate(best))
        inner[seed] = tuple(inside.max(0).tolist())
    return Measured(folds, inner, found[0].level)
