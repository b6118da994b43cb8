"""Random views of a whole batch of graphs at once; no Python loop over graphs."""

from augcl.views.edit import Edit, View
from augcl.views.graphs import (
    AttributeMask,
    EdgePerturb,
    Identity,
    NodeDrop,
    OneOf,
    Subgraph,
    named_view,
)

__all__ = [
    "AttributeMask",
    "EdgePerturb",
    "Edit",
    "Identity",
    "NodeDrop",
    "OneOf",
    "Subgraph",
    "View",
    "named_view",
]
