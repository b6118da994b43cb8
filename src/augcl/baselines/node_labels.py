"""Discrete labels of nodes, from their features."""

from __future__ import annotations

import numpy as np

from augcl.data import GraphSet
from augcl.errors import InputError
from augcl.ops.hashing import Hashes, combined, multiset_hashes


def node_labels(graphs: GraphSet) -> Hashes:
    """(V,) a hash of each node's features: one-hot labels are told apart, a constant is one label.

    >>> import torch
    >>> three = GraphSet.from_arrays(
    ...     pairs=torch.zeros(2, 0).long(),
    ...     graph_of_node=torch.tensor([0, 0, 1]),
    ...     num_graphs=2,
    ...     x=torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]),
    ... )
    >>> a, b, c = node_labels(three)
    >>> bool(a == c), bool(a == b)
    (True, False)
    """
    x = graphs.x.cpu()
    if not bool((x == x.round()).all()):
        raise InputError(
            f"{graphs.name} has node features that are no whole numbers, so that almost no two "
            "nodes are alike to a kernel: take constant or degree features instead"
        )
    node, column = x.nonzero(as_tuple=True)
    value = x[node, column].numpy().view(np.uint32)
    ptr = np.searchsorted(node.numpy(), np.arange(graphs.num_nodes + 1))
    return multiset_hashes(combined(column.numpy(), value), ptr)
