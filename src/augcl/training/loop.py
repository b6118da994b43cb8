"""The training loop: every neural method goes through it."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from augcl.errors import InputError
from augcl.files import append_line, remove_temporary, write_text
from augcl.training.checkpoint import (
    Snapshot,
    load_module,
    load_optimizer,
    optimizer_tensors,
    prefixed,
)
from augcl.training.progress import progress_bar

if TYPE_CHECKING:
    from lightning_fabric import Fabric

Metrics = dict[str, Any]


@dataclass
class Run:
    """All that changes while a network trains, so that it can be stopped and continued.

    Parameters
    ----------
    network : Module
        What is trained.
    optimizer : Optimizer
    generator : Generator
        Source of every random draw.
    learned : callable giving and taking more tensors (what a hardness learned)
    history : list of one dict per epoch done
    best : dict
        The weights with the lowest loss so far, if the training waits for a better one.
    """

    network: nn.Module
    optimizer: torch.optim.Optimizer
    generator: torch.Generator
    read_learned: Callable[[], dict[str, Tensor]] = dict
    load_learned: Callable[[dict[str, Tensor]], None] = lambda state: None
    history: list[Metrics] = field(default_factory=list)
    best: dict[str, Tensor] = field(default_factory=dict)
    lowest_loss: float = math.inf
    since_best: int = 0
    """Epochs done since the first one with the lowest loss."""

    def add(self, metrics: Metrics) -> None:
        """An epoch is done."""
        self.history.append(metrics)
        self.since_best += 1
        if metrics["loss"] < self.lowest_loss:
            self.lowest_loss, self.since_best = metrics["loss"], 0

    @property
    def kept_first(self) -> bool:
        """Whether the best weights are those from before the first step, of several epochs."""
        return bool(self.best) and 0 < self.since_best == len(self.history) - 1

    def snapshot(self, settings: dict[str, Any]) -> Snapshot:
        tensors = {
            **prefixed("network", self.network.state_dict()),
            **prefixed("optimizer", optimizer_tensors(self.optimizer)),
            **prefixed("learned", self.read_learned()),
            **prefixed("best", self.best),
            "generator": self.generator.get_state(),
        }
        return Snapshot(tensors, {"settings": settings, "history": self.history})

    def restore(self, snapshot: Snapshot) -> None:
        load_module(self.network, snapshot.part("network"))
        load_optimizer(self.optimizer, snapshot.part("optimizer"))
        self.load_learned(snapshot.part("learned"))
        self.generator.set_state(snapshot.tensors["generator"])
        self.history, self.lowest_loss, self.since_best = [], math.inf, 0
        for metrics in snapshot.facts["history"]:
            self.add(metrics)
        self.best = snapshot.part("best")

    def weights(self) -> dict[str, Tensor]:
        """A copy of the network's weights."""
        return {name: value.detach().clone() for name, value in self.network.state_dict().items()}


def train(
    run: Run,
    step: Callable[[Any], Tensor],
    batches: Sequence[Any],
    *,
    fabric: Fabric | OneCPU,
    epochs: int,
    settings: dict[str, Any],
    patience: int | None = None,
    before_epoch: Callable[[int], Metrics] = lambda epoch: {},
    after_epoch: Callable[[], Metrics] = dict,
    folder: Path | None = None,
    resume: bool = False,
    checkpoint_seconds: float = 0.0,
    title: str = "training",
    progress: bool = True,
) -> None:
    """Minimise the mean of `step(batch)` for `epochs` epochs.

    With a `folder`, every epoch ends with a line in metrics.jsonl and, if the last one is older
    than `checkpoint_seconds`, an atomic checkpoint; with `resume`, the run goes on from there to
    the same bits as a run never stopped.

    With `patience`, training ends after so many epochs without a lower loss, and the network gets
    back the weights that had the lowest one: those before that epoch's step.
    """
    last_written = -math.inf
    if folder is not None:
        _prepare_folder(run, folder, settings, resume)
    with progress_bar(title, epochs, show=progress) as report:
        for epoch in range(len(run.history), epochs):
            if patience is not None and run.since_best >= patience:
                break
            started = time.perf_counter()
            metrics = {"epoch": epoch + 1, **before_epoch(epoch)}
            run.network.train()
            weights = {} if patience is None else run.weights()
            total = torch.zeros((), device=fabric.device)
            for batch in batches:
                run.optimizer.zero_grad()
                loss = step(batch)
                fabric.backward(loss)
                run.optimizer.step()
                total += loss.detach() * len(batch)
            metrics["loss"] = float(total) / sum(len(batch) for batch in batches)
            if not math.isfinite(metrics["loss"]):
                raise InputError(
                    f"training diverged in epoch {epoch + 1} (loss {metrics['loss']}): "
                    "lower the learning rate (lr)"
                )
            metrics.update(after_epoch(), seconds=time.perf_counter() - started)
            run.add(metrics)
            if patience is not None and run.since_best == 0:
                run.best = weights
            report(epoch + 1, f"loss {metrics['loss']:.4f}")
            if folder is not None:
                append_line(folder / "metrics.jsonl", json.dumps(metrics))
                now = time.monotonic()
                last = epoch + 1 == epochs or run.since_best == patience
                if now - last_written < checkpoint_seconds and not last:
                    continue
                last_written = now
                run.snapshot(settings).write(folder / "checkpoint.safetensors")
    if run.best:
        load_module(run.network, run.best)


class OneCPU:
    """What Lightning Fabric does on one CPU, which is nothing, without seconds of importing it."""

    device = torch.device("cpu")

    def setup_module(self, network: nn.Module) -> Any:
        return network

    def backward(self, loss: Tensor) -> None:
        loss.backward()


def make_fabric(device: str) -> Fabric | OneCPU:
    """Lightning Fabric on one device: "cpu", "cuda", "cuda:1", or "auto" (cuda if there is one)."""
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise InputError("several processes cannot train one model yet: start without torchrun")
    device = str(device)  # a torch.device is as good
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu":
        return OneCPU()
    from lightning_fabric import Fabric
    from lightning_fabric.utilities.exceptions import MisconfigurationException

    kind, _, number = device.partition(":")
    try:
        fabric = Fabric(accelerator=kind, devices=[int(number)] if number else 1)
    except (RuntimeError, ValueError, TypeError, MisconfigurationException) as error:
        raise InputError(
            f"device {device!r} cannot be used here: take cpu or auto, or where there is one "
            f"cuda or cuda:1 ({error})"
        ) from None
    fabric.launch()
    return fabric


def _prepare_folder(run: Run, folder: Path, settings: dict[str, Any], resume: bool) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    remove_temporary(folder)
    checkpoint = folder / "checkpoint.safetensors"
    if resume and checkpoint.exists():
        snapshot = Snapshot.read(checkpoint)
        same_settings(snapshot.facts["settings"], settings, folder)
        run.restore(snapshot)
    # Lines of an epoch whose checkpoint was not written are dropped: that epoch comes again.
    lines = "".join(json.dumps(metrics) + "\n" for metrics in run.history)
    write_text(folder / "metrics.jsonl", lines)


def same_settings(old: dict[str, Any], new: dict[str, Any], folder: Path) -> None:
    """Raise `InputError`, which names the first setting that differs, unless both are equal."""
    before, now = _flat(old), _flat(new)
    for name in sorted(before.keys() | now.keys()):
        if before.get(name) == now.get(name):
            continue
        if name == "data":
            raise InputError(
                f"cannot resume {folder}: the graphs are not those it was started with; "
                "use the old ones or another folder"
            )
        raise InputError(
            f"cannot resume {folder}: it was started with {name} = {_shown(before, name)}, "
            f"now it is {_shown(now, name)}; use the old value or another folder"
        )


def _shown(settings: dict[str, Any], name: str) -> str:
    return repr(settings[name]) if name in settings else "the default"


def _flat(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings of settings under their own names, for instance hardness.params.reward."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        inner = _flat(value) if isinstance(value, dict) else None
        flat |= {name: value} if inner is None else {f"{name}.{k}": v for k, v in inner.items()}
    return flat
