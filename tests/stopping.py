"""Trainings that are stopped at a chosen epoch."""

import pytest

from augcl.training.checkpoint import Snapshot
from augcl.training.estimator import Estimator


class StopError(Exception):
    pass


def stop_after(monkeypatch, epochs):
    """Let training fail when so many epochs are done and written."""
    write = Snapshot.write

    def write_and_stop(snapshot, path):
        write(snapshot, path)
        if len(snapshot.facts.get("history", ())) == epochs:
            raise StopError

    monkeypatch.setattr(Estimator, "checkpoint_seconds", 0.0)
    monkeypatch.setattr(Snapshot, "write", write_and_stop)


def stopped_and_resumed(make, data, folder, epochs):
    """The model of `make()`, stopped when so many epochs were done, and trained on by another."""
    with pytest.MonkeyPatch.context() as patch:
        stop_after(patch, epochs)
        with pytest.raises(StopError):
            make().fit(data, folder=folder)
    return make().fit(data, folder=folder, resume=True)


def without_seconds(history):
    return [{k: v for k, v in metrics.items() if k != "seconds"} for metrics in history]
