"""Named recipes: what the paper says, what its code does, and our default."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from sklearn.base import clone

from augcl.errors import one_of
from augcl.files import packaged_toml
from augcl.hardness import Hardness, named_hardness


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
    found = packaged_toml("augcl.methods", "recipes.toml")
    return {name: Recipe(**values) for name, values in found.items()}


def get_recipe(name: str) -> Recipe:
    """The recipe of that name: "default", "authors" or "paper"."""
    return recipes()[one_of(name, recipes(), "recipe")]


def chosen_hardness(hardness: Hardness | str | None, recipe: Recipe) -> Hardness:
    """A checked hardness of its own for one fit; a name takes the settings of the recipe."""
    if isinstance(hardness, Hardness):
        own: Hardness = clone(hardness)
    else:
        own = named_hardness(hardness or "none", recipe.hardness)
    own.check()
    return own
