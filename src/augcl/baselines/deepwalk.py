"""DeepWalk: nodes are alike if random walks visit them together; alone and beside features."""

from __future__ import annotations

import torch
from torch import Tensor

from augcl.baselines.walk_method import WalkMethod
from augcl.data.node_graph import NodeGraph
from augcl.training.reading import NodeReader
from augcl.views.nodes import NodeViews


class DeepWalk(NodeReader, WalkMethod):
    """Embeds nodes so that those which random walks visit together lie together.

    It is `Node2Vec` with p = q = 1 but for one thing: as published, the next nodes are predicted
    by a hierarchical softmax. With ``negatives=5`` both are the same.

    Parameters
    ----------
    dimensions, walks, length, window, passes, random_state, progress :
        As in `Node2Vec`.
    negatives : int
        0: hierarchical softmax; else so many random nodes to tell each pair from.

    Attributes
    ----------
    vectors_ : (N, dimensions) float32
        Of the nodes of the fit.

    References
    ----------
    Perozzi, Al-Rfou and Skiena, DeepWalk: Online Learning of Social Representations, 2014.

    Examples
    --------
    >>> import augcl
    >>> graph = augcl.load("digits-knn")
    >>> augcl.DeepWalk(dimensions=8, walks=1, length=10).fit_transform(graph).shape
    (1797, 8)
    """

    year = 2014

    def __init__(
        self,
        *,
        dimensions: int = 128,
        walks: int = 10,
        length: int = 80,
        window: int = 10,
        negatives: int = 0,
        passes: int = 1,
        random_state: int | None = 0,
        progress: bool = True,
    ) -> None:
        self.dimensions = dimensions
        self.walks = walks
        self.length = length
        self.window = window
        self.negatives = negatives
        self.passes = passes
        self.random_state = random_state
        self.progress = progress


class DeepWalkFeatures(DeepWalk):
    """Embeds a node as its DeepWalk vector followed by its features.

    Both parts are multiplied by a number such that the mean square of a row's length is 1: neither
    outweighs the other, and within a part nothing changes.

    Parameters
    ----------
    dimensions, walks, length, window, negatives, passes, random_state, progress :
        As in `DeepWalk`.
    normalize_features : bool
        Divide every row of the features by its sum (where above 1) before.

    Attributes
    ----------
    vectors_ : (N, dimensions) float32
        The part from walks, before it is scaled.

    Examples
    --------
    >>> import augcl
    >>> graph = augcl.load("digits-knn")
    >>> augcl.DeepWalkFeatures(dimensions=8, walks=1, length=10).fit_transform(graph).shape
    (1797, 72)
    """

    def __init__(
        self,
        *,
        dimensions: int = 128,
        walks: int = 10,
        length: int = 80,
        window: int = 10,
        negatives: int = 0,
        passes: int = 1,
        normalize_features: bool = True,
        random_state: int | None = 0,
        progress: bool = True,
    ) -> None:
        super().__init__(
            dimensions=dimensions,
            walks=walks,
            length=length,
            window=window,
            negatives=negatives,
            passes=passes,
            random_state=random_state,
            progress=progress,
        )
        self.normalize_features = normalize_features

    def _embedded(self, data: NodeGraph) -> Tensor:
        return torch.cat(
            [_of_unit_length(self.vectors_), _of_unit_length(NodeViews(data).clean.x())], 1
        )


def _of_unit_length(x: Tensor) -> Tensor:
    """Scaled as a whole, so that rows have length 1 in the quadratic mean; 0 stays 0."""
    square = x.double().square().sum(1).mean()
    return x / square.sqrt().clamp(min=1e-12).float()
