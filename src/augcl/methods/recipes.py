"""Named recipes: what the paper says, what its code does, and our default."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from sklearn.base import clone

from augcl.errors import InputError, one_of
from augcl.files import packaged_toml
from augcl.hardness import Hardness, named_hardness


@dataclass(frozen=True)
class Recipe:
    """Settings that a recipe decides; see recipes.toml."""

    name: str
    warmup_share: float
    augment_anchor: bool
    growth: str
    statistics: str
    warmup_most: int | None = None

    def warmup(self, epochs: int) -> int:
        """Epochs before a hardness sets in that has to be fitted."""
        share = int(epochs * self.warmup_share)
        return share if self.warmup_most is None else min(share, self.warmup_most)


@cache
def recipes() -> dict[str, Recipe]:
    """All recipes by name."""
    found = packaged_toml("augcl.methods", "recipes.toml")
    return {name: Recipe(name, **values) for name, values in found.items()}


def get_recipe(name: str) -> Recipe:
    """The recipe of that name: "default", "authors" or "paper"."""
    return recipes()[one_of(name, recipes(), "recipe")]


def chosen_hardness(hardness: Hardness | str | None, recipe: Recipe) -> Hardness:
    """A checked hardness of its own for one fit; a name takes the settings of the recipe."""
    if isinstance(hardness, Hardness):
        made_with = getattr(hardness, "recipe", recipe.name)
        if recipe.name not in ("default", made_with):
            raise InputError(
                f"recipe {recipe.name!r} would not change the hardness object, which has the "
                f"settings of recipe {made_with!r}: give hardness='augcl', or "
                f"AffinityUncertainty.from_recipe({recipe.name!r}, …) with settings of your own"
            )
        own: Hardness = clone(hardness)
    else:
        own = named_hardness(hardness or "none", recipe.name)
    own.check()
    return own
