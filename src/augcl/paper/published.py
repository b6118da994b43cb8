"""The published numbers of the paper, which are shown beside ours."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from augcl.files import packaged_text

REWARDS = (1.5, 1.6, 1.7, 1.8, 1.9)
"""The paper's grid of the reward o."""

ALIASES = {"REDDIT-BINARY": "RDT-B", "IMDB-BINARY": "IMDB-B"}


@cache
def paper() -> dict[str, Any]:
    """Return all numbers that were transcribed from the paper."""
    numbers: dict[str, Any] = json.loads(packaged_text("augcl.paper", "paper_numbers.json"))
    return numbers


def accuracy(table: str, method: str | None, dataset: str) -> tuple[float, float] | None:
    """Return the published accuracy in percent, mean and standard deviation, or None.

    >>> accuracy("graph_classification", "GraphCL", "IMDB-BINARY")
    (71.2, 0.72)
    """
    found = paper()[table].get(method, {}).get(ALIASES.get(dataset, dataset))
    return None if found is None else (found[0], found[1])


def improvement(dataset: str) -> float | None:
    """Return the published gain of AUGCL over its base in points, or None.

    >>> improvement("REDDIT-BINARY"), improvement("Wiki-CS"), improvement("Cora")
    (1.1, 0.51, None)
    """
    name = ALIASES.get(dataset, dataset)
    every = {
        k: v for sets in paper()["improvement_over_baselines"].values() for k, v in sets.items()
    }
    found: float | None = every.get(name, {}).get("improvement")
    return found


def ablation(partition: str | None, estimator: str | None, dataset: str) -> tuple[float, float]:
    """Return the published accuracy of a variant of AUGCL, by the paper's names of its parts.

    >>> ablation("k-means", "Distance", "MUTAG")
    (88.64, 0.83)
    """
    (row,) = (r for r in paper()["ablation"] if (r["f"], r["g"]) == (partition, estimator))
    mean, std = row["results"][ALIASES.get(dataset, dataset)]
    return mean, std


def training_seconds(method: str, dataset: str) -> float | None:
    """Return the published seconds of training, or None.

    >>> training_seconds("GraphCL", "PROTEINS")
    25.3
    """
    seconds: float | None
    seconds = paper()["training_time_seconds"].get(ALIASES.get(dataset, dataset), {}).get(method)
    return seconds


def attack_accuracy(depth: int, attack: str, victim: str) -> float | None:
    """Return the published accuracy in percent of a victim under an attack, by the paper's names.

    >>> attack_accuracy(2, "GradArgmax", "AUGCL"), attack_accuracy(5, "GradArgmax", "AUGCL")
    (77.53, None)
    """
    found: float | None = paper()["attacks"].get(f"{depth}-layer", {}).get(attack, {}).get(victim)
    return found
