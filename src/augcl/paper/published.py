"""The numbers of the paper, beside which ours are shown."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from augcl.files import packaged_text

REWARDS = (1.5, 1.6, 1.7, 1.8, 1.9)
"""The grid of the reward o."""

ALIASES = {"REDDIT-BINARY": "RDT-B", "IMDB-BINARY": "IMDB-B"}


@cache
def paper() -> dict[str, Any]:
    """Everything that was transcribed from the paper."""
    numbers: dict[str, Any] = json.loads(packaged_text("augcl.paper", "paper_numbers.json"))
    return numbers


def accuracy(table: str, method: str | None, dataset: str) -> tuple[float, float] | None:
    """Published accuracy in percent, mean and standard deviation; None where there is none.

    >>> accuracy("graph_classification", "GraphCL", "IMDB-BINARY")
    (71.2, 0.72)
    """
    found = paper()[table].get(method, {}).get(ALIASES.get(dataset, dataset))
    return None if found is None else (found[0], found[1])


def improvement(dataset: str) -> float | None:
    """Published points that AUGCL gains over its base; None where there are none.

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
    """Published accuracy of a variant of AUGCL, by the paper's names of its parts.

    >>> ablation("k-means", "Distance", "MUTAG")
    (88.64, 0.83)
    """
    (row,) = (r for r in paper()["ablation"] if (r["f"], r["g"]) == (partition, estimator))
    mean, std = row["results"][ALIASES.get(dataset, dataset)]
    return mean, std


def training_seconds(method: str, dataset: str) -> float | None:
    """Published seconds of training.

    >>> training_seconds("GraphCL", "PROTEINS")
    25.3
    """
    seconds: float | None
    seconds = paper()["training_time_seconds"].get(ALIASES.get(dataset, dataset), {}).get(method)
    return seconds


def attack_accuracy(depth: int, attack: str, victim: str) -> float | None:
    """Published accuracy in percent of a victim under an attack, by the paper's names.

    >>> attack_accuracy(2, "GradArgmax", "AUGCL")
    77.53
    """
    found: float | None = paper()["attacks"][f"{depth}-layer"].get(attack, {}).get(victim)
    return found
