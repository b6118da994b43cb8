import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from augcl.training.checkpoint import Snapshot

SCRIPT = Path(__file__).parent / "killed_again_and_again.py"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The folder of a run never disturbed, that of a run killed many times, and the kills."""
    place = tmp_path_factory.mktemp("kill")
    done = subprocess.run(
        [sys.executable, SCRIPT, place], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return place / "calm", place / "killed", json.loads(done.stdout)


def test_the_kills_fell_before_during_and_after_the_uncertainty_fit(runs):
    _, _, kills = runs
    # Epochs in the checkpoint: half of the first one, its metrics only, all of it; the fit before
    # epoch 5 (after 4), and the same three in epoch 5.
    assert kills["aimed"] == [0, 0, 1, 4, 4, 4, 5]
    assert len(kills["random"]) >= 1


@pytest.mark.parametrize("name", ["checkpoint.safetensors", "model/model.safetensors"])
def test_a_run_killed_again_and_again_ends_in_the_same_weights(runs, name):
    calm, killed, _ = (Snapshot.read(r / name) if isinstance(r, Path) else r for r in runs)
    assert killed.tensors.keys() == calm.tensors.keys()
    assert any(key.startswith("learned.") for key in calm.tensors)
    for key, tensor in calm.tensors.items():
        assert torch.equal(killed.tensors[key], tensor), key


def test_a_run_killed_again_and_again_gives_the_same_embeddings(runs):
    calm, killed, _ = runs
    assert (killed / "Z.npy").read_bytes() == (calm / "Z.npy").read_bytes()
    assert np.isfinite(np.load(calm / "Z.npy")).all()


def test_a_run_killed_again_and_again_has_each_epoch_once(runs):
    calm, killed, _ = (
        [json.loads(line) for line in (r / "metrics.jsonl").read_text().splitlines()]
        if isinstance(r, Path)
        else r
        for r in runs
    )
    assert [m["epoch"] for m in killed] == list(range(1, 13))
    for metrics in (*calm, *killed):
        del metrics["seconds"]
    assert killed == calm


def test_a_run_killed_again_and_again_leaves_no_rubbish(runs):
    calm, killed, _ = runs
    names = [sorted(str(p.relative_to(r)) for p in r.rglob("*")) for r in (calm, killed)]
    assert names[0] == names[1]
