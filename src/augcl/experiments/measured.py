"""What one row of a table reached on one data set, over its seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from augcl.evaluation.statistics import PairedDifference, paired_difference

Folds = Mapping[int, tuple[float, ...]]


@dataclass(frozen=True)
class Measured:
    """Accuracies by seed: of each fold (graphs) or of each random split (nodes).

    `inner` are the accuracies inside the training parts, see `Score`.
    """

    folds: Folds
    inner: Folds
    level: str

    @property
    def runs(self) -> list[float]:
        """Mean accuracy of each seed."""
        return [float(np.mean(folds)) for folds in self.folds.values()]

    @property
    def mean(self) -> float:
        return float(np.mean(self.runs))

    @property
    def std(self) -> float | None:
        """Population standard deviation as the papers give it: over seeds, of nodes over splits."""
        if self.level == "node":
            return float(np.std([fold for folds in self.folds.values() for fold in folds]))
        return float(np.std(self.runs)) if len(self.runs) > 1 else None

    def minus(self, other: Measured) -> PairedDifference | None:
        """The difference over the seeds that both have; None where there is nothing to test.

        Of graphs by the corrected resampled t-test over all folds; of nodes by a paired t-test over
        trainings, because the splits of one training share its luck.
        """
        seeds = sorted(self.folds.keys() & other.folds.keys())
        if self.level == "node":
            means = [[float(np.mean(m.folds[s])) for s in seeds] for m in (self, other)]
            return paired_difference(*means, test_to_train=0) if len(seeds) > 1 else None
        both = [[m.folds[seed] for seed in seeds] for m in (self, other)]
        return paired_difference(*both) if seeds else None

    def gap(self, other: Measured) -> float | None:
        """The plain difference over the seeds that both have; None if there is none."""
        seeds = self.folds.keys() & other.folds.keys()
        if not seeds:
            return None
        means = [np.mean([np.mean(m.folds[seed]) for seed in sorted(seeds)]) for m in (self, other)]
        return float(means[0] - means[1])

    def __str__(self) -> str:
        spread = "" if self.std is None else f" ± {100 * self.std:.2f}"
        return f"{100 * self.mean:.2f}{spread}"


def measured(records: Mapping[int, dict[str, Any]], level: str) -> Measured | None:
    """What the records of finished cells hold, by seed; None if none was judged."""
    judged = {seed: record["accuracy"] for seed, record in records.items()}
    found = {seed: accuracy for seed, accuracy in judged.items() if accuracy is not None}
    if not found:
        return None
    return Measured(
        {seed: tuple(accuracy["folds"]) for seed, accuracy in found.items()},
        {seed: tuple(accuracy.get("inner", ())) for seed, accuracy in found.items()},
        level,
    )
