"""The numbers of the paper, beside which ours are shown."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

ALIASES = {"REDDIT-BINARY": "RDT-B", "IMDB-BINARY": "IMDB-B"}


@cache
def paper() -> dict[str, Any]:
    """Everything that was transcribed from the paper."""
    text = files("augcl.experiments").joinpath("paper_numbers.json").read_text(encoding="utf-8")
    numbers: dict[str, Any] = json.loads(text)
    return numbers


def graph_accuracy(method: str, dataset: str) -> tuple[float, float] | None:
    """Published accuracy in percent, mean and standard deviation.

    >>> graph_accuracy("GraphCL_AUGCL", "MUTAG")
    (89.2, 1.08)
    """
    found = paper()["graph_classification"][method].get(ALIASES.get(dataset, dataset))
    return None if found is None else (found[0], found[1])


def node_accuracy(method: str, dataset: str) -> tuple[float, float] | None:
    """Published accuracy of node embeddings in percent, mean and standard deviation.

    >>> node_accuracy("GCA", "Amazon-Photo")
    (91.99, 0.39)
    """
    found = paper()["node_classification"].get(method, {}).get(dataset)
    return None if found is None else (found[0], found[1])
