"""The Weisfeiler–Lehman subtree kernel."""

from __future__ import annotations

import numpy as np

from augcl.checks import whole_number
from augcl.data import GraphSet
from augcl.ops.hashing import Hashes, combined, mixed, multiset_hashes
from augcl.rivals.kernel import GraphKernel, Occurrences, node_labels


class WLKernel(GraphKernel):
    """Compares graphs by the trees of neighbours around their nodes (Weisfeiler–Lehman subtrees).

    A node's label is refined `height` times by the labels of its neighbours; the kernel counts the
    labels of all rounds that two graphs share, divided by the lengths of both vectors of counts.
    All nodes of all graphs are relabelled at once, by 64-bit hashes. The first labels are the node
    features, if these are labels, and the same for all nodes otherwise.

    Parameters
    ----------
    height : int
        Rounds of refinement; the literature reports each of 1 … 5.
    normalize : bool
        Every graph is 1 similar to itself.
    random_state, progress :
        Not used; every method has them.

    Attributes
    ----------
    vocabulary_, counts_ :
        See `GraphKernel`.

    References
    ----------
    N. Shervashidze, P. Schweitzer, E. J. van Leeuwen, K. Mehlhorn and K. M. Borgwardt.
    "Weisfeiler-Lehman Graph Kernels". JMLR 12:2539–2561, 2011.

    Examples
    --------
    >>> import augcl
    >>> graphs = augcl.load("MUTAG")
    >>> K = augcl.WLKernel(height=2).fit_transform(graphs)
    >>> K.shape
    (188, 188)
    >>> augcl.evaluate(K, graphs.y, kernel=True, repeats=1).mean > 0.75
    True
    """

    year = 2011

    def __init__(
        self,
        *,
        height: int = 5,
        normalize: bool = True,
        random_state: int | None = 0,
        progress: bool = True,
    ) -> None:
        self.height = height
        self.normalize = normalize
        self.random_state = random_state
        self.progress = progress

    def _start(self) -> None:
        whole_number("height", self.height, least=0)

    def _occurrences(self, data: GraphSet) -> Occurrences:
        return subtrees(data, int(self.height))


def subtrees(graphs: GraphSet, height: int) -> Occurrences:
    """The trees of height 0 … `height` around all nodes."""
    graph = graphs.graph_of_node.cpu().numpy()
    rounds = refined_labels(graphs, height)
    return Occurrences.joined([Occurrences.single(graph, labels) for labels in rounds])


def refined_labels(graphs: GraphSet, height: int) -> list[Hashes]:
    """The labels (V,) of all nodes after 0 … `height` rounds; no label occurs in two rounds.

    Two nodes have the same label after h rounds if and only if the trees of height h around
    them are the same, but for a chance of about V² / 2⁶⁴ that two hashes collide.
    """
    source, target = graphs.edge_index.cpu().numpy()
    ptr = np.searchsorted(source, np.arange(graphs.num_nodes + 1))
    rounds = [mixed(node_labels(graphs))]
    for number in range(1, height + 1):
        own = rounds[-1]
        around = multiset_hashes(mixed(own[target]), ptr)
        rounds.append(combined(np.array([number]), own, around))
    return rounds
