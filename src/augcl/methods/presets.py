"""Published settings by data set, in TOML files beside this one."""

from __future__ import annotations

from typing import Any

from augcl.errors import one_of
from augcl.files import packaged_toml

GRACE = "node_presets.toml"
HSAN = "hsan_presets.toml"


def presets(file: str = GRACE) -> dict[str, dict[str, Any]]:
    """All presets of a file by name."""
    return packaged_toml("augcl.methods", file)


def get_preset(name: str, file: str = GRACE) -> dict[str, Any]:
    """The settings of one preset; what it leaves open is as in `default`.

    >>> get_preset("Cora")["tau"], get_preset("CiteSeer", HSAN)["beta"]
    (0.4, 2.0)
    """
    every = presets(file)
    return {**every["default"], **every[one_of(name, every, "preset")]}


def preset_for(dataset: str) -> str:
    """The preset of a data set, "default" if it has none."""
    return dataset if dataset in presets() else "default"
