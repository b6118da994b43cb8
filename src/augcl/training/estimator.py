"""What every neural method shares: scikit-learn's contract around the training loop."""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
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


class Estimator(TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Embeds graphs or nodes; a method says which network, which loss, and what happens between.

    A subclass stores its hyper-parameters in ``__init__`` (among them `epochs`, `lr`,
    `random_state`, `device` and `progress`) and implements what is abstract here.
    """

    level: str
    epochs: int
    lr: float
    random_state: int | None
    device: str
    progress: bool
    checkpoint_seconds: float = 0.0

    @abstractmethod
    def _read(self, X: Any) -> Any:
        """The data as the method works on it: ``.name``, ``.num_nodes``, ``.num_features``."""

    @abstractmethod
    def _batches(self, data: Any, generator: torch.Generator) -> list[Any]:
        """What one epoch goes through."""

    @abstractmethod
    def _build(self, features: int, generator: torch.Generator) -> nn.Module:
        """The network for so many node features."""

    @abstractmethod
    def _loss(self, batch: Any, generator: torch.Generator) -> Tensor:
        """The loss of one batch, from the network in ``self.network_``."""

    @abstractmethod
    def _embed(self, data: Any, device: torch.device) -> Tensor:
        """Embeddings by the trained network."""

    def _setting(self, name: str) -> Any:
        """The value of a hyper-parameter; a method may fill in what is None."""
        return getattr(self, name)

    def _optimizer(self, network: nn.Module) -> torch.optim.Optimizer:
        return torch.optim.Adam(network.parameters(), lr=self._setting("lr"), fused=True)

    def _threads(self, data: Any, batches: list[Any]) -> AbstractContextManager[None]:
        return threads_for(data.num_nodes / len(batches))

    def _before_epoch(self, epoch: int, batches: list[Any], generator: torch.Generator) -> Metrics:
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
        whole_number("epochs", self._setting("epochs"), least=0)
        lr = self._setting("lr")
        if not 0 < lr < math.inf:
            raise InputError(f"lr is {lr!r}: the learning rate must be above 0 and finite")

    def fit(
        self, X: Any, y: Any = None, *, folder: str | Path | None = None, resume: bool = False
    ) -> Any:
        """Learn without labels.

        Parameters
        ----------
        X : graphs, or one graph for a method that embeds nodes
            GraphSet, list of PyG Data or networkx graphs, PyG dataset; or one Data or networkx
            graph.
        y : ignored
        folder : path, optional
            Keep metrics.jsonl and a checkpoint of every epoch there.
        resume : bool
            Go on from the checkpoint in `folder`, if there is one.
        """
        self._start()
        if resume and self.random_state is None:
            raise InputError("random_state is None: only a run with a seed can be resumed")
        fabric = make_fabric(self.device)
        self.columns_ = None  # those of an earlier fit do not count
        data = self._read(X).to(fabric.device)
        generator = torch.Generator()
        if self.random_state is None:
            generator.seed()
        else:
            generator.manual_seed(int(self.random_state))
        self.n_features_in_, self.columns_ = data.num_features, getattr(data, "columns", None)
        network = self._build(data.num_features, generator).to(fabric.device)
        self.network_, optimizer = fabric.setup(network, self._optimizer(network))
        batches = self._batches(data, generator)
        run = Run(network, optimizer, generator, self._learned, self._load_learned)
        settings = None if folder is None else {**self.settings(), "data": fingerprint(data)}
        try:
            with self._threads(data, batches):
                train(
                    run,
                    lambda batch: self._loss(batch, generator),
                    batches,
                    fabric=fabric,
                    epochs=self._setting("epochs"),
                    settings=settings or {},
                    before_epoch=lambda epoch: self._before_epoch(epoch, batches, generator),
                    after_epoch=self._after_epoch,
                    folder=None if folder is None else Path(folder),
                    resume=resume,
                    title=f"{type(self).__name__} on {data.name}",
                    checkpoint_seconds=self.checkpoint_seconds,
                    progress=self.progress,
                )
        finally:  # also a training that was stopped leaves a network that can be used
            self.network_, self.history_ = network, run.history
        return self

    def transform(self, X: Any) -> NDArray[np.float32]:
        """(n, d) float32 embeddings of graphs or nodes, seen in training or not."""
        check_is_fitted(self, "network_")
        data = self._read(X)
        if data.num_features != self.n_features_in_:
            raise InputError(
                f"{data.name} has {data.num_features} node features, the model was trained "
                f"on {self.n_features_in_}: give graphs with the same node features"
            )
        device = next(self.network_.parameters()).device
        self.network_.eval()
        with torch.no_grad():
            embeddings: NDArray[np.float32] = self._embed(data, device).cpu().float().numpy()
        return embeddings

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
            name: plain_settings(self._setting(name))
            for name in self.get_params(deep=False)
            if name not in ("device", "progress")
        }


class GraphEstimator(Estimator):
    """Embeds whole graphs, in batches of `batch_size`."""

    level = "graph"
    batch_size: int

    def _start(self) -> None:
        super()._start()
        whole_number("batch_size", self.batch_size, least=2)

    def _read(self, X: Any) -> GraphSet:
        return align_columns(as_graphset(X), self.columns_)

    def _batches(self, data: GraphSet, generator: torch.Generator) -> list[GraphSet]:
        return fixed_batches(data, int(self.batch_size), generator)

    def _embed(self, data: GraphSet, device: torch.device) -> Tensor:
        parts = torch.arange(len(data)).split(256)
        return torch.cat([self.network_.embed(data.select(p).to(device)).cpu() for p in parts])


def whole_number(name: str, value: Any, *, least: int) -> None:
    """Raise `InputError` unless the value of a hyper-parameter is one."""
    if not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} is {value!r}: it must be a whole number, {least} or more")


def fingerprint(data: Any) -> str:
    """A hash of features, edges and order."""
    x = data.x
    sparse = x.layout == torch.sparse_csr
    parts = [x.crow_indices(), x.col_indices(), x.values()] if sparse else [x]
    digest = hashlib.blake2b(digest_size=16)
    for tensor in (*parts, data.edge_index, getattr(data, "node_ptr", torch.empty(0))):
        digest.update(tensor.cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def plain_settings(value: Any) -> Any:
    if isinstance(value, nn.Module):
        return {"class": type(value).__name__}
    if isinstance(value, BaseEstimator):
        params = {k: plain_settings(v) for k, v in value.get_params(deep=False).items()}
        return {"class": type(value).__name__, "params": params}
    if isinstance(value, tuple | list):  # JSON knows lists only
        return [plain_settings(entry) for entry in value]
    return value.item() if isinstance(value, np.generic) else value
