"""The training loop of every neural method."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from augcl.errors import InputError, one_of
from augcl.ops.processes import average_gradients, of_first, sharing
from augcl.training.callbacks import Hooks, Metrics
from augcl.training.checkpoint import (
    Snapshot,
    load_module,
    load_optimizer,
    optimizer_tensors,
    prefixed,
    weights_of,
)
from augcl.training.processes import connect, expected

if TYPE_CHECKING:
    from lightning_fabric import Fabric


def train(
    run: Run,
    step: Callable[[Any], Tensor],
    batches: Sequence[Any],
    *,
    fabric: Fabric | OneCPU,
    epochs: int,
    hooks: Hooks,
    before_epoch: Callable[[int], Metrics] = lambda epoch: {},
    after_epoch: Callable[[], Metrics] = dict,
) -> Generator[Metrics]:
    """Minimise the mean of `step(batch)`; yield the metrics of each epoch.

    `epochs` is the total, with the epochs that the run has done before. A callback among the
    `hooks` may stop the training earlier.
    """
    try:
        hooks.train_begin()
        for epoch in range(len(run.history), epochs):
            if run.stopped:
                break
            metrics: Metrics = {"epoch": epoch + 1}
            hooks.epoch_begin(metrics)
            with sharing():
                metrics |= before_epoch(epoch)
            run.network.train()
            total = torch.zeros((), device=fabric.device)
            seen = 0
            for number, batch in enumerate(batches, 1):
                run.optimizer.zero_grad()
                with sharing():
                    loss = step(batch)
                    fabric.backward(loss)
                    average_gradients(run.network)
                run.optimizer.step()
                total += loss.detach() * len(batch)
                seen += len(batch)
                hooks.batch_end({**metrics, "batch": number, "batches": len(batches)}, loss)
            metrics["loss"] = of_first(float(total) / seen)
            if not math.isfinite(metrics["loss"]):
                raise InputError(
                    f"training diverged in epoch {epoch + 1} (loss {metrics['loss']}): "
                    "lower the learning rate (lr)"
                )
            metrics |= after_epoch()
            run.history.append(metrics)
            hooks.epoch_end(run, metrics)
            run.stopped = of_first(run.stopped)
            yield metrics
    finally:
        hooks.train_end()


class BestEpoch:
    """The epoch with the lowest loss so far, and its weights.

    Attributes
    ----------
    loss : float
    epoch : int
        Counted from 1; 0 before the first.
    """

    def __init__(self) -> None:
        self.loss = math.inf
        self.epoch = 0
        self._weights: dict[str, Tensor] = {}

    def keep(self, loss: float, epoch: int, weights: dict[str, Tensor]) -> None:
        """Store this epoch as the best one; the weights must be a copy."""
        self.loss, self.epoch, self._weights = loss, epoch, weights

    def put_back(self, network: nn.Module) -> None:
        """Load the best weights, if there are any, into the network, and forget them."""
        if self._weights:
            load_module(network, self._weights)
        self._weights = {}

    def tensors(self) -> dict[str, Tensor]:
        """Return the state as tensors, for a checkpoint."""
        if not self.epoch:
            return {}
        facts = torch.tensor([self.loss, self.epoch], dtype=torch.float64)
        return {"facts": facts, **prefixed("weights", self._weights)}

    def load(self, tensors: dict[str, Tensor]) -> None:
        """Restore the state from the tensors of `tensors()`."""
        if tensors:
            self.loss, epoch = tensors["facts"].tolist()
            self.epoch = int(epoch)
        self._weights = Snapshot(tensors, {}).part("weights")


@dataclass
class Run:
    """The state of a training, which can be saved and continued.

    Parameters
    ----------
    network : Module
        The network that is trained.
    optimizer : Optimizer
    generator : Generator
        Source of every random draw.
    read_learned, load_learned : callable
        Return and restore further tensors: what a hardness learned.
    history : list of dict
        The metrics of each finished epoch.
    best : BestEpoch
        Stays empty if the last epoch is kept.
    stopped : bool
        Whether a callback has stopped the training.
    """

    network: nn.Module
    optimizer: torch.optim.Optimizer
    generator: torch.Generator
    read_learned: Callable[[], dict[str, Tensor]] = dict
    load_learned: Callable[[dict[str, Tensor]], None] = lambda state: None
    history: list[Metrics] = field(default_factory=list)
    best: BestEpoch = field(default_factory=BestEpoch)
    stopped: bool = False

    def snapshot(self, settings: dict[str, Any]) -> Snapshot:
        """Return the current state; its tensors are shared with the run, not copied."""
        tensors = {
            **prefixed("network", self.network.state_dict()),
            **prefixed("optimizer", optimizer_tensors(self.optimizer)),
            **prefixed("learned", self.read_learned()),
            **prefixed("best", self.best.tensors()),
            "generator": self.generator.get_state(),
        }
        return Snapshot(tensors, {"settings": settings, "history": self.history})

    def restore(self, snapshot: Snapshot) -> None:
        """Restore the state from a snapshot."""
        load_module(self.network, snapshot.part("network"))
        load_optimizer(self.optimizer, snapshot.part("optimizer"))
        self.load_learned(snapshot.part("learned"))
        self.best.load(snapshot.part("best"))
        self.generator.set_state(snapshot.tensors["generator"])
        self.history = list(snapshot.facts["history"])

    def weights(self) -> dict[str, Tensor]:
        """Return a copy of the network's weights."""
        return weights_of(self.network)


class OneCPU:
    """Replaces Lightning Fabric on one CPU, and saves the seconds that its import takes."""

    device = torch.device("cpu")

    def setup_module(self, network: nn.Module) -> Any:
        return network

    def backward(self, loss: Tensor) -> None:
        loss.backward()


PRECISIONS = ("32-true", "64-true", "bf16-mixed")
"""Numbers of a training, as Fabric names them. 16-mixed would need its scaler of gradients."""


def make_fabric(device: str, *, precision: str = "32-true", alone: bool = False) -> Fabric | OneCPU:
    """Set up Lightning Fabric on one device: "cpu", "cuda", "cuda:1", or "auto" (cuda if there).

    If the environment says that there are several processes, they are connected, unless `alone`.
    Mixed precision is Fabric's, on CUDA only.
    """
    one_of(precision, PRECISIONS, "precision")
    mixed = {"precision": precision} if precision == "bf16-mixed" else {}
    device = str(device)  # a torch.device works too
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if mixed and not device.startswith("cuda"):
        raise InputError(
            f"precision {precision} is for GPUs: give device cuda, or 32-true or 64-true"
        )
    if expected() > 1 and not alone:
        if device not in ("cpu", "cuda"):
            raise InputError(f"device is {device}, but each process takes its own: give cuda")
        return connect(device, **mixed) or OneCPU()
    if device == "cpu":
        return OneCPU()
    from lightning_fabric import Fabric
    from lightning_fabric.utilities.exceptions import MisconfigurationException

    kind, _, number = device.partition(":")
    try:
        devices = [int(number)] if number else 1
        fabric = Fabric(accelerator=kind, devices=devices, **mixed)  # type: ignore[arg-type]
    except (RuntimeError, ValueError, TypeError, MisconfigurationException) as error:
        lacking = kind == "cuda" and not torch.cuda.is_available()
        reason = "torch finds no GPU" if lacking else error
        raise InputError(
            f"device {device!r} cannot be used here: use cpu or auto, or, with a GPU, cuda or "
            f"cuda:1 ({reason})"
        ) from None
    fabric.launch()
    return fabric
