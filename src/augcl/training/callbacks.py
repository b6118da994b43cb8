"""Callbacks: watch a training epoch by epoch, write its metrics down, or stop it.

Pass them to any neural method, ``GraphCL(callbacks=[…])``. `Callback` and two loggers are public
(``augcl.callbacks``). The others are used by every training: they measure its time, keep its best
epoch, show its progress bar and write its files.
"""

from __future__ import annotations

import csv
import io
import json
import math
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import Tensor

from augcl.errors import InputError
from augcl.files import append_line, remove_temporary, write_text
from augcl.training.checkpoint import flattened
from augcl.training.progress import Report, progress_bar, training_note

if TYPE_CHECKING:
    from augcl.training.loop import Run

__all__ = ["CSVLogger", "Callback", "TensorBoardLogger"]

Metrics = dict[str, Any]
Callbacks = Sequence[Any]
"""What `callbacks=` takes: instances of `Callback`, or other objects with some of its methods."""


class Callback:
    """Base class with one method per event of a training; override those you need.

    An object of any other class that has some of these methods works as well. The estimator can be
    used as if it were fitted: ``estimator.history_`` holds the epochs so far, and in
    `on_epoch_end` ``estimator.transform(X)`` returns the current embeddings.

    Callbacks do not change the numbers: they are not saved with a model, and a run can be resumed
    with others.

    Examples
    --------
    >>> import augcl
    >>> class StopBelow(augcl.callbacks.Callback):
    ...     def __init__(self, loss):
    ...         self.loss = loss
    ...     def on_epoch_end(self, estimator, metrics):
    ...         return metrics["loss"] < self.loss
    >>> graphs = augcl.load("MUTAG")
    >>> model = augcl.GraphCL(epochs=40, callbacks=[StopBelow(100.0)]).fit(graphs)
    >>> len(model.history_)
    1
    """

    def on_train_begin(self, estimator: Any) -> None:
        """Called once, before the first epoch; epochs of a resumed run are in ``history_``."""

    def on_epoch_begin(self, estimator: Any, metrics: Metrics) -> None:
        """Called before an epoch; `metrics` is ``{"epoch": number}``, counted from 1."""

    def on_batch_end(self, estimator: Any, metrics: Metrics) -> None:
        """Called after each step; `metrics` has epoch, batch, batches and the loss of the batch."""

    def on_epoch_end(self, estimator: Any, metrics: Metrics) -> bool | None:
        """Called after an epoch, with all its metrics; return True to stop the training.

        Entries that you add to `metrics` (JSON values) go into ``history_`` and metrics.jsonl.
        """
        return None

    def on_train_end(self, estimator: Any) -> None:
        """Called once, after the last epoch or when an error or Ctrl-C ends the training."""


class CSVLogger(Callback):
    """Write the metrics to a CSV file, one row per epoch.

    Parameters
    ----------
    path : path
        The file. Each training overwrites it; a resumed one writes the earlier epochs first.

    Examples
    --------
    >>> import augcl, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = augcl.callbacks.CSVLogger(f"{folder}/log.csv")
    ...     model = augcl.GraphCL(epochs=2, callbacks=[log]).fit(augcl.load("MUTAG"))
    ...     pathlib.Path(f"{folder}/log.csv").read_text().splitlines()[0]
    'epoch,loss,false_mass,seconds'
    """

    def __init__(self, path: str | Path) -> None:
        self.path = path

    def on_train_begin(self, estimator: Any) -> None:
        """Write the epochs of a resumed run."""
        self._columns: list[str] = []
        self._write(estimator.history_)

    def on_epoch_end(self, estimator: Any, metrics: Metrics) -> None:
        """Add a row; a new metric adds a column."""
        if flattened(metrics).keys() <= set(self._columns):
            append_line(Path(self.path), self._text([metrics]).rstrip("\n"))
        else:
            self._write(estimator.history_)

    def _write(self, history: Iterable[Metrics]) -> None:
        columns = {name: None for metrics in history for name in flattened(metrics)}
        self._columns = list(columns)  # in order of first appearance
        header = ",".join(self._columns) + "\n" if self._columns else ""
        write_text(self.path, header + self._text(history))

    def _text(self, rows: Iterable[Metrics]) -> str:
        text = io.StringIO()
        csv.DictWriter(text, self._columns, lineterminator="\n").writerows(map(flattened, rows))
        return text.getvalue()


class TensorBoardLogger(Callback):
    """Write numeric metrics for TensorBoard: ``tensorboard --logdir FOLDER``.

    Needs the package tensorboard.

    Parameters
    ----------
    folder : path
        TensorBoard shows each folder as one run.
    """

    def __init__(self, folder: str | Path) -> None:
        _summary_writer()  # a missing package is reported before any work
        self.folder = folder

    def on_train_begin(self, estimator: Any) -> None:
        """Open the log; drop steps that a resumed run will repeat."""
        self._writer = _summary_writer()(str(self.folder), purge_step=len(estimator.history_) + 1)

    def on_epoch_end(self, estimator: Any, metrics: Metrics) -> None:
        """Add the numeric metrics; the epoch is the step."""
        for name, value in flattened(metrics).items():
            if isinstance(value, int | float) and name != "epoch":
                self._writer.add_scalar(name.replace(".", "/"), value, metrics["epoch"])

    def on_train_end(self, estimator: Any) -> None:
        """Close the log."""
        self._writer.close()
        del self._writer  # open files cannot be copied with the estimator


def _summary_writer() -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise InputError(
            "TensorBoardLogger needs a package that is not installed: pip install tensorboard"
        ) from None
    return SummaryWriter


HOOKS = ("on_train_begin", "on_epoch_begin", "on_batch_end", "on_epoch_end", "on_train_end")


def check_callbacks(callbacks: Any) -> None:
    """Raise `InputError` unless `callbacks` is a list of objects with hooks."""
    if isinstance(callbacks, str) or not isinstance(callbacks, Sequence):
        raise InputError(f"callbacks is {callbacks!r}: give a list of callbacks")
    for callback in callbacks:
        if isinstance(callback, type):
            raise InputError(f"callback {callback.__name__} is a class: give an object of it")
        if not any(hasattr(callback, hook) for hook in HOOKS):
            raise InputError(
                f"callback {callback!r} has no hook: give it one of {', '.join(HOOKS)}"
            )


class Hooks:
    """Calls the hooks of several callbacks in order."""

    def __init__(self, callbacks: Iterable[Any], estimator: Any) -> None:
        self.callbacks = list(callbacks)
        self.estimator = estimator
        self._begun: list[Any] = []
        self._of_batches = [
            callback.on_batch_end
            for callback in self.callbacks
            if hasattr(callback, "on_batch_end")
            and getattr(type(callback), "on_batch_end", None) is not Callback.on_batch_end
        ]

    def train_begin(self) -> None:
        """Call `on_train_begin`, before the first epoch."""
        for callback in self.callbacks:
            if hasattr(callback, "on_train_begin"):
                callback.on_train_begin(self.estimator)
            self._begun.append(callback)

    def epoch_begin(self, metrics: Metrics) -> None:
        """Call `on_epoch_begin`, before an epoch."""
        for callback in self.callbacks:
            if hasattr(callback, "on_epoch_begin"):
                callback.on_epoch_begin(self.estimator, metrics)

    def batch_end(self, metrics: Metrics, loss: Tensor) -> None:
        """Call `on_batch_end` after a step, where a callback has it."""
        if not self._of_batches:
            return
        for on_batch_end in self._of_batches:
            on_batch_end(self.estimator, {**metrics, "loss": float(loss.detach())})
        self.estimator.network_.train()  # transform leaves it in evaluation mode

    def epoch_end(self, run: Run, metrics: Metrics) -> None:
        """Call `on_epoch_end`; after one that stops the training, the others are still called."""
        for callback in self.callbacks:
            if hasattr(callback, "on_epoch_end"):
                run.stopped = bool(callback.on_epoch_end(self.estimator, metrics)) or run.stopped

    def train_end(self) -> None:
        """Call `on_train_end` in reverse order, also after a failed training."""
        with ExitStack() as stack:  # calls all of them, even if one fails
            for callback in self._begun:
                if hasattr(callback, "on_train_end"):
                    stack.callback(callback.on_train_end, self.estimator)


class EpochTimer(Callback):
    """Add the seconds of an epoch to its metrics."""

    def on_epoch_begin(self, estimator: Any, metrics: Metrics) -> None:
        """Start the clock."""
        self._started = time.perf_counter()

    def on_epoch_end(self, estimator: Any, metrics: Metrics) -> None:
        """Read the clock."""
        metrics["seconds"] = time.perf_counter() - self._started


class KeepBest(Callback):
    """Keep the best epoch in ``run.best``; stop after `patience` epochs without a better one.

    Parameters
    ----------
    run : Run
    patience : int, optional
        None: train all epochs.
    watch : str
        The metric that is lowest in the best epoch. The training "loss" belongs to the weights
        before the epoch, so these are kept; any other metric is measured after the epoch.
    first : int
        The first epoch that counts, from 0: earlier epochs have another loss.
    """

    def __init__(
        self, run: Run, *, patience: int | None, watch: str = "loss", first: int = 0
    ) -> None:
        self.run = run
        self.patience = patience
        self.watch = watch
        self.first = first

    def on_train_begin(self, estimator: Any) -> None:
        """Stop a resumed run whose patience has run out."""
        self.run.stopped = self._over()

    def on_epoch_begin(self, estimator: Any, metrics: Metrics) -> None:
        """Copy the weights to which the loss of the epoch belongs."""
        if self.watch == "loss":
            self._weights = self.run.weights()

    def on_epoch_end(self, estimator: Any, metrics: Metrics) -> bool:
        """Compare with the best epoch so far."""
        value = metrics.get(self.watch)
        if value is not None and metrics["epoch"] > self.first and value < self.run.best.loss:
            weights = self._weights if self.watch == "loss" else self.run.weights()
            self.run.best.keep(value, metrics["epoch"], weights)
        return self._over()

    def _over(self) -> bool:
        best, done = self.run.best.epoch, len(self.run.history)
        return self.patience is not None and best > 0 and done - best >= self.patience


class ProgressBar(Callback):
    """Show epoch, loss, spread of the weights and time left on stderr; see `progress_bar`."""

    def __init__(self, title: str, epochs: int, *, show: bool) -> None:
        self.bar = progress_bar(title, epochs, unit="epoch", show=show)

    def on_train_begin(self, estimator: Any) -> None:
        """Show the bar."""
        self._report: Report = self.bar.__enter__()
        self._done = len(getattr(estimator, "history_", ()))
        estimator._note = lambda doing: self._report(self._done, doing)

    def on_epoch_end(self, estimator: Any, metrics: Metrics) -> None:
        """Move the bar."""
        self._done = metrics["epoch"]
        self._report(metrics["epoch"], training_note(metrics))

    def on_train_end(self, estimator: Any) -> None:
        """Close the bar."""
        estimator._note = None
        self.bar.__exit__(None, None, None)


class MetricsFile(Callback):
    """Write the metrics of each epoch as a line of metrics.jsonl."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "metrics.jsonl"

    def on_train_begin(self, estimator: Any) -> None:
        """Drop lines of epochs after the last checkpoint: these epochs are repeated."""
        lines = "".join(json.dumps(metrics) + "\n" for metrics in estimator.history_)
        write_text(self.path, lines)

    def on_epoch_end(self, estimator: Any, metrics: Metrics) -> None:
        """Add a line."""
        append_line(self.path, json.dumps(metrics))


CHECKPOINT = "checkpoint.safetensors"


class Checkpoints(Callback):
    """Write an atomic checkpoint after an epoch, if the last one is older than `seconds`.

    The last epoch always gets one.
    """

    def __init__(
        self, run: Run, folder: Path, settings: dict[str, Any], *, epochs: int, seconds: float
    ) -> None:
        self.run = run
        self.folder = folder
        self.settings = settings
        self.epochs = epochs
        self.seconds = seconds
        self._written = -math.inf

    def on_train_begin(self, estimator: Any) -> None:
        """Remove temporary files of a killed process."""
        remove_temporary(self.folder)

    def on_epoch_end(self, estimator: Any, metrics: Metrics) -> None:
        """Write a checkpoint after `seconds`, and after the last epoch."""
        now = time.monotonic()
        last = self.run.stopped or metrics["epoch"] == self.epochs
        if last or now - self._written >= self.seconds:
            self._written = now
            self.run.snapshot(self.settings).write(self.folder / CHECKPOINT)
