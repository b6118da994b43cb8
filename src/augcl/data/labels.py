"""Class labels as people write them, and the class numbers 0 … C − 1 that the library uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor


def class_numbers(labels: Sequence[Any] | np.ndarray[Any, Any]) -> Tensor:
    """Number the distinct labels 0 … C − 1 in sorted order: (G,) labels to (G,) int64.

    Labels that are all whole numbers are sorted as numbers, anything else as text.

    >>> class_numbers([1, -1, 1]).tolist(), class_numbers(["10", "9"]).tolist()
    ([1, 0, 1], [1, 0])
    >>> class_numbers(["spam", "ham", "spam"]).tolist()
    [1, 0, 1]
    """
    values = np.asarray(labels)
    if not np.issubdtype(values.dtype, np.integer):
        texts = np.asarray([str(label).strip() for label in labels])
        try:
            values = texts.astype(np.int64)
        except ValueError:
            values = texts
    _, numbers = np.unique(values, return_inverse=True)
    return torch.from_numpy(numbers.astype(np.int64))
