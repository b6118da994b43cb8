"""Published settings of GRACE and GCA by data set; see node_presets.toml."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from augcl.errors import one_of


@cache
def presets() -> dict[str, dict[str, Any]]:
    """All presets by name."""
    text = files("augcl.methods").joinpath("node_presets.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def get_preset(name: str) -> dict[str, Any]:
    """The settings of one preset.

    >>> get_preset("Cora")["tau"]
    0.4
    """
    return presets()[one_of(name, presets(), "preset")]


def preset_for(dataset: str) -> str:
    """The preset of a data set, "default" if it has none."""
    return dataset if dataset in presets() else "default"
