"""The synthetic data of the attacks: three sizes of `components`, divided as published."""

from __future__ import annotations

import torch

from augcl.data.generators import components
from augcl.data.graph import GraphSet
from augcl.errors import InputError, one_of
from augcl.ops.segments import pointer

SIZES: dict[str, tuple[tuple[int, int], float]] = {
    "15-20": ((15, 20), 0.15),
    "40-50": ((40, 50), 0.05),
    "90-100": ((90, 100), 0.02),
}
"""Range of the number of nodes and probability of an edge (Dai et al. 2018)."""


def component_sets(
    size: str = "15-20", *, per_class: int = 5000, seed: int = 0
) -> tuple[GraphSet, GraphSet]:
    """Training and test graphs whose class is their number of components, 1, 2 or 3.

    Parameters
    ----------
    size : {"15-20", "40-50", "90-100"}
        Nodes of a graph.
    per_class : int
        Graphs of each class; the first 90 % are for training, the last 10 % for testing.
    seed : int
        Same seed, same graphs.

    Examples
    --------
    >>> train, test = component_sets(per_class=50)
    >>> len(train), len(test), test.y.bincount().tolist()
    (135, 15, [5, 5, 5])
    """
    nodes, p = SIZES[one_of(size, SIZES, "size of components")]
    return first_and_last(components(per_class, nodes=nodes, p=p, seed=seed))


def first_and_last(graphs: GraphSet) -> tuple[GraphSet, GraphSet]:
    """The first 90 % of every class, and the rest of it; graphs stay in their order."""
    if graphs.y is None:
        raise InputError(f"{graphs.name} has no labels: classes cannot be divided")
    by_class = torch.argsort(graphs.y, stable=True)
    counts = torch.bincount(graphs.y)
    rank = torch.arange(len(graphs)) - pointer(counts)[:-1][graphs.y[by_class]]
    first = rank < (counts.double() * 0.9).round().long()[graphs.y[by_class]]
    train, test = (graphs.select(by_class[part].sort().values) for part in (first, ~first))
    return train, test
