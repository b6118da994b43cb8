"""A table: its rows by name, the settings that all of them share, and the cell of each row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from augcl.data import Reading, load_graph, load_graphs
from augcl.data.catalogue import known_name
from augcl.errors import one_of
from augcl.hardness import CEILING
from augcl.methods.presets import PUBLISHED
from augcl.paper.cells import Cell, digest
from augcl.runs.run import Spec
from augcl.training.method import fingerprint


@dataclass(frozen=True)
class Setting:
    """Settings that all rows of a comparison share; with `epochs` None the table decides them.

    `options` and `recipe` apply to all rows of the base method, with and without a hardness; a row
    may name its own recipe. `reading` is how the data are read: target, task, missing.
    """

    epochs: int | None = None
    recipe: str = "default"
    features: str = "auto"
    options: Mapping[str, Any] = field(default_factory=dict)
    reading: Mapping[str, Any] = field(default_factory=dict)


PLAIN = Setting()


def node_setting(*, epochs: int | None = None, candidates: int | None = None) -> Setting:
    """Return the data set's preset, with fewer epochs and sampled negatives for a laptop."""
    return Setting(epochs=epochs, options={} if candidates is None else {"candidates": candidates})


Published = Callable[[str, str], tuple[float, float] | None]


def unpublished(row: str, dataset: str) -> tuple[float, float] | None:
    """Return None: the paper has no number for these rows."""
    return None


@dataclass(frozen=True)
class Table:
    """Rows of a comparison, and the roles of some of them: base, floor and ceiling.

    Parameters
    ----------
    name : str
    rows : dict
        Settings of a `Spec` for each row: published ones, unless it names a preset. Epochs named
        by a row (0: untrained) always apply.
    base : str
        Row of the plain method.
    compared : tuple of str
        Rows that are compared by default, in order.
    floor, free, ceiling : str
        Rows of the untrained encoder, of what needs no training, and of the oracle.
    published : callable
        Maps a row and a data set to the paper's mean and standard deviation in percent, or None.
    epochs : int, optional
        Epochs of rows that name none, unless the setting names them.
    """

    name: str
    rows: dict[str, dict[str, Any]]
    base: str
    compared: tuple[str, ...]
    floor: str = "untrained"
    free: str = "training-free"
    ceiling: str = "oracle"
    published: Published = unpublished
    epochs: int | None = None

    def spec(self, dataset: str, row: str, setting: Setting = PLAIN) -> Spec:
        given = self.rows[one_of(row, self.rows, "method")]
        usual = {"epochs": setting.epochs or self.epochs, "preset": PUBLISHED}
        spec = Spec(dataset, **{**usual, **given})
        spec = replace(spec, features=setting.features, **setting.reading)
        if spec.method != Spec(dataset, **self.rows[self.base]).method:
            return spec  # settings of the base method do not apply to other methods
        recipe = spec.recipe if "recipe" in given or row == self.floor else setting.recipe
        return replace(spec, recipe=recipe, options={**setting.options, **spec.options})

    def competing(self, rows: Iterable[str]) -> list[str]:
        """Return those of `rows` that are methods, evaluated by the same protocol as the base.

        What uses the labels is no method.
        """
        apart = {self.floor, self.free, self.base, self.ceiling, "raw"}
        apart |= {row for row in self.rows if row == "default" or row.endswith("-default")}
        apart |= {row for row, given in self.rows.items() if "protocol" in given}
        return [row for row in rows if row not in apart and not self.knows_labels(row)]

    def knows_labels(self, row: str) -> bool:
        """Return whether the row is the oracle or a partial one."""
        return self.rows.get(row, {}).get("hardness") in CEILING

    @property
    def level(self) -> str:
        """Return what is embedded: "graph" or "node"."""
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
    """Return a hash of data and labels that are given by a path; None for a named data set."""
    if known_name(spec.dataset):
        return None
    return _fingerprint(spec.level, spec.dataset, spec.features, data_dir, spec.reading)


@cache  # every cell of a table needs it
def _fingerprint(
    level: str, dataset: str, features: str, data_dir: str | None, how: Reading
) -> str:
    read = load_graphs if level == "graph" else load_graph
    data = read(dataset, data_dir=data_dir, features=features, how=how)
    labels = None if data.y is None else data.y.tolist()
    return digest([fingerprint(data, edge_features=True), labels])
