"""Trainings that are stopped at a chosen epoch."""

from augcl.training import loop


class StopError(Exception):
    pass


def stop_after(monkeypatch, epochs):
    """Let training fail when so many epochs are done and written."""
    write = loop.Snapshot.write

    def write_and_stop(snapshot, path):
        write(snapshot, path)
        if len(snapshot.facts["history"]) == epochs:
            raise StopError

    monkeypatch.setattr(loop.Snapshot, "write", write_and_stop)


def without_seconds(history):
    return [{k: v for k, v in metrics.items() if k != "seconds"} for metrics in history]
