"""Labels as people write them: class numbers 0 … C − 1 and one-hot columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from augcl.errors import InputError

WIDEST = 10_000  # one-hot columns beyond which memory would be the next complaint


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


def one_hot(codes: np.ndarray[Any, Any], width: int, what: str) -> Tensor:
    """(n,) codes 0 … width − 1 to (n, width) float32; `what` names them if there are too many.

    >>> one_hot(np.array([1, 0]), 3, "labels").int().tolist()
    [[0, 1, 0], [1, 0, 0]]
    """
    if width > WIDEST:
        raise InputError(f"{what}: {width} different values are too many, {WIDEST} at most")
    table = torch.zeros(len(codes), width)
    table[torch.arange(len(codes)), torch.from_numpy(codes)] = 1
    return table
