"""Two groups of points in the plane, and the weights that each reading of AUGCL gives them.

The paper's first figure shows such a toy; its points are not published. Ours are drawn by a seed:
20 points around each of two centres, three units from the origin, so that cosines tell their
directions apart. Instances 1 to 20 are blue and 21 to 40 orange; 11 and 26 are anchors. A point is
its own positive, all other points are its negatives.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from augcl.errors import one_of
from augcl.experiments.cells import FOLDER, digest
from augcl.experiments.graph_classification import READINGS as VARIANTS
from augcl.experiments.graph_classification import TABLE
from augcl.experiments.run import decisive_settings
from augcl.files import write_json
from augcl.hardness import AffinityUncertainty
from augcl.hardness.affinity import CollapseWarning

SIZE = 40
ANCHORS = (11, 26)
TOYS = {"apart": 120.0, "close": 60.0}
"""Degrees between the centres, seen from the origin."""

UPDATE = 2 * SIZE
"""Pairs in an update, those of two anchors: with the usual 2,048 a pass would be one update."""

READINGS: dict[str, dict[str, Any]] = {
    "AUGCL": TABLE.rows["AUGCL"],
    **{row: given for row, given in VARIANTS.items() if given["hardness"] == "augcl"},
}
"""AUGCL's default, and the paper and its released code as they can be read."""


def points(toy: str, seed: int) -> NDArray[np.float64]:
    """(40, 2): the blue points, then the orange ones.

    >>> points("close", 0).shape
    (40, 2)
    """
    angle = TOYS[one_of(toy, TOYS, "toy")]
    directions = np.radians([45 - angle / 2, 45 + angle / 2])
    centres = 3 * np.stack([np.cos(directions), np.sin(directions)], axis=1)
    noise = np.random.default_rng(seed).standard_normal((SIZE, 2))
    return centres.repeat(SIZE // 2, axis=0) + 0.8 * noise


def colours() -> NDArray[np.int64]:
    """(40,): 0 for blue, 1 for orange."""
    return np.arange(2).repeat(SIZE // 2)


@dataclass(frozen=True)
class ToyCell:
    """One reading fitted on one drawing of a toy; a file like any other cell."""

    toy: str
    reading: str
    seed: int

    @property
    def name(self) -> str:
        return f"{self.reading} on the toy {self.toy}, seed {self.seed}"

    @property
    def order(self) -> tuple[Any, ...]:
        return (self.toy, self.reading, self.seed)

    def path(self, out: Path) -> Path:
        settings = decisive_settings(_hardness(self.reading, 0))
        decides = digest({"settings": settings, "points": points(self.toy, 0).round(6).tolist()})
        folder = out / FOLDER / f"toy-{self.toy}" / f"{self.reading}-{decides}"
        return folder / f"seed-{self.seed}.json"

    def compute(self, out: Path, data_dir: str | None) -> None:
        write_json(self.path(out), self.record())

    def record(self) -> dict[str, Any]:
        """Weights of both anchors, uncertainty for the first, means over all, vital signs."""
        z = torch.from_numpy(points(self.toy, self.seed)).float()
        hardness = _hardness(self.reading, self.seed)
        with warnings.catch_warnings():  # the state is part of the record
            warnings.simplefilter("ignore", CollapseWarning)
            hardness.fit([(z, z)])
        weights, rows = hardness.weights(z, z), [anchor - 1 for anchor in ANCHORS]
        return {
            "toy": self.toy,
            "reading": self.reading,
            "seed": self.seed,
            "vitals": hardness.diagnose(),
            "weights": {str(row + 1): _plain(weights[row]) for row in rows},
            "uncertainty": _plain(hardness.uncertainty(z, z)[rows[0]]),
            **means(weights, torch.from_numpy(colours())),
        }


def _hardness(reading: str, seed: int) -> AffinityUncertainty:
    row = READINGS[one_of(reading, READINGS, "reading")]
    settings = {**row.get("hardness_options", {}), "pair_batch": UPDATE, "random_state": seed}
    return AffinityUncertainty.from_recipe(row.get("recipe", "default"), **settings)


def means(weights: Tensor, labels: Tensor) -> dict[str, float]:
    """Mean weight of false negatives (the anchor's own label) and of true ones, over all anchors.

    >>> means(torch.tensor([[9.0, 1.0, 3.0], [1.0, 9.0, 3.0], [3.0, 3.0, 9.0]]),
    ...       torch.tensor([0, 0, 1]))
    {'weight_false_negatives': 1.0, 'weight_true_negatives': 3.0}
    """
    same = labels[:, None] == labels
    own = torch.eye(len(labels), dtype=torch.bool)
    return {
        "weight_false_negatives": float(weights[same & ~own].mean()),
        "weight_true_negatives": float(weights[~same].mean()),
    }


def _plain(values: Tensor) -> list[float]:
    """Six digits: what a figure shows, and files that stay small."""
    return [float(f"{value:.6g}") for value in values.tolist()]
