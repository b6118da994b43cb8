"""Networks that learn the classes of graphs: labels, the choice of an epoch, and predictions."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from augcl.data import GraphSet, as_graphset
from augcl.data.batches import fixed_batches
from augcl.data.class_labels import class_labels
from augcl.errors import InputError, one_of
from augcl.training.best_epoch import BestEpoch
from augcl.training.checkpoint import Snapshot, prefixed
from augcl.training.estimator import GraphEstimator
from augcl.training.loop import Metrics

AT_ONCE = 2048
"""Graphs that are classified together."""


class GraphClassifierEstimator(ClassifierMixin, GraphEstimator):  # type: ignore[misc]
    """Trains on labels and keeps the epoch with the least loss on graphs held out.

    Its network gives (G, C) logits of a batch; `validation` and `recipe` are among its
    hyper-parameters.

    Attributes
    ----------
    classes_ : (C,) array
    best_epoch_ : int or None
    """

    validation: float
    recipe: str

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        test: Any = None,
        folder: str | Path | None = None,
        resume: bool = False,
    ) -> Any:
        """Learn from graphs and their classes.

        Parameters
        ----------
        X : graphs
            GraphSet, list of PyG Data or networkx graphs, PyG dataset.
        y : (n,) array, optional
            Classes; those that come with the graphs if None.
        test : GraphSet, optional
            recipe="authors": graphs with labels on whose loss the epoch is chosen.
        folder, resume :
            Keep metrics.jsonl and a checkpoint there, and go on from it.
        """
        graphs = as_graphset(X)
        labels = class_labels(graphs, y)
        self.classes_, coded = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError(f"{graphs.name} has one class only: a classifier needs two or more")
        self._test = self._check_test(test)
        super().fit(
            replace(graphs, y=torch.from_numpy(coded.astype(np.int64))),
            folder=folder,
            resume=resume,
        )
        self._best.put_back(self.network_)
        self.best_epoch_ = self._best.epoch or None
        return self

    def _check_test(self, test: Any) -> GraphSet | None:
        if self.recipe != "authors":
            if test is not None:
                raise InputError('test is for recipe="authors": leave it out, or give that recipe')
            return None
        if test is None:
            raise InputError(
                'recipe="authors" chooses the epoch on test graphs: give them as fit(…, test=)'
            )
        graphs = as_graphset(test)
        found = class_labels(graphs, None)
        if not np.isin(found, self.classes_).all():
            raise InputError(f"{graphs.name} has a class that the training graphs have not")
        return replace(graphs, y=torch.from_numpy(np.searchsorted(self.classes_, found)))

    @property
    def _authors(self) -> bool:
        return self.recipe == "authors"

    @property
    def _competes(self) -> bool:
        """Whether the epoch may be the one that is kept."""
        return True

    def _start(self) -> None:
        super()._start()
        one_of(self.recipe, ("default", "authors"), "recipe")
        if not 0 <= self.validation < 1:
            raise InputError(f"validation is {self.validation!r}: give a share from 0 to below 1")
        self._best = BestEpoch()

    def _batches(self, data: GraphSet, generator: torch.Generator) -> list[GraphSet]:
        self._selection: list[GraphSet] = []
        if self._test is not None:
            held = self._test.to(data.device)
            self._selection = [held.select(part) for part in torch.arange(len(held)).split(50)]
        elif self.validation:
            order = torch.randperm(len(data), generator=generator)
            count = max(1, int(len(data) * self.validation))
            self._selection = [data.select(order[:count])]
            data = data.select(order[count:])
        self._learning = data
        return self._full_batches(generator)

    def _full_batches(self, generator: torch.Generator) -> list[GraphSet]:
        batches = fixed_batches(self._learning, int(self.batch_size), generator)
        full = [batch for batch in batches if len(batch) >= self.batch_size]
        return full or batches

    def _before_epoch(
        self, epoch: int, batches: list[GraphSet], generator: torch.Generator
    ) -> Metrics:
        self._epoch, self._draws = epoch, generator
        if self._authors and epoch:  # the released code shuffles before every epoch
            batches[:] = self._full_batches(generator)
        return {}

    def _after_epoch(self) -> Metrics:
        if not (self._selection and self._competes):
            return {}
        with torch.no_grad():
            losses = [float(self._loss(batch, self._draws)) for batch in self._selection]
        loss = float(np.average(losses, weights=[len(batch) for batch in self._selection]))
        self._best.see(loss, self._epoch + 1, self.network_)
        return {"selection_loss": loss}

    def _learned(self) -> dict[str, Tensor]:
        classes = json.dumps(self.classes_.tolist()).encode()  # numbers or words
        return {
            **prefixed("best", self._best.tensors()),
            "classes": torch.tensor(list(classes), dtype=torch.uint8),
        }

    def _load_learned(self, tensors: dict[str, Tensor]) -> None:
        self._best.load(Snapshot(tensors, {}).part("best"))
        self.best_epoch_ = self._best.epoch or None
        self.classes_ = np.array(json.loads(bytes(tensors["classes"].tolist())))

    def logits(self, graphs: Any) -> Tensor:
        """(n, C) scores of the classes, without gradient."""
        check_is_fitted(self, "history_")
        data = self._read_as_fitted(graphs)
        device = next(self.network_.parameters()).device
        with torch.no_grad():
            if len(data) <= AT_ONCE:
                logits: Tensor = self.network_(data.to(device))
                return logits
            parts = torch.arange(len(data)).split(AT_ONCE)
            return torch.cat([self.network_(data.select(p).to(device)) for p in parts])

    def predict_proba(self, graphs: Any) -> NDArray[np.float32]:
        """(n, C) probabilities of the classes."""
        found: NDArray[np.float32] = self.logits(graphs).softmax(1).cpu().numpy()
        return found

    def predict(self, graphs: Any) -> NDArray[Any]:
        """(n,) the most probable class."""
        best = self.logits(graphs).argmax(1).cpu().numpy()
        found: NDArray[Any] = self.classes_[best]
        return found

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Share of the graphs whose class is told right; y as in `fit`."""
        right = self.predict(X) == class_labels(as_graphset(X), y)
        return float(np.average(right, weights=sample_weight))
