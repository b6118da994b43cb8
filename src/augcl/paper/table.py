"""A table: its rows by name, the settings that all of them share, and the cell of each row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from augcl.data import Reading, load_graph, load_graphs
from augcl.data.catalogue import known_name
from augcl.errors import one_of
from augcl.paper.cells import Cell, digest
from augcl.runs.run import Spec
from augcl.training.method import fingerprint


@dataclass(frozen=True)
class Setting:
    """What all rows of a comparison share; `epochs` None: as the table says.

    `options` are of the base method, with and without a hardness, and so is the `recipe`, which a
    row may have decided for itself. `reading` is how the data are read: target, task, missing.
    """

    epochs: int | None = None
    recipe: str = "default"
    features: str = "auto"
    options: Mapping[str, Any] = field(default_factory=dict)
    reading: Mapping[str, Any] = field(default_factory=dict)


PLAIN = Setting()


def node_setting(*, epochs: int | None = None, candidates: int | None = None) -> Setting:
    """The data set's preset, with fewer epochs and sampled negatives for a laptop."""
    return Setting(epochs=epochs, options={} if candidates is None else {"candidates": candidates})


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
        spec = replace(spec, features=setting.features, **setting.reading)
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
    return _fingerprint(spec.level, spec.dataset, spec.features, data_dir, spec.reading)


@cache  # of the many cells of a table each asks
def _fingerprint(
    level: str, dataset: str, features: str, data_dir: str | None, how: Reading
) -> str:
    read = load_graphs if level == "graph" else load_graph
    data = read(dataset, data_dir=data_dir, features=features, how=how)
    labels = None if data.y is None else data.y.tolist()
    return digest([fingerprint(data), labels])
