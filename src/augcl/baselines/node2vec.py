"""Node2vec and DeepWalk: nodes are alike if random walks visit them together."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from augcl.baselines.fitted_only import FittedOnly
from augcl.baselines.skip_gram import SkipGram
from augcl.data.node_graph import NodeGraph
from augcl.errors import InputError
from augcl.training.method import whole_number
from augcl.training.reading import NodeReader
from augcl.views.nodes import NodeViews


class WalkMethod(FittedOnly):
    """What skip-gram on walks needs, whether nodes or graphs are embedded."""

    dimensions: int
    walks: int
    length: int
    window: int
    negatives: int
    passes: int

    def _start(self) -> None:
        for name in ("dimensions", "walks", "window", "passes"):
            whole_number(name, getattr(self, name), least=1)
        whole_number("length", self.length, least=2)
        whole_number("negatives", self.negatives, least=0)
        for name in ("p", "q"):
            value = getattr(self, name, 1.0)
            if not 0 < value < math.inf:
                raise InputError(f"{name} is {value!r}: it must be above 0 and finite")

    def _node_vectors(self, data: Any, generator: torch.Generator) -> Tensor:
        return SkipGram(
            dimensions=int(self.dimensions),
            walks=int(self.walks),
            length=int(self.length),
            window=int(self.window),
            negatives=int(self.negatives),
            p=float(getattr(self, "p", 1.0)),
            q=float(getattr(self, "q", 1.0)),
            passes=int(self.passes),
        ).fit(
            data.edge_index,
            data.num_nodes,
            generator,
            title=f"{type(self).__name__} on {data.name}",
            progress=self.progress,
        )


class Node2Vec(NodeReader, WalkMethod):
    """Embeds nodes so that those which biased random walks visit together lie together.

    The features of the nodes are not looked at. Only the nodes of the fit have an embedding. A
    walk that begins at a node without neighbours stays there.

    Parameters
    ----------
    dimensions : int
        Of the embedding.
    walks, length : int
        Walks that begin at each node, and nodes in a walk.
    window : int
        Nodes at most so far apart in a walk count as together (as usual in skip-gram the reach is
        drawn from 1 to this at every node).
    negatives : int
        Random nodes to tell each pair from; 0: hierarchical softmax instead.
    p, q : float
        A small `p` lets walks turn back, a small `q` lets them go far.
    passes : int
        How often the walks are gone through, the same ones every time.
    random_state : int or None
    progress : bool

    Attributes
    ----------
    vectors_ : (N, dimensions) float32
        Of the nodes of the fit.

    References
    ----------
    Grover and Leskovec, node2vec: Scalable Feature Learning for Networks, 2016.

    Examples
    --------
    >>> import augcl
    >>> graph = augcl.load("digits-knn")
    >>> augcl.Node2Vec(dimensions=8, walks=1, length=10).fit_transform(graph).shape
    (1797, 8)
    """

    year = 2016

    def __init__(
        self,
        *,
        dimensions: int = 128,
        walks: int = 10,
        length: int = 80,
        window: int = 10,
        negatives: int = 5,
        p: float = 1.0,
        q: float = 1.0,
        passes: int = 1,
        random_state: int | None = 0,
        progress: bool = True,
    ) -> None:
        self.dimensions = dimensions
        self.walks = walks
        self.length = length
        self.window = window
        self.negatives = negatives
        self.p = p
        self.q = q
        self.passes = passes
        self.random_state = random_state
        self.progress = progress

    def _learn(self, data: NodeGraph, generator: torch.Generator) -> None:
        self._keep(data, self._node_vectors(data, generator))


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

    def _learn(self, data: NodeGraph, generator: torch.Generator) -> None:
        self._keep(data, self._node_vectors(data, generator))


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
