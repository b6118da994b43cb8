"""What a graph set looks like, in a few numbers."""

from __future__ import annotations

from typing import Any

import torch

from augcl.data.features import degrees
from augcl.data.graph import GraphSet


def statistics(graphs: GraphSet) -> dict[str, Any]:
    """Sizes of a graph set, ready for JSON; an edge counts once, not once per direction.

    >>> two = GraphSet.from_arrays(
    ...     pairs=torch.tensor([[0], [1]]),
    ...     graph_of_node=torch.tensor([0, 0, 1]),
    ...     num_graphs=2,
    ...     y=torch.tensor([0, 1]),
    ... )
    >>> statistics(two)  # doctest: +NORMALIZE_WHITESPACE
    {'name': 'graphs', 'graphs': 2, 'classes': 2, 'class_sizes': [1, 1], 'avg_nodes': 1.5,
     'avg_edges': 0.5, 'features': 1, 'isolated_nodes': 1}
    """
    sizes = [] if graphs.y is None else torch.bincount(graphs.y).tolist()
    return {
        "name": graphs.name,
        "graphs": len(graphs),
        "classes": len(sizes),
        "class_sizes": sizes,
        "avg_nodes": graphs.num_nodes / len(graphs),
        "avg_edges": graphs.num_edges / 2 / len(graphs),
        "features": graphs.num_features,
        "isolated_nodes": int((degrees(graphs) == 0).sum()),
    }
