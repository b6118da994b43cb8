"""What every neural graph method shares: scikit-learn's contract around the training loop."""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from augcl.data import GraphSet, as_graphset
from augcl.data.batches import fixed_batches
from augcl.data.features import align_columns
from augcl.errors import InputError
from augcl.files import write_json
from augcl.training.checkpoint import Snapshot, load_module, prefixed
from augcl.training.loop import Metrics, Run, make_fabric, train
from augcl.training.threads import threads_for

MODEL_FILE = "model.safetensors"


class GraphEstimator(TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Embeds graphs; a method says which network, which loss, and what happens between epochs.

    A subclass stores its hyper-parameters in ``__init__`` (among them `epochs`, `batch_size`,
    `lr`, `random_state`, `device` and `progress`) and implements `_build` and `_loss`.
    """

    epochs: int
    batch_size: int
    lr: float
    random_state: int | None
    device: str
    progress: bool

    @abstractmethod
    def _build(self, features: int, generator: torch.Generator) -> nn.Module:
        """The network for so many node features, with a method ``embed(graphs)``."""

    @abstractmethod
    def _loss(self, batch: GraphSet, generator: torch.Generator) -> Tensor:
        """The loss of one batch, from the network in ``self.network_``."""

    def _before_epoch(
        self, epoch: int, batches: list[GraphSet], generator: torch.Generator
    ) -> Metrics:
        return {}

    def _after_epoch(self) -> Metrics:
        return {}

    def _learned(self) -> dict[str, Tensor]:
        """What was learned beside the network."""
        return {}

    def _load_learned(self, tensors: dict[str, Tensor]) -> None:
        """Take back what `_learned` gave."""

    def _start(self) -> None:
        """Check hyper-parameters and reset what an earlier fit left."""
        for name, least in (("epochs", 0), ("batch_size", 2)):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or value < least:
                raise InputError(f"{name} is {value!r}: it must be a whole number, {least} or more")
        if not 0 < self.lr < math.inf:
            raise InputError(f"lr is {self.lr!r}: the learning rate must be above 0 and finite")

    def fit(
        self, X: Any, y: Any = None, *, folder: str | Path | None = None, resume: bool = False
    ) -> Any:
        """Learn from graphs, without labels.

        Parameters
        ----------
        X : GraphSet, list of PyG Data or networkx graphs, or PyG dataset
        y : ignored
        folder : path, optional
            Keep metrics.jsonl and a checkpoint of every epoch there.
        resume : bool
            Go on from the checkpoint in `folder`, if there is one.
        """
        self._start()
        if resume and self.random_state is None:
            raise InputError("random_state is None: only a run with a seed can be resumed")
        graphs = as_graphset(X)
        fabric = make_fabric(self.device)
        graphs = graphs.to(fabric.device)
        generator = torch.Generator()
        if self.random_state is None:
            generator.seed()
        else:
            generator.manual_seed(int(self.random_state))
        self.n_features_in_, self.columns_ = graphs.num_features, graphs.columns
        network = self._build(graphs.num_features, generator).to(fabric.device)
        optimizer = torch.optim.Adam(network.parameters(), lr=self.lr, fused=True)
        self.network_, optimizer = fabric.setup(network, optimizer)
        batches = fixed_batches(graphs, int(self.batch_size), generator)
        run = Run(network, optimizer, generator, self._learned, self._load_learned)
        settings = None if folder is None else {**self.settings(), "data": fingerprint(graphs)}
        try:
            with threads_for(graphs.num_nodes / len(batches)):
                train(
                    run,
                    lambda batch: self._loss(batch, generator),
                    batches,
                    fabric=fabric,
                    epochs=self.epochs,
                    settings=settings or {},
                    before_epoch=lambda epoch: self._before_epoch(epoch, batches, generator),
                    after_epoch=self._after_epoch,
                    folder=None if folder is None else Path(folder),
                    resume=resume,
                    title=f"{type(self).__name__} on {graphs.name}",
                    progress=self.progress,
                )
        finally:  # also a training that was stopped leaves a network that can be used
            self.network_, self.history_ = network, run.history
        return self

    def transform(self, X: Any) -> NDArray[np.float32]:
        """(n, d) float32 embeddings of graphs, seen in training or not."""
        check_is_fitted(self, "network_")
        graphs = align_columns(as_graphset(X), self.columns_)
        if graphs.num_features != self.n_features_in_:
            raise InputError(
                f"{graphs.name} has {graphs.num_features} node features, the model was trained "
                f"on {self.n_features_in_}: give graphs with the same node features"
            )
        device = next(self.network_.parameters()).device
        self.network_.eval()
        with torch.no_grad():
            parts = torch.arange(len(graphs)).split(256)
            rows = [self.network_.embed(graphs.select(p).to(device)).cpu() for p in parts]
        return torch.cat(rows).float().numpy()

    def save(self, path: str | Path) -> None:
        """Write the model to a folder: tensors and settings, and a JSON copy for people to read."""
        check_is_fitted(self, "network_")
        facts = {
            "method": type(self).__name__,
            "settings": self.settings(),
            "features": self.n_features_in_,
            "columns": None if self.columns_ is None else list(self.columns_),
            "history": self.history_,
        }
        tensors = {
            **prefixed("network", self.network_.state_dict()),
            **prefixed("learned", self._learned()),
        }
        Snapshot(tensors, facts).write(Path(path) / MODEL_FILE)
        write_json(Path(path) / "model.json", facts)

    def restore(self, snapshot: Snapshot) -> None:
        """Become the model of a snapshot that `save` wrote; see `augcl.load_model`."""
        self._start()
        self.n_features_in_ = snapshot.facts["features"]
        self.columns_ = snapshot.facts["columns"]
        self.history_ = snapshot.facts["history"]
        self.network_ = self._build(self.n_features_in_, torch.Generator())
        load_module(self.network_, snapshot.part("network"))
        self.network_.to(make_fabric(self.device).device)
        self._load_learned(snapshot.part("learned"))

    def settings(self) -> dict[str, Any]:
        """Hyper-parameters as plain JSON values, without what does not change the result."""
        return {
            name: plain_settings(value)
            for name, value in self.get_params(deep=False).items()
            if name not in ("device", "progress")
        }


def fingerprint(graphs: GraphSet) -> str:
    """A hash of features, edges and order."""
    digest = hashlib.blake2b(digest_size=16)
    for tensor in (graphs.x, graphs.edge_index, graphs.node_ptr):
        digest.update(tensor.cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def plain_settings(value: Any) -> Any:
    if isinstance(value, nn.Module):
        return {"class": type(value).__name__}
    if isinstance(value, BaseEstimator):
        params = {k: plain_settings(v) for k, v in value.get_params(deep=False).items()}
        return {"class": type(value).__name__, "params": params}
    return value.item() if isinstance(value, np.generic) else value
