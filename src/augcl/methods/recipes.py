"""Named recipes: what the paper says, what its code does, and our default."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from augcl.errors import one_of


@dataclass(frozen=True)
class Recipe:
    """Settings that a recipe decides; see recipes.toml."""

    warmup_share: float
    augment_anchor: bool
    growth: str
    statistics: str
    hardness: dict[str, Any]


@cache
def recipes() -> dict[str, Recipe]:
    """All recipes by name."""
    text = files("augcl.methods").joinpath("recipes.toml").read_text(encoding="utf-8")
    return {name: Recipe(**values) for name, values in tomllib.loads(text).items()}


def get_recipe(name: str) -> Recipe:
    """The recipe of that name: "default", "authors" or "paper"."""
    return recipes()[one_of(name, recipes(), "recipe")]
