"""Named recipes: our default, what the authors' code does, and what the paper says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

from augcl.contract import unfitted
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
    edge_features: bool = True
    """Whether edge features are used where there are any and the user leaves it open."""
    methods: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Further settings by the name of a method."""

    def warmup(self, epochs: int) -> int:
        """Return the number of epochs before a hardness that learns is fitted."""
        share = int(epochs * self.warmup_share)
        return share if self.warmup_most is None else min(share, self.warmup_most)

    def of_method(self, kind: type) -> dict[str, Any]:
        """Return what holds for a class of methods, with what it inherits."""
        found: dict[str, Any] = {}
        for parent in reversed(kind.__mro__):
            found |= self.methods.get(parent.__name__, {})
        return found

    def shared(self) -> dict[str, Any]:
        """Return what holds for all methods, as plain values: a part of every cell's digest."""
        found = {f.name: getattr(self, f.name) for f in fields(self)}
        left_out = ("name", "methods", "edge_features")  # cells name a set without edge features
        return {k: v for k, v in found.items() if k not in left_out and v is not None}


@cache
def recipes() -> dict[str, Recipe]:
    """Return all recipes by name."""
    tables = packaged_toml("augcl.methods", "recipes.toml")
    default = {kind: own for kind, own in tables["default"].items() if isinstance(own, dict)}
    found = {}
    for name, table in tables.items():
        methods = {kind: {**usual, **table.get(kind, {})} for kind, usual in default.items()}
        shared = {key: value for key, value in table.items() if key not in default}
        found[name] = Recipe(name, **shared, methods=methods)
    return found


def get_recipe(name: str) -> Recipe:
    """Return the recipe of that name: "default", "authors" or "paper"."""
    return recipes()[one_of(name, recipes(), "recipe")]


def by_recipe(method: Any, name: str) -> Any:
    """Return the value of a method's setting; where that is None, the recipe decides.

    >>> import augcl
    >>> by_recipe(augcl.MVGRL(recipe="authors"), "loops"), by_recipe(augcl.MVGRL(loops=3), "loops")
    (2, 3)
    """
    given = getattr(method, name)
    if given is not None:
        return given
    recipe = get_recipe(method.recipe)
    return {**recipe.shared(), **recipe.of_method(type(method))}.get(name)


def left_to_recipe(method: Any) -> set[str]:
    """Return the names of the settings that a method leaves to its recipe.

    They decide nothing besides the recipe's name, so they are no part of a cell's digest. What all
    methods share is: it stands there as in `Recipe.shared`.
    """
    recipe = get_recipe(method.recipe)
    names = {*recipe.of_method(type(method))} - {*recipe.shared()}
    return {name for name in names if getattr(method, name) is None}


def chosen_hardness(hardness: Hardness | str | None, recipe: Recipe) -> Hardness:
    """Return a checked copy of the hardness; a name takes the settings of the recipe."""
    if isinstance(hardness, Hardness):
        made_with = getattr(hardness, "recipe", recipe.name)
        if recipe.name not in ("default", made_with):
            raise InputError(
                f"recipe {recipe.name!r} would not change the hardness object, which has the "
                f"settings of recipe {made_with!r}: give hardness='augcl', or "
                f"AffinityUncertainty.from_recipe({recipe.name!r}, …) with settings of your own"
            )
        own: Hardness = unfitted(hardness)
    else:
        own = named_hardness(hardness or "none", recipe.name)
    own._check()
    return own
