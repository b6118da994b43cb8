"""RawFeatures: node features as embeddings, the baseline that every node method has to beat."""

from __future__ import annotations

import torch
from torch import Tensor

from augcl.data.node_graph import NodeGraph
from augcl.training.method import NodeReader, PlainMethod
from augcl.views.nodes import NodeViews


class RawFeatures(NodeReader, PlainMethod):
    """Embed a node as its features; learn nothing.

    Parameters
    ----------
    normalize_features : bool
        Divide every row by its sum (if above 1), as the other node methods do.
    random_state, progress :
        Not used; every method has them.

    Examples
    --------
    >>> import augcl
    >>> augcl.RawFeatures().fit_transform(augcl.load("digits-knn")).shape
    (1797, 64)
    """

    cost = "seconds"

    def __init__(
        self,
        *,
        normalize_features: bool = True,
        random_state: int | None = 0,
        progress: bool = True,
    ) -> None:
        self.normalize_features = normalize_features
        self.random_state = random_state
        self.progress = progress

    def _learn(self, data: NodeGraph, generator: torch.Generator) -> None:
        """Do nothing: there is nothing to learn."""

    def _embedded(self, data: NodeGraph) -> Tensor:
        return NodeViews(data).clean.x()
