"""How hard each negative is: one small interface, one file a method."""

from collections.abc import Mapping
from typing import Any

from augcl.errors import one_of
from augcl.hardness.affinity import AffinityUncertainty, CollapseWarning
from augcl.hardness.base import Hardness, Uniform
from augcl.hardness.vitals import Vitals
from augcl.ops.two_means import two_means

__all__ = [
    "HARDNESS",
    "AffinityUncertainty",
    "CollapseWarning",
    "Hardness",
    "Uniform",
    "Vitals",
    "named_hardness",
    "two_means",
]

HARDNESS: dict[str, type[Hardness]] = {"none": Uniform, "augcl": AffinityUncertainty}
"""Names for the command line; a new method adds one line."""


def named_hardness(name: str, settings: Mapping[str, Any]) -> Hardness:
    """The hardness of that name, with those of the settings that it knows."""
    kind = HARDNESS[one_of(name, HARDNESS, "hardness")]
    known = kind().get_params()
    return kind(**{key: value for key, value in settings.items() if key in known})
