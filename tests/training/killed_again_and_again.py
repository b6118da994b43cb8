"""Trains in children that are killed with signal 9; run by test_kill.py as a process of its own.

    python killed_again_and_again.py FOLDER

FOLDER/calm holds a run never disturbed, FOLDER/aimed one that was killed at the worst places and
FOLDER/random one that was killed at random moments, both resumed until they were done. Prints how
many epochs were done at each kill. Children are forked, so that each has torch at hand at once;
the parent itself never trains and starts no thread.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np
import torch

import augcl
import augcl.hardness.affinity
import augcl.training.callbacks
from augcl.training.checkpoint import Snapshot
from augcl.training.loop import make_fabric

AIMS = ("half a checkpoint", "line", "rename", "fit", "half a checkpoint", "line", "rename")
MOST = 30  # kills at random; each waits longer on average than the one before


def train(graphs: augcl.GraphSet, folder: Path) -> None:
    hardness = augcl.AffinityUncertainty(passes=3)
    shape = {"epochs": 12, "warmup": 4, "batch_size": 64}  # two batches an epoch
    model = augcl.GraphCL(hardness=hardness, random_state=3, progress=False, **shape)
    model.fit(graphs, folder=folder, resume=True)
    model.save(folder / "model")
    np.save(folder / "Z.npy", model.transform(graphs))


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def aim(at: str) -> None:
    """Let this process die at a place where it hurts."""
    write, rename = Path.write_bytes, Path.replace

    def half(path: Path, content: bytes) -> int:
        write(path, content[: len(content) // 2])
        die()
        return 0

    def then_die(function):
        def called(*arguments, **options):
            function(*arguments, **options)
            die()

        return called

    if at == "half a checkpoint":
        Path.write_bytes = half
    elif at == "line":  # the epoch is in metrics.jsonl, but not in the checkpoint
        callbacks = augcl.training.callbacks
        callbacks.append_line = then_die(callbacks.append_line)
    elif at == "rename":
        # The first file that is renamed is metrics.jsonl, when the run is resumed.
        calls = iter([rename])
        Path.replace = lambda *given: next(calls, then_die(rename))(*given)
    elif at == "fit":  # the uncertainty model is trained, but not written
        augcl.hardness.affinity.train_network = then_die(augcl.hardness.affinity.train_network)


def child(graphs: augcl.GraphSet, folder: Path, at: str = "") -> int:
    pid = os.fork()
    if pid == 0:
        aim(at)
        train(graphs, folder)
        os._exit(0)
    return pid


def epochs_done(folder: Path) -> int:
    file = folder / "checkpoint.safetensors"
    if not file.exists():
        return 0
    return len(Snapshot.read(file).facts["history"])


def main(place: Path) -> None:
    torch.set_num_threads(1)
    augcl.GraphCL.checkpoint_seconds = 0.0
    make_fabric("cpu")  # slow to import, and children need it
    graphs = augcl.load("MUTAG").select(range(0, 188, 2))

    started = time.monotonic()
    os.waitpid(child(graphs, place / "calm"), 0)
    calm_seconds = time.monotonic() - started

    aimed = []
    for at in AIMS:
        _, status = os.waitpid(child(graphs, place / "aimed", at), 0)
        assert os.WIFSIGNALED(status), at
        assert os.WTERMSIG(status) == signal.SIGKILL
        aimed.append(epochs_done(place / "aimed"))
    os.waitpid(child(graphs, place / "aimed"), 0)

    at_random = []
    for number in range(MOST):
        pid = child(graphs, place / "random")
        time.sleep(random.uniform(0, 0.3 + number / 10) * calm_seconds)
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        if not os.WIFSIGNALED(status):
            break
        at_random.append(epochs_done(place / "random"))
    else:
        os.waitpid(child(graphs, place / "random"), 0)
    print(json.dumps({"aimed": aimed, "random": at_random}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
