"""Tasks for the workers of a cluster, which import this file."""

import os
import signal
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Numbered:
    """A task that says in `signs` who computes it, waits for the sign "go" and writes a file."""

    number: int
    out: Path
    signs: Path
    data_dir: str | None = None
    dataset: str | None = None
    wait: bool = False
    deadly: bool = False

    @property
    def finished(self):
        return (self.out / f"{self.number}.txt").exists()

    def begun(self):
        return [path for path in [self.out / f"{self.number}.part"] if path.exists()]

    @contextmanager
    def claim(self, *, wait):
        yield not self.finished

    def compute(self, out, data_dir):
        (self.signs / f"{self.number}-{os.getpid()}").touch()
        if self.deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        while not (self.signs / "go").exists():
            time.sleep(0.02)
        part = out / f"{self.number}.part"
        before = part.read_text() if part.exists() else ""
        part.unlink(missing_ok=True)
        (out / f"{self.number}.txt").write_text(f"{before}result {self.number}")
