"""Labels in any notation as class numbers 0 … C − 1 or one-hot columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from augcl.data.graph import GraphSet
from augcl.errors import InputError

WIDEST = 10_000  # most one-hot columns; more would need too much memory
MOST_CELLS = 1 << 30  # 4 GB
MOST_CLASSES = 1_000_000


def class_numbers(labels: Sequence[Any] | np.ndarray[Any, Any]) -> Tensor:
    """Number the distinct labels 0 … C − 1 in sorted order: (G,) labels to (G,) int64.

    Labels that are all whole numbers are sorted as numbers, anything else as text.

    >>> class_numbers([1, -1, 1]).tolist(), class_numbers(["10", "9"]).tolist()
    ([1, 0, 1], [1, 0])
    >>> class_numbers(["spam", "ham", "spam"]).tolist()
    [1, 0, 1]
    """
    _, numbers = np.unique(_whole_or_text(labels), return_inverse=True)
    return torch.from_numpy(numbers.astype(np.int64))


def class_names(labels: Sequence[str]) -> list[str] | None:
    """Return the names of the classes 0 … C − 1 of `class_numbers`; None if labels are numbers.

    >>> class_names(["spam", "ham", "spam"]), class_names(["10", "9"])
    (['ham', 'spam'], None)
    """
    values = np.unique(_whole_or_text(labels))
    return values.tolist() if values.dtype.kind == "U" else None


def _whole_or_text(labels: Sequence[Any] | np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return labels as whole numbers if all of them are, else as text."""
    values = np.asarray(labels)
    if np.issubdtype(values.dtype, np.integer):
        return values
    texts = np.asarray([str(label).strip() for label in labels])
    try:
        return texts.astype(np.int64)
    except (ValueError, OverflowError):  # words, or numbers of more than 18 digits
        return texts


def node_class_names(labels: Sequence[Any]) -> list[str] | None:
    """Return the names of the classes of `node_classes`; None if labels are numbers.

    >>> node_class_names(["b", "", "a"]), node_class_names([2, -1, 0])
    (['a', 'b'], None)
    """
    if not any(isinstance(label, str) for label in labels):
        return None
    return class_names([word for word in map(_word, labels) if word])


def node_classes(labels: Sequence[Any] | np.ndarray[Any, Any] | Tensor) -> Tensor | None:
    """Return (N,) int64 classes of nodes, −1 for unknown; None if no class is known.

    −1, NaN, None and empty text mean unknown. Whole numbers from 0 on are used directly; text is
    numbered in sorted order; anything else (fractions, several columns) is not a class.

    >>> node_classes([2, -1, 0]).tolist(), node_classes(["b", "", "a"]).tolist()
    ([2, -1, 0], [1, -1, 0])
    >>> node_classes([0.5, 1.0]) is None
    True
    """
    values = labels.detach().cpu().numpy() if isinstance(labels, Tensor) else np.asarray(labels)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        return None
    if values.dtype.kind == "O" and not any(isinstance(value, str) for value in values):
        values = _numbers(values)
    if values.dtype.kind not in "iufb":
        return _classes_of_text([_word(value) for value in values.tolist()])
    known = np.isfinite(values) & (values != -1)
    if not known.any() or (values[known] % 1).any():
        return None
    if values[known].min() < 0:
        node = int(np.flatnonzero(known & (values < 0))[0])
        raise InputError(
            f"the class of node {node}, counted from 0, is {values[node]}: classes are whole "
            "numbers from 0 on, or -1 if the class is not known"
        )
    if values[known].max() > MOST_CLASSES:  # memory would be needed for every number below it
        raise InputError(f"a class is {values[known].max()}: number the classes 0, 1, 2 and so on")
    return torch.from_numpy(np.where(known, values, np.int64(-1)).astype(np.int64))


def _numbers(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return Python objects as numbers, None as NaN; unchanged if one is not a number."""
    try:
        return np.array([np.nan if value is None else value for value in values], np.float64)
    except (TypeError, ValueError):
        return values


def _word(value: Any) -> str:
    """Return a label as text, empty if there is none."""
    word = "" if value is None else str(value).strip()
    return "" if word.lower() in ("-1", "nan") else word


def _classes_of_text(words: list[str]) -> Tensor | None:
    known = [i for i, word in enumerate(words) if word]
    if not known:
        return None
    classes = torch.full((len(words),), -1)
    classes[known] = class_numbers([words[i] for i in known])
    return classes


def one_hot(codes: np.ndarray[Any, Any], width: int, what: str) -> Tensor:
    """Turn (n,) codes 0 … width − 1 into (n, width) float32; `what` names them in messages.

    >>> one_hot(np.array([1, 0]), 3, "labels").int().tolist()
    [[0, 1, 0], [1, 0, 0]]
    """
    if width > WIDEST:
        raise InputError(f"{what}: {width} different values are too many, the limit is {WIDEST}")
    if len(codes) * width > MOST_CELLS:
        raise InputError(f"{what}: {len(codes)} rows of {width} different values are too many")
    table = torch.zeros(len(codes), width)
    table[torch.arange(len(codes)), torch.from_numpy(codes)] = 1
    return table


def class_labels(graphs: GraphSet, y: Any = None) -> NDArray[Any]:
    """Return `y` (n,), or the labels of the graphs if that is None."""
    if y is None:
        y = graphs.y
    if y is None:
        raise InputError(f"{graphs.name} has no labels: give them as y")
    labels = y.cpu().numpy() if isinstance(y, Tensor) else np.asarray(y)
    if y is graphs.y and (graphs.labels is None or (labels < 0).any()):
        raise InputError(f"{graphs.name} has no class for every graph: give them as y")
    if labels.shape != (len(graphs),):
        raise InputError(
            f"y has shape {labels.shape} for {len(graphs)} graphs: give one class per graph"
        )
    return labels
