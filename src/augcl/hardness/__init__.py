"""Decide how much each negative counts in the loss.

`base` has the interface, `Hardness`. AUGCL is `affinity` (the weight) with its two parts,
`partition` (two groups of candidates) and `uncertainty` (a network that learns the groups). The
other methods are `debiased` (DCL, HCL), `progcl`, and `nearest` (the simplest rule); `oracle` uses
the labels and is for comparisons only.
"""

from collections.abc import Mapping
from typing import Any

from augcl.errors import InputError, one_of
from augcl.hardness.affinity import AffinityUncertainty, CollapseWarning, UndefinedAlphaError
from augcl.hardness.base import Hardness, Uniform
from augcl.hardness.debiased import DCL, HCL
from augcl.hardness.diagnostics import Vitals
from augcl.hardness.nearest import NearestOut
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
    "NearestOut",
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
    "nearest": NearestOut,
}
"""Names for `hardness=` and the command line; a new hardness adds one line."""

CEILING: dict[str, type[Hardness]] = {"oracle": Oracle}
"""Upper bounds that use the labels: not methods, for comparisons only."""


def named_hardness(
    name: str, recipe: str = "default", options: Mapping[str, Any] | None = None
) -> Hardness:
    """Return a new hardness by name.

    Parameters
    ----------
    name : str
        A key of `HARDNESS` or `CEILING`.
    recipe : {"default", "authors", "paper"}
        Settings of AUGCL; the other methods have one set of settings.
    options : mapping, optional
        Parameters that replace those of the recipe; an unknown name raises `InputError`.

    Examples
    --------
    >>> named_hardness("hcl", options={"beta": 0.5})
    HCL(beta=0.5)
    """
    every = HARDNESS | CEILING
    kind = every[one_of(name, every, "hardness")]
    known = kind().get_params()
    for key in options or {}:
        if not known:
            raise InputError(f"hardness {name} has no options: leave out {key!r}")
        one_of(key, known, f"option of hardness {name}")
    if issubclass(kind, AffinityUncertainty):
        return kind.from_recipe(recipe, **options or {})
    return kind(**options or {})
