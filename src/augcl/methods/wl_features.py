"""WLFeatures: counts of Weisfeiler–Lehman labels, reduced; the training-free floor for graphs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from augcl.checks import whole_number
from augcl.data.graph import GraphSet
from augcl.data.wl import whole_numbers, wl_labels
from augcl.ops.counts import Occurrences, columns_of
from augcl.ops.hashing import Hashes, combined
from augcl.ops.reduction import leading_directions
from augcl.ops.segments import segment_sum
from augcl.training.method import EdgeLabelReader, PlainMethod

BINS = 4
"""Parts, of equally many nodes, into which node features that are no whole numbers are cut."""

PER_OCTAVE = 2
"""Steps of a degree profile between a number and its double."""

PROFILE_WEIGHT = 4.0
"""How often a degree profile counts; a label counts once in each round of refinement."""


class WLFeatures(EdgeLabelReader, PlainMethod):
    """Embed a graph as the counts of the trees of neighbours around its nodes; nothing is trained.

    The label of a node is refined `height` times by the labels of its neighbours. The embedding are
    the square roots of how often a graph has each label, in the principal directions of the
    training graphs. Labels of fewer than two training graphs do not count, and labels that a new
    graph alone has are left out. Show it as the floor beside trained embeddings.

    The first label of a node is the hash of its features. Features that are no whole numbers are
    cut into four parts of equally many nodes; each column then counts by itself, too. Where all
    nodes have the same features, trees soon differ in every graph, so that the profile of the
    degrees counts, too: the degree of a node, and the least, largest and mean degree and their
    standard deviation among its neighbours, each on a logarithmic scale.

    Parameters
    ----------
    height : int
        Rounds of refinement.
    vocabulary : int
        Number of labels at most: those that occur in the most graphs.
    width : int
        Number of columns, or fewer if the counts have a lower rank.
    edge_labels : bool, optional
        Use the labels of edges (features that are whole numbers). If None, where there are any.
    random_state : int, optional
        Seed of the search for the principal directions.
    progress :
        Not used; every method has it.

    Attributes
    ----------
    vocabulary_ : (L,) uint64
        Hashes of the labels, in order.
    directions_ : (L, D) float32
        Principal directions of the square roots of the counts.
    cuts_ : (F, 3) float32
        Where the columns of the node features are cut; empty if they are whole numbers.

    References
    ----------
    N. Shervashidze, P. Schweitzer, E. J. van Leeuwen, K. Mehlhorn and K. M. Borgwardt.
    "Weisfeiler-Lehman Graph Kernels". JMLR 12:2539–2561, 2011,
    https://jmlr.org/papers/v12/shervashidze11a.html. Degree profiles: C. Cai and Y. Wang,
    "A simple yet effective baseline for non-attributed graph classification", ICLR workshop on
    representation learning on graphs and manifolds, 2019. arXiv:1811.03508,
    doi:10.48550/arXiv.1811.03508.

    Examples
    --------
    >>> import augcl
    >>> graphs = augcl.load("MUTAG")
    >>> Z = augcl.WLFeatures(width=64).fit_transform(graphs)
    >>> Z.shape
    (188, 64)
    >>> augcl.evaluate(Z, graphs, repeats=1).mean > 0.8
    True
    """

    year = 2011
    cost = "seconds"

    def __init__(
        self,
        *,
        height: int = 4,
        vocabulary: int = 16_384,
        width: int = 512,
        edge_labels: bool | None = None,
        random_state: int | None = 0,
        progress: bool = True,
    ) -> None:
        self.height = height
        self.vocabulary = vocabulary
        self.width = width
        self.edge_labels = edge_labels
        self.random_state = random_state
        self.progress = progress

    def _start(self) -> None:
        super()._start()
        self._check_edge_switch()
        whole_number("height", self.height, least=0, most=1000)
        whole_number("vocabulary", self.vocabulary, least=1)
        whole_number("width", self.width, least=1)

    def _learn(self, data: GraphSet, generator: torch.Generator) -> None:
        x = data.x
        self.cuts_ = torch.zeros(0, BINS - 1)
        if not whole_numbers(x):
            shares = torch.arange(1, BINS) / BINS
            order = x.sort(dim=0).values.cpu()
            self.cuts_ = order[(shares * len(x)).long()].t().contiguous()
        counts, names = self._counts(data)
        having = np.bincount(counts.indices, minlength=len(names))
        usual = np.argsort(-having, kind="stable")[: self.vocabulary]
        shared = usual[having[usual] > 1]
        usual = shared if len(shared) else usual  # else no two graphs have anything in common
        self.vocabulary_: Hashes = names[np.sort(usual)]
        known = _roots(columns_of(counts, names, self.vocabulary_))
        self.directions_ = leading_directions(
            lambda right: _product(known, right),
            lambda right: _product(known.T, right),
            len(self.vocabulary_),
            min(self.width, len(data), len(self.vocabulary_)),
            generator,
        )

    def _embedded(self, data: GraphSet) -> Tensor:
        known = _roots(columns_of(*self._counts(data), self.vocabulary_))
        return _product(known, self.directions_)

    def _counts(self, data: GraphSet) -> tuple[csr_array, Hashes]:
        """Return how often each graph has each label, and the hashes of the labels."""
        graph, x = data.graph_of_node.cpu().numpy(), data.x
        labels: list[Hashes] = []
        if len(self.cuts_):
            parts = torch.searchsorted(self.cuts_.to(x.device), x.t().contiguous(), right=True)
            labels = [_named("column", k, part.cpu().numpy()) for k, part in enumerate(parts)]
            data = replace(data, x=parts.t().float() + 1)
        elif bool((x == x[:1]).all()):
            profile = degree_profile(data).cpu().numpy()
            # The margin: on a border, no rounding error decides.
            steps = np.floor(PER_OCTAVE * np.log2(1 + profile) + 1e-6).astype(np.int64)
            labels = [_named("profile", k, step) for k, step in enumerate(steps.T)]
        extra = [Occurrences(graph, key, np.full(len(key), PROFILE_WEIGHT)) for key in labels]
        trees = [Occurrences.single(graph, key) for key in wl_labels(data, int(self.height))]
        return Occurrences.joined([*extra, *trees]).counts(len(data))

    def _learned(self) -> dict[str, Tensor]:
        return {
            "vocabulary": torch.from_numpy(self.vocabulary_.view(np.int64)),
            "directions": self.directions_,
            "cuts": self.cuts_,
        }

    def _load_learned(self, tensors: dict[str, Tensor]) -> None:
        self.vocabulary_ = tensors["vocabulary"].numpy().view(np.uint64)
        self.directions_ = tensors["directions"]
        self.cuts_ = tensors["cuts"]
        if not (self.vocabulary_[1:] > self.vocabulary_[:-1]).all():
            raise ValueError("the names of the labels are not in order")
        if self.directions_.ndim != 2 or len(self.directions_) != len(self.vocabulary_):
            raise ValueError("there is not one row of directions for each label")


def degree_profile(graphs: GraphSet) -> Tensor:
    """Return (V, 5) the degree of a node; and the least, largest, mean and spread around it.

    The last four are those of its neighbours' degrees; 0 for a node without neighbours.

    >>> star = GraphSet.from_arrays(
    ...     pairs=torch.tensor([[0, 0], [1, 2]]), graph_of_node=torch.zeros(3).long(), num_graphs=1
    ... )
    >>> degree_profile(star).tolist()[0]
    [2.0, 1.0, 1.0, 1.0, 0.0]
    """
    source, target = graphs.edge_index
    degree = torch.bincount(source, minlength=graphs.num_nodes).double()
    ptr = torch.cat([degree.new_zeros(1), degree.cumsum(0)]).long()
    around = degree[target]
    count = degree.clamp_min(1)
    mean = segment_sum(around[:, None], ptr)[:, 0] / count
    square = segment_sum((around - mean[source])[:, None] ** 2, ptr)[:, 0] / count
    least = torch.zeros_like(degree).scatter_reduce(
        0, source, around, reduce="amin", include_self=False
    )
    most = torch.zeros_like(degree).scatter_reduce(
        0, source, around, reduce="amax", include_self=False
    )
    return torch.stack([degree, least, most, mean, square.sqrt()], dim=1)


def _named(kind: str, number: int, values: NDArray[Any]) -> Hashes:
    """Hash values of one kind so that they equal no value of another."""
    salt = int.from_bytes(kind.encode(), "little") % 2**61
    return combined(np.array([salt]), np.array([number]), values)


def _roots(counts: csr_array) -> csr_array:
    counts = counts.astype(np.float32)
    counts.data = np.sqrt(counts.data)
    return counts


def _product(left: Any, right: Tensor) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(left @ right.cpu().numpy(), dtype=np.float32))
