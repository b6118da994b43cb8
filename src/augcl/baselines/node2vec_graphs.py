"""Node2vec at graph level: a graph is the mean of its nodes."""

from __future__ import annotations

import torch

from augcl.baselines.walk_method import BiasedWalkMethod
from augcl.data import GraphSet
from augcl.ops.segments import segment_sum
from augcl.training.reading import GraphReader


class Node2VecGraphs(GraphReader, BiasedWalkMethod):
    """Embeds a graph as the mean of the `Node2Vec` embeddings of its nodes.

    All graphs are walked and learned together, but no walk leads from one to another and no two
    graphs share a node: what their means have in common is little more than their sizes. That is
    how the baseline is defined. Only the graphs of the fit have an embedding.

    Parameters
    ----------
    dimensions, walks, length, window, negatives, p, q, passes, random_state, progress :
        As in `Node2Vec`.

    Attributes
    ----------
    vectors_ : (G, dimensions) float32
        Of the graphs of the fit.

    Examples
    --------
    >>> import augcl
    >>> graphs = augcl.load("MUTAG")
    >>> augcl.Node2VecGraphs(dimensions=8, walks=1, length=10).fit_transform(graphs).shape
    (188, 8)
    """

    year = 2016

    def _learn(self, data: GraphSet, generator: torch.Generator) -> None:
        data = data.to("cpu")
        nodes = self._node_vectors(data, generator)
        sizes = data.node_ptr.diff().unsqueeze(1)
        self._keep(data, segment_sum(nodes, data.node_ptr) / sizes)
