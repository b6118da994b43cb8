"""A comparison: the rows of a table, what all of them share, and the cells they need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from augcl.data import load_graph, load_graphs
from augcl.data.catalogue import known_name
from augcl.errors import InputError, one_of
from augcl.evaluation.statistics import PairedDifference, paired_difference
from augcl.paper.cells import Cell, digest
from augcl.paper.published import REWARDS
from augcl.runs.run import Spec
from augcl.training.method import fingerprint

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


@dataclass(frozen=True)
class Setting:
    """What all rows of a comparison share; `epochs` None: as the table says.

    `options` are of the base method, with and without a hardness, and so is the `recipe`, which a
    row may have decided for itself.
    """

    epochs: int | None = None
    recipe: str = "default"
    features: str = "auto"
    options: Mapping[str, Any] = field(default_factory=dict)


PLAIN = Setting()

Published = Callable[[str, str], tuple[float, float] | None]


def unpublished(row: str, dataset: str) -> tuple[float, float] | None:
    """Of what the paper does not show."""
    return None


@dataclass(frozen=True)
class Table:
    """Rows, each the settings of a `Spec` by name, and the part that some of them play.

    Parameters
    ----------
    name : str
    rows : dict
        Settings of each row. One with epochs of its own (0: untrained) keeps them.
    base : str
        The plain method.
    compared : tuple of str
        The rows of a comparison, in order.
    floor, ceiling : str
        The untrained encoder, and the oracle.
    published : callable
        From a row and a data set to the paper's mean and standard deviation in percent, or None.
    epochs : int, optional
        Of rows that have none of their own, unless the setting says otherwise.
    """

    name: str
    rows: dict[str, dict[str, Any]]
    base: str
    compared: tuple[str, ...]
    floor: str = "untrained"
    ceiling: str = "oracle"
    published: Published = unpublished
    epochs: int | None = None

    def spec(self, dataset: str, row: str, setting: Setting = PLAIN) -> Spec:
        given = self.rows[one_of(row, self.rows, "method")]
        spec = Spec(dataset, **{"epochs": setting.epochs or self.epochs, **given})
        spec = replace(spec, features=setting.features)
        if spec.method != Spec(dataset, **self.rows[self.base]).method:
            return spec  # another method has settings of its own
        recipe = spec.recipe if "recipe" in given or row == self.floor else setting.recipe
        return replace(spec, recipe=recipe, options={**setting.options, **spec.options})

    def competing(self, rows: Iterable[str]) -> list[str]:
        """Those of some rows that compete with the base: embedded by a method, judged alike."""
        apart = {self.floor, self.base, self.ceiling, "raw"}
        apart |= {row for row, given in self.rows.items() if "protocol" in given}
        return [row for row in rows if row not in apart]

    @property
    def level(self) -> str:
        """What is embedded: "graph" or "node"."""
        return self.spec("", self.base).level

    def cell(
        self,
        dataset: str,
        row: str,
        setting: Setting = PLAIN,
        *,
        seed: int = 0,
        data_dir: str | None = None,
    ) -> Cell:
        spec = self.spec(dataset, row, setting)
        return Cell(spec, seed, identity(spec, data_dir))


def identity(spec: Spec, data_dir: str | None) -> str | None:
    """A hash of data, labels included, that are known by their path alone."""
    if known_name(spec.dataset):
        return None
    return _fingerprint(spec.level, spec.dataset, spec.features, data_dir)


@cache  # of the many cells of a table each asks
def _fingerprint(level: str, dataset: str, features: str, data_dir: str | None) -> str:
    read = load_graphs if level == "graph" else load_graph
    data = read(dataset, data_dir=data_dir, features=features)
    labels = None if data.y is None else data.y.tolist()
    return digest([fingerprint(data), labels])


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
