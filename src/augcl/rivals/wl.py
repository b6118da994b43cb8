"""The Weisfeiler–Lehman subtree kernel."""

from __future__ import annotations

from augcl.checks import whole_number
from augcl.data.graph import GraphSet
from augcl.data.wl import wl_labels
from augcl.ops.counts import Occurrences
from augcl.rivals.kernel import GraphKernel
from augcl.training.method import EdgeLabelReader


class WLKernel(EdgeLabelReader, GraphKernel):
    """Compare graphs by the trees of neighbours around their nodes (Weisfeiler–Lehman subtrees).

    The label of a node is refined `height` times by the labels of its neighbours. The kernel is
    the product of the label counts of two graphs over all rounds, divided by the lengths of both
    count vectors. All nodes of all graphs are relabelled at once, by 64-bit hashes. The first
    label of a node is the hash of its features. Where edges have labels, a neighbour counts
    together with the label of the edge to it.

    Parameters
    ----------
    height : int
        Rounds of refinement; papers report heights from 1 to 5.
    normalize : bool
        Scale the kernel so that its diagonal is 1.
    edge_labels : bool, optional
        Use the labels of edges (features that are whole numbers). If None, where there are any.
    random_state, progress :
        Not used; every method has them.

    Attributes
    ----------
    vocabulary_, counts_ :
        See `GraphKernel`.

    References
    ----------
    N. Shervashidze, P. Schweitzer, E. J. van Leeuwen, K. Mehlhorn and K. M. Borgwardt.
    "Weisfeiler-Lehman Graph Kernels". JMLR 12:2539–2561, 2011,
    https://jmlr.org/papers/v12/shervashidze11a.html.

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
        edge_labels: bool | None = None,
        random_state: int | None = 0,
        progress: bool = True,
    ) -> None:
        self.height = height
        self.normalize = normalize
        self.edge_labels = edge_labels
        self.random_state = random_state
        self.progress = progress

    def _start(self) -> None:
        whole_number("height", self.height, least=0, most=1000)
        self._check_edge_switch()

    def _occurrences(self, data: GraphSet) -> Occurrences:
        return subtrees(data, int(self.height))


def subtrees(graphs: GraphSet, height: int) -> Occurrences:
    """Return the trees of height 0 … `height` around all nodes."""
    graph = graphs.graph_of_node.cpu().numpy()
    return Occurrences.joined([Occurrences.single(graph, h) for h in wl_labels(graphs, height)])
