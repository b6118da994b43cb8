import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from augcl.training.checkpoint import Snapshot

SCRIPT = Path(__file__).parent / "killed_again_and_again.py"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """The folder with a calm run and two that were killed; kills.json tells when."""
    place = tmp_path_factory.mktemp("kill")
    done = subprocess.run(
        [sys.executable, SCRIPT, place], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    (place / "kills.json").write_text(done.stdout)
    return place


@pytest.fixture(params=["aimed", "random"])
def runs(request, place):
    """The folder of a run never disturbed, and that of a run killed many times."""
    return place / "calm", place / request.param


def metrics(run):
    found = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in line.items() if k != "seconds"} for line in found]


def test_the_kills_fell_before_during_and_after_the_uncertainty_fit(place):
    kills = json.loads((place / "kills.json").read_text())
    # Epochs in the checkpoint: half of the first one, its metrics only, all of it; then the fit
    # before epoch 5, and the same three in epoch 5.
    assert kills["aimed"] == [0, 0, 1, 4, 4, 4, 5]
    assert len(kills["random"]) > 1


@pytest.mark.parametrize("name", ["checkpoint.safetensors", "model/model.safetensors"])
def test_a_run_killed_again_and_again_ends_in_the_same_weights(runs, name):
    calm, killed = (Snapshot.read(run / name) for run in runs)
    assert killed.tensors.keys() == calm.tensors.keys()
    assert any(key.startswith("learned.") for key in calm.tensors)
    for key, tensor in calm.tensors.items():
        assert torch.equal(killed.tensors[key], tensor), key


def test_a_run_killed_again_and_again_gives_the_same_embeddings(runs):
    calm, killed = ((run / "Z.npy").read_bytes() for run in runs)
    assert killed == calm


def test_a_run_killed_again_and_again_has_each_epoch_once(runs):
    calm, killed = map(metrics, runs)
    assert [m["epoch"] for m in killed] == list(range(1, 13))
    assert killed == calm


def test_a_run_killed_again_and_again_leaves_no_rubbish(runs):
    calm, killed = (sorted(str(p.relative_to(run)) for p in run.rglob("*")) for run in runs)
    assert killed == calm
