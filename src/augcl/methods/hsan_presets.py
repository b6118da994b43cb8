"""Published settings of HSAN by data set; see hsan_presets.toml."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from augcl.errors import one_of


@cache
def _presets() -> dict[str, dict[str, Any]]:
    text = files("augcl.methods").joinpath("hsan_presets.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def get_preset(name: str) -> dict[str, Any]:
    """The settings of one preset.

    >>> get_preset("CiteSeer")["beta"]
    2.0
    """
    return {**_presets()["default"], **_presets()[one_of(name, _presets(), "preset")]}
