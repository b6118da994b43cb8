"""Node2vec: nodes are alike if biased random walks visit them together."""

from __future__ import annotations

from augcl.baselines.walk_method import BiasedWalkMethod
from augcl.training.reading import NodeReader


class Node2Vec(NodeReader, BiasedWalkMethod):
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
        How often the walks are gone through, the same ones in a new order every time.
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
