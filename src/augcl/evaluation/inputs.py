"""Embeddings, labels and splits in whatever form they are given, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from augcl.data.graph import GraphSet
from augcl.data.node_graph import NodeGraph, Splits
from augcl.errors import InputError

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Target:
    """What is to be predicted: raw labels, of "graph", "node" or "any"; fixed splits if any.

    `classes` is what the user calls the classes 0, 1, …
    """

    y: Any
    level: str = "any"
    splits: Splits | None = None
    classes: Sequence[str] | None = None

    @classmethod
    def of(cls, y: Any, splits: Splits | None = None) -> Target:
        """From labels, or from the graph or the set of graphs that has them.

        >>> Target.of([0, 1, 1]).level
        'any'
        """
        if isinstance(y, Target):
            return y
        if isinstance(y, GraphSet):
            return cls(y.y, "graph", splits, y.classes)
        if hasattr(y, "edge_index") or isinstance(y, nx.Graph):
            if not isinstance(y, NodeGraph):
                from augcl.data.node_convert import as_node_graph

                y = as_node_graph(y)
            return cls(y.y, "node", y.splits if splits is None else splits, y.classes)
        return cls(y, "any", splits)

    def called(self, labels: list[Any]) -> list[Any]:
        """What the user calls the classes with these labels, for messages.

        >>> Target([0, 1, 1], classes=["solid", "liquid"]).called([1])
        ['liquid']
        """
        known = dict(enumerate(self.classes or ()))
        return [known.get(label, label) for label in labels]


def embeddings(Z: Any) -> Tensor:
    """(N, D) dense and finite; device and precision stay as they are."""
    if hasattr(Z, "toarray"):  # SciPy's sparse matrices: raw features
        Z = Z.toarray()
    if not isinstance(Z, Tensor):
        try:
            Z = np.array(Z)
            Z = torch.from_numpy(Z if Z.dtype in (np.float32, np.float64) else Z.astype(np.float64))
        except (TypeError, ValueError) as error:
            raise InputError(f"embeddings are no matrix of numbers: {error}") from error
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
            f"{int(bad.sum())} of {len(X)} embeddings hold NaN or infinity, "
            f"first at row {int(bad.int().argmax())}"
        )
    return X


def kernel_matrix(X: Tensor) -> Tensor:
    """Raise `InputError` unless `X` has the similarity of every sample to every sample."""
    if X.shape[0] != X.shape[1]:
        raise InputError(
            f"the kernel has shape {tuple(X.shape)}: evaluate needs all samples against all "
            "samples, as fit_transform gives them"
        )
    difference = (X - X.T).abs()
    if difference.max() > 1e-4 * X.abs().max():
        row, column = divmod(int(difference.argmax()), len(X))
        raise InputError(
            f"the kernel is not symmetric: row {row}, column {column} has "
            f"{float(X[row, column]):.6g}, row {column}, column {row} has "
            f"{float(X[column, row]):.6g}; give the same samples, in the same order, both ways"
        )
    return X


def classes_of(y: Any, *, count: int, unlabelled: bool) -> tuple[Ints, list[Any]]:
    """Classes as 0 … C − 1 in sorted order, and their names.

    With `unlabelled`, the label −1 or NaN means that there is none, and stays −1.
    """
    if y is None:
        raise InputError("evaluate needs labels: these samples have none (y is None)")
    labels = y.detach().cpu().numpy() if isinstance(y, Tensor) else np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise InputError(f"labels have shape {labels.shape}: evaluate needs one class per sample")
    if len(labels) != count:
        raise InputError(f"{count} embeddings but {len(labels)} labels: one label for each is due")
    missing = np.isnan(labels) if labels.dtype.kind == "f" else np.zeros(len(labels), dtype=bool)
    if missing.any() and not unlabelled:
        raise InputError(f"evaluate needs labels: row {int(missing.argmax())} has none (NaN)")
    if unlabelled and labels.dtype.kind in "if":
        missing |= labels == -1
    codes = np.full(len(labels), -1, dtype=np.int64)
    names, codes[~missing] = np.unique(labels[~missing], return_inverse=True)
    return codes, names.tolist()


def check_two_classes(names: Sequence[Any]) -> None:
    """Raise `InputError` if there is nothing to tell apart."""
    if len(names) < 2:
        raise InputError(
            f"all labels are {names[0]!r}: a classifier needs two classes or more"
            if len(names)
            else "no labelled samples: evaluate needs at least two classes"
        )


@dataclass(frozen=True)
class Samples:
    """Checked samples and settings: what every protocol works on.

    `X` is (N, D), or (N, N) if it is a `kernel`, `y` (N,) the number of the class in `names`,
    `parts` (S, N) the fixed splits if there are any. All samples are labelled.
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

    def seeds(self, repeats: int) -> list[int]:
        """Of the runs: as many as were asked for, or `repeats`."""
        count = repeats if self.repeats is None else self.repeats
        return list(range(self.random_state, self.random_state + count))

    def single(self) -> Tensor:
        """`X` in single precision, with squares that are finite, too."""
        if self.X.abs().max() > 1e18:
            raise InputError("embeddings hold numbers beyond 1e18: scale them down")
        return self.X.float()
