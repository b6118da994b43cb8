"""How much each negative counts: one small interface, one file per method."""

from collections.abc import Mapping
from typing import Any

from augcl.errors import InputError, one_of
from augcl.hardness.affinity import AffinityUncertainty, CollapseWarning, UndefinedAlphaError
from augcl.hardness.base import Hardness, Uniform
from augcl.hardness.debiased import DCL, HCL
from augcl.hardness.diagnostics import Vitals
from augcl.hardness.oracle import Oracle
from augcl.hardness.partition import two_means
from augcl.hardness.progcl import ProGCL

__all__ = [
    "CEILING",
    "DCL",
    "HARDNESS",
    "HCL",
    "AffinityUncertainty",
    "CollapseWarning",
    "Hardness",
    "Oracle",
    "ProGCL",
    "UndefinedAlphaError",
    "Uniform",
    "Vitals",
    "named_hardness",
    "two_means",
]

HARDNESS: dict[str, type[Hardness]] = {
    "none": Uniform,
    "augcl": AffinityUncertainty,
    "dcl": DCL,
    "hcl": HCL,
    "progcl": ProGCL,
}
"""Names for `hardness=` and the command line; a new hardness adds one line."""

CEILING: dict[str, type[Hardness]] = {"oracle": Oracle}
"""Uses the labels: no method, for comparisons only."""


def named_hardness(
    name: str, recipe: str = "default", options: Mapping[str, Any] | None = None
) -> Hardness:
    """Make the hardness of that name; AUGCL gets the settings of the recipe.

    `options` are parameters of the user; an unknown one raises `InputError`.
    """
    every = HARDNESS | CEILING
    kind = every[one_of(name, every, "hardness")]
    known = kind().get_params()
    for key in options or {}:
        if not known:
            raise InputError(f"hardness {name} has no options, so no {key!r}: leave it out")
        one_of(key, known, f"option of hardness {name}")
    if issubclass(kind, AffinityUncertainty):
        return kind.from_recipe(recipe, **options or {})
    return kind(**options or {})
