"""Check and convert the inputs of an evaluation: embeddings, kernels, labels and splits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from augcl.data.graph import GraphSet, is_networkx, task_of
from augcl.data.node_graph import NodeGraph, Splits
from augcl.errors import InputError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_ENDS: Any = ((np.min, np.inf), (np.max, -np.inf))


@dataclass(frozen=True)
class Target:
    """What to predict: raw labels `y` of "graph", "node" or "any" level, and fixed splits, if any.

    `classes` are the user's names of the classes 0, 1, …, `columns` those of several targets.
    """

    y: Any
    level: str = "any"
    splits: Splits | None = None
    classes: Sequence[str] | None = None
    columns: Sequence[str] | None = None

    @property
    def task(self) -> str:
        """What `y` asks for, see `task_of_labels`."""
        return task_of_labels(self.y)

    @classmethod
    def of(cls, y: Any, splits: Splits | None = None) -> Target:
        """Take labels, or the labels of a graph or a set of graphs.

        >>> Target.of([0, 1, 1]).level
        'any'
        """
        if isinstance(y, Target):
            return y if splits is None else replace(y, splits=splits)
        if isinstance(y, GraphSet):
            return cls(y.y, "graph", splits, y.classes, y.targets)
        if hasattr(y, "edge_index") or is_networkx(y):
            if not isinstance(y, NodeGraph):
                from augcl.data.node_convert import as_node_graph

                y = as_node_graph(y)
            return cls(y.y, "node", y.splits if splits is None else splits, y.classes, y.targets)
        return cls(y, "any", splits)

    def called(self, labels: list[Any]) -> list[Any]:
        """Return the user's names of the classes with these labels, for messages.

        >>> Target([0, 1, 1], classes=["solid", "liquid"]).called([1])
        ['liquid']
        """
        known = dict(enumerate(self.classes or ()))
        return [known.get(label, label) for label in labels]


def task_of_labels(y: Any) -> str:
    """Name what labels ask for, by their type and shape; "classification" if there are none.

    Tensors are judged by `augcl.data.graph.task_of`. Arrays and lists likewise, except that one
    column of whole numbers is classes even if they are stored as floats, as they are in a table
    with blanks.

    >>> task_of_labels(["a", "b"]), task_of_labels([1.0, float("nan")]), task_of_labels([0.5, 1])
    ('classification', 'classification', 'regression')
    >>> task_of_labels([[0, 1], [1, 1]]), task_of_labels(torch.tensor([1.0, 2.0]))
    ('multilabel', 'regression')
    """
    if y is None:
        return "classification"
    if isinstance(y, Tensor):
        if y.dim() == 2 and y.shape[1] > 1:
            y = y.float()  # whole numbers in several columns are not classes
        return task_of(y) or "classification"
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] > 1 and labels.dtype.kind in "fiub":
        return task_of(torch.from_numpy(labels.astype(np.float64))) or "classification"
    if labels.dtype.kind == "f" and labels.size:
        known = labels[~np.isnan(labels)]
        whole = np.isfinite(known) & (known == np.floor(known))
        return "classification" if whole.all() else "regression"
    return "classification"


def numbers_of(y: Any, *, count: int, task: str) -> Floats:
    """Return targets as (N, T) float64, NaN where one is not known; check the values."""
    if y is None:
        raise InputError("evaluate needs targets: these samples have none (y is None)")
    values = y.detach().cpu().numpy() if isinstance(y, Tensor) else np.asarray(y)
    if values.dtype.kind not in "fiub":
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError(f"targets are not numbers, which task {task} needs") from None
    Y: Floats = values.astype(np.float64)
    Y = Y[:, None] if Y.ndim == 1 else Y
    if Y.ndim != 2 or Y.shape[1] == 0:
        raise InputError(f"targets have shape {Y.shape}: give (samples,) or (samples, targets)")
    if len(Y) != count:
        raise InputError(
            f"{count} embeddings but {len(Y)} targets: expected one row of targets per embedding"
        )
    if np.isinf(Y).any():
        raise InputError(f"targets hold infinity, first in row {int(np.isinf(Y).any(1).argmax())}")
    if task == "multilabel":
        wrong = ~((Y == 0) | (Y == 1) | np.isnan(Y))
        if wrong.any():
            row, column = np.argwhere(wrong)[0].tolist()
            raise InputError(
                f"labels of task multilabel are 0 and 1: row {row}, column {column} has "
                f"{Y[row, column]:g}"
            )
    if not (~np.isnan(Y)).any():
        raise InputError("no target is known: evaluate needs some")
    low, high = (extreme(Y, axis=0, initial=start, where=~np.isnan(Y)) for extreme, start in _ENDS)
    if not (low < high).any():
        what = "column" if Y.shape[1] > 1 else "target"
        raise InputError(f"no {what} has two different values: there is nothing to predict")
    return Y


def embeddings(Z: Any) -> Tensor:
    """Return the embeddings as a dense, finite tensor (N, D); keep device and precision."""
    if hasattr(Z, "toarray"):  # SciPy's sparse matrices: raw features
        Z = Z.toarray()
    if not isinstance(Z, Tensor):
        try:
            Z = np.array(Z)
            if Z.dtype.kind == "c":
                raise TypeError("they are complex")
            Z = torch.from_numpy(Z if Z.dtype in (np.float32, np.float64) else Z.astype(np.float64))
        except (TypeError, ValueError) as error:
            raise InputError(f"embeddings are not a matrix of numbers: {error}") from error
    if Z.is_complex():
        raise InputError("embeddings are not a matrix of numbers: they are complex")
    X: Tensor = Z.detach()
    X = X if X.layout == torch.strided else X.to_dense()
    X = X if X.is_floating_point() else X.double()
    if X.ndim != 2 or X.shape[1] == 0:
        raise InputError(
            f"embeddings have shape {tuple(X.shape)}: "
            "evaluate needs (samples, width), one row per sample"
        )
    bad = ~X.isfinite().all(dim=1)
    if bad.any():
        raise InputError(
            f"{int(bad.sum())} of {len(X)} embeddings contain NaN or infinity, "
            f"the first is row {int(bad.int().argmax())}"
        )
    return X


def kernel_matrix(X: Tensor) -> Tensor:
    """Return `X` if it is a symmetric (N, N) kernel, else raise `InputError`."""
    if X.shape[0] != X.shape[1]:
        raise InputError(
            f"the kernel has shape {tuple(X.shape)}: evaluate needs the similarities of all "
            "samples to all samples, as fit_transform returns them"
        )
    difference = (X - X.T).abs()
    if difference.max() > 1e-4 * X.abs().max():
        row, column = divmod(int(difference.argmax()), len(X))
        raise InputError(
            f"the kernel is not symmetric: row {row}, column {column} has "
            f"{float(X[row, column]):.6g}, row {column}, column {row} has "
            f"{float(X[column, row]):.6g}; rows and columns must be the same samples in the same "
            "order"
        )
    return X


def classes_of(y: Any, *, count: int, unlabelled: bool) -> tuple[Ints, list[Any]]:
    """Number the classes 0 … C − 1 in sorted order; return the numbers and the names.

    With `unlabelled`, the label −1 or NaN means "no label" and becomes −1.
    """
    if y is None:
        raise InputError("evaluate needs labels: these samples have none (y is None)")
    labels = y.detach().cpu().numpy() if isinstance(y, Tensor) else np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise InputError(f"labels have shape {labels.shape}: evaluate needs one class per sample")
    if len(labels) != count:
        raise InputError(
            f"{count} embeddings but {len(labels)} labels: expected one label per embedding"
        )
    missing = np.isnan(labels) if labels.dtype.kind == "f" else np.zeros(len(labels), dtype=bool)
    if missing.any() and not unlabelled:
        raise InputError(f"evaluate needs labels: row {int(missing.argmax())} has none (NaN)")
    if unlabelled and labels.dtype.kind in "if":
        missing |= labels == -1
    codes = np.full(len(labels), -1, dtype=np.int64)
    names, codes[~missing] = np.unique(labels[~missing], return_inverse=True)
    return codes, names.tolist()


def check_two_classes(names: Sequence[Any]) -> None:
    """Raise `InputError` unless there are at least two classes."""
    if len(names) < 2:
        raise InputError(
            f"all labels are {names[0]!r}: a classifier needs at least two classes"
            if len(names)
            else "no labelled samples: evaluate needs at least two classes"
        )


@dataclass(frozen=True)
class Samples:
    """Checked samples and settings, the input of every protocol.

    `X` is (N, D), or (N, N) for a `kernel`; `y` (N,) holds indices into `names`; `parts` (S, N)
    are the fixed splits, if any. All samples are labelled. `targets` (N, T) are what to predict
    where there are no classes, NaN where one is not known. Samples of one of the `groups` (N,) stay
    together. `own_folds` (N,) are folds that the user drew, `own_parts` says that `parts` are. A
    protocol adds its predictions for each test part to `tested`: rows, and classes or targets.
    """

    X: Tensor
    y: Ints
    names: list[Any]
    parts: Tensor | None
    repeats: int | None
    folds: int | None
    random_state: int
    jobs: int
    progress: bool
    kernel: bool = False
    task: str = "classification"
    scoring: str = "accuracy"
    targets: Floats | None = None
    groups: Ints | None = None
    own_folds: Ints | None = None
    own_parts: bool = False
    tested: list[tuple[Ints, NDArray[Any]]] = field(default_factory=list)

    def seeds(self, repeats: int) -> list[int]:
        """Return the seed of each run; there are `self.repeats` runs, or `repeats` if None."""
        count = repeats if self.repeats is None else self.repeats
        return list(range(self.random_state, self.random_state + count))

    def single(self) -> Tensor:
        """Return `X` in single precision; refuse numbers whose squares would overflow."""
        if self.X.abs().max() > 1e18:
            raise InputError("embeddings contain numbers above 1e18: scale them down")
        return self.X.float()
