"""Weisfeiler–Lehman labels: nodes with equal labels have equal trees of neighbours around them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from augcl.data.graph import GraphSet
from augcl.errors import InputError
from augcl.ops.hashing import Hashes, combined, multiset_hashes, refined_labels

HEIGHT = 3
"""Rounds of refinement of `wl_rows`."""

COLUMNS = 2048
"""Columns of `wl_rows`; each label is hashed to one of them."""


def node_labels(graphs: GraphSet) -> Hashes:
    """Hash the features of each node to a label (V,); nodes with equal features are equal.

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
    if not whole_numbers(graphs.x):
        raise InputError(
            f"{graphs.name} has node features that are not whole numbers, so that almost no two "
            "nodes are equal for a kernel: use constant or degree features instead"
        )
    return _row_labels(graphs.x)


def edge_labels(graphs: GraphSet) -> Hashes | None:
    """Hash the features of each edge entry to a label (E,); None if edges have none.

    >>> import augcl
    >>> len(set(edge_labels(augcl.load("MUTAG")).tolist()))  # kinds of bonds
    4
    """
    if graphs.edge_attr is None:
        return None
    if not whole_numbers(graphs.edge_attr):
        raise InputError(
            f"{graphs.name} has edge features that are not whole numbers, so that almost no two "
            "edges are equal: use edge_labels=False"
        )
    return _row_labels(graphs.edge_attr)


def whole_numbers(x: Tensor) -> bool:
    """Return whether all entries are whole numbers."""
    return bool((x == x.round()).all())


def _row_labels(x: Tensor) -> Hashes:
    """Hash each row of whole numbers."""
    x = x.cpu()
    row, column = x.nonzero(as_tuple=True)
    value = x[row, column].numpy().view(np.uint32)
    ptr = np.searchsorted(row.numpy(), np.arange(len(x) + 1))
    return multiset_hashes(combined(column.numpy(), value), ptr)


def wl_labels(graphs: GraphSet, height: int) -> list[Hashes]:
    """Return the labels (V,) of all nodes after 0 … `height` rounds of refinement."""
    labels, edges = node_labels(graphs), graphs.edge_index.cpu().numpy()
    return refined_labels(labels, edges, height, edge_labels=edge_labels(graphs))


def wl_rows(graphs: GraphSet, *, height: int = HEIGHT, columns: int = COLUMNS) -> Tensor:
    """Return (G, columns) square roots of how often each graph has each label.

    Their cosine compares two graphs without any training. Labels are hashed to columns, the same
    ones in every set of graphs. Edge features that are not whole numbers are left out.

    >>> import augcl
    >>> rows = wl_rows(augcl.load("MUTAG"))
    >>> rows.shape, round(float(rows[0].square().sum()))  # four rounds of 17 atoms
    (torch.Size([188, 2048]), 68)
    """
    if graphs.edge_attr is not None and not whole_numbers(graphs.edge_attr):
        graphs = replace(graphs, edge_attr=None, edge_columns=None)
    graph = graphs.graph_of_node.cpu().numpy()
    counts = np.zeros(len(graphs) * columns, dtype=np.int64)
    for labels in wl_labels(graphs, height):
        column = (labels % np.uint64(columns)).astype(np.int64)
        counts += np.bincount(graph * columns + column, minlength=len(counts))
    rows = torch.from_numpy(counts.reshape(len(graphs), columns)).float().sqrt_()
    return rows.to(graphs.x.device)
