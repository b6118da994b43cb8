"""How hard each negative is: one small interface, one file a method."""

from collections.abc import Mapping
from typing import Any

from augcl.errors import one_of
from augcl.hardness.affinity import AffinityUncertainty, CollapseWarning
from augcl.hardness.base import Hardness, Uniform
from augcl.hardness.debiased import DCL
from augcl.hardness.importance import HCL
from augcl.hardness.oracle import Oracle
from augcl.hardness.progcl import ProGCL
from augcl.hardness.vitals import Vitals
from augcl.ops.two_means import two_means

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
"""Names for the command line; a new method adds one line."""

CEILING: dict[str, type[Hardness]] = {"oracle": Oracle}
"""What uses the labels: it is no method and stands in comparisons only."""


def named_hardness(name: str, settings: Mapping[str, Any]) -> Hardness:
    """The hardness of that name, with those of the settings that it knows."""
    every = HARDNESS | CEILING
    kind = every[one_of(name, every, "hardness")]
    known = kind().get_params()
    return kind(**{key: value for key, value in settings.items() if key in known})
