"""Random views of a whole batch of graphs at once; no Python loop over graphs."""

from augcl.views.basic import AttributeMask, EdgePerturb, Identity, NodeDrop
from augcl.views.choice import OneOf, named_view
from augcl.views.edit import Edit, View
from augcl.views.subgraph import Subgraph

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
