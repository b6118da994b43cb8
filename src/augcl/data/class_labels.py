"""The classes of graphs: given beside them, or those that come with them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from augcl.data.graph import GraphSet
from augcl.errors import InputError


def class_labels(graphs: GraphSet, y: Any = None) -> NDArray[Any]:
    """(n,) `y`, or the labels of the graphs if that is None."""
    if y is None:
        y = graphs.y
    if y is None:
        raise InputError(f"{graphs.name} has no labels: give them as y")
    labels = np.asarray(y.cpu() if isinstance(y, Tensor) else y)
    if labels.shape != (len(graphs),):
        raise InputError(f"y has shape {labels.shape} for {len(graphs)} graphs: give one a graph")
    return labels
