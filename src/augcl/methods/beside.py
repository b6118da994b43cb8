"""Beside: the embeddings of two methods side by side."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from augcl.contract import check_fitted
from augcl.encoders.blocks import blocks_of
from augcl.errors import InputError
from augcl.training.checkpoint import Snapshot, prefixed
from augcl.training.method import Method, plain_settings

PARTS = ("first", "second")


class Beside(Method):
    """Embed by two methods and put both embeddings side by side.

    What a trained network has learned and what needs no training often complete each other. Each
    block is scaled so that its rows have mean length 1 on the data of the fit. Both methods are
    fitted in place; for three methods, put a `Beside` beside the third.

    Parameters
    ----------
    first, second : Method
        Two methods that embed graphs, or two that embed nodes; no kernels. A checkpoint, the
        metrics of the epochs (`history_`) and the settings are those of the first.

    Attributes
    ----------
    scales_ : (2,) float32
        The factors of the two blocks.
    history_ : list of dict
        Of the first method, or of the second if only that has epochs.

    Examples
    --------
    >>> import augcl
    >>> graph = augcl.load("digits-knn")
    >>> both = augcl.Beside(augcl.GCA(epochs=1, width=16), augcl.Propagation(width=64))
    >>> both.fit_transform(graph).shape
    (1797, 80)
    """

    def __init__(self, first: Method, second: Method) -> None:
        self.first = first
        self.second = second

    @property
    def _parts(self) -> tuple[Method, Method]:
        return self.first, self.second

    @property
    def level(self) -> str:  # type: ignore[override]
        """What is embedded: "graph" or "node"."""
        return self.first.level

    @property
    def needs(self) -> str | None:  # type: ignore[override]
        """What the graphs must have."""
        return self.first.needs or self.second.needs

    def _start(self) -> None:
        for part in self._parts:
            if not isinstance(part, Method):
                raise InputError(f"Beside takes two methods, not {part!r}")
            if part.gives_kernel:
                name = type(part).__name__
                raise InputError(
                    f"{name} gives similarities, not embeddings: it cannot stand beside another"
                )
        if self.first.level != self.second.level:
            kinds = " and ".join(f"{type(p).__name__} embeds {p.level}s" for p in self._parts)
            raise InputError(f"{kinds}: put methods of the same kind beside each other")

    def check(self) -> None:
        """Raise `InputError` for settings with which `fit` would not start; see `Method.check`."""
        self._start()
        for part in self._parts:
            part.check()

    def fit(
        self, X: Any, y: Any = None, *, folder: str | Path | None = None, resume: bool = False
    ) -> Beside:
        """Fit both methods; `folder` and `resume` are for the first, see `Estimator.fit`.

        The second is fitted from the start, also after a resume.
        """
        self._start()
        started = time.perf_counter()
        self.second.fit(X)  # first, because it is quick: what it refuses costs no training
        self.second_seconds_ = time.perf_counter() - started
        self.first.fit(X, folder=folder, resume=resume)
        lengths = [_mean_length(part._embeddings(X)) for part in self._parts]
        self.scales_ = torch.tensor([1 / length if length > 0 else 1.0 for length in lengths])
        self._take_facts()
        return self

    def _take_facts(self) -> None:
        """Take over what is known of the data and of the training."""
        first, second = self._parts
        self.n_features_in_, self.columns_ = first.n_features_in_, first.columns_
        self.n_edge_features_ = max(first.n_edge_features_ or 0, second.n_edge_features_ or 0)
        self.edge_columns_ = first.edge_columns_ or second.edge_columns_
        self.history_ = first.history_ or second.history_
        self.collapse_ = first.collapse_ or second.collapse_
        self.best_epoch_ = first.best_epoch_

    def read(self, X: Any) -> Any:
        """The data as the first method works on it."""
        return self.first.read(X)

    def _embeddings(self, X: Any) -> NDArray[np.float32]:
        check_fitted(self, "scales_")
        first, second = self._parts
        left, right = self.scales_.numpy()
        blocks = [first._embeddings(X), second._embeddings(X)]  # the second needs memory itself
        width = blocks[0].shape[1]
        joined = np.empty((len(blocks[0]), width + blocks[1].shape[1]), np.float32)
        np.multiply(blocks[0], left, out=joined[:, :width])
        np.multiply(blocks[1], right, out=joined[:, width:])
        return joined

    def _embedded(self, data: Any) -> Tensor:
        return torch.from_numpy(self._embeddings(data))

    def _width(self) -> int:
        return sum(part._n_features_out for part in self._parts)

    def settings(self) -> dict[str, Any]:
        """Return the settings of the first method, and the second with its own as ``beside``."""
        second = {"class": type(self.second).__name__, "params": self.second.settings()}
        return {**self.first.settings(), "beside": plain_settings(second)}

    def _facts(self) -> dict[str, Any]:
        return {**super()._facts(), "parts": [part._facts() for part in self._parts]}

    def _tensors(self) -> dict[str, Tensor]:
        named = zip(PARTS, self._parts, strict=True)
        tensors = [prefixed(name, part._tensors()) for name, part in named]
        return {**tensors[0], **tensors[1], "scales": self.scales_}

    def restore(self, snapshot: Snapshot) -> None:
        """Become the model of a snapshot; both parts have been restored from `parts_of` it."""
        self._start()
        self.scales_ = snapshot.tensors["scales"]
        if self.scales_.shape != (2,):
            raise ValueError(f"'scales' has shape {tuple(self.scales_.shape)}")
        if not bool(torch.isfinite(self.scales_).all()):
            raise ValueError("'scales' holds NaN or infinity")
        self._take_facts()


def _mean_length(Z: NDArray[np.float32]) -> np.float32:
    """Return the mean length of the rows; NumPy copies what it computes the lengths of."""
    lengths = [np.linalg.norm(Z[rows], axis=1) for rows in blocks_of(len(Z))]
    mean: np.float32 = np.concatenate(lengths).mean()
    return mean


def parts_of(snapshot: Snapshot) -> list[Snapshot]:
    """Return the snapshots of the two methods in that of a `Beside`."""
    facts = snapshot.facts["parts"]
    return [Snapshot(snapshot.part(n), f) for n, f in zip(PARTS, facts, strict=True)]
