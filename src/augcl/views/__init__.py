"""Random views of a whole batch of graphs at once; no Python loop over graphs."""

from augcl.views.edit import Edit, View
from augcl.views.graphs import (
    AttributeMask,
    Augmentation,
    EdgePerturb,
    Identity,
    NodeDrop,
    OneOf,
    Subgraph,
    make_view,
    named_view,
)

__all__ = [
    "AttributeMask",
    "Augmentation",
    "EdgePerturb",
    "Edit",
    "Identity",
    "NodeDrop",
    "OneOf",
    "Subgraph",
    "View",
    "make_view",
    "named_view",
]
