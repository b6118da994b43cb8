"""Several processes train one model: the same losses and embeddings, and an end in common."""

import os
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import augcl
from augcl.errors import InputError, LostProcessError
from augcl.training import launch
from augcl.training.launch import CALLER, LOST, environments, last_word, run_together
from augcl.training.processes import SHARED
from same_in_every_world import node_model, ring, trained

SCRIPT = Path(__file__).parents[1] / "same_in_every_world.py"


@dataclass
class StopAfter:
    epochs: int

    def on_epoch_end(self, estimator, metrics):
        return metrics["epoch"] == self.epochs


@pytest.fixture(autouse=True)
def no_world(monkeypatch):
    ours = {"RANK", "LOCAL_RANK", "NODE_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", CALLER}
    for name in ours | {name for name in os.environ if name.startswith("SLURM_")}:
        monkeypatch.setenv(name, "")  # so that it is put back in any case
        monkeypatch.delenv(name)


@pytest.fixture(scope="module")
def alone():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two passes are too few for the uncertainty model
        return {name: (losses, embeddings) for name, losses, embeddings in trained()}


@pytest.mark.parametrize("world", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_every_world_gives_the_same_losses_and_embeddings(world, alone, tmp_path):
    file, folder = tmp_path / "found.npz", tmp_path / "stopped"
    node_model(callbacks=[StopAfter(2)]).fit(ring(1200), folder=folder)
    command = [sys.executable, str(SCRIPT), str(file), str(folder)]
    assert run_together(command, environments(world, 1)) == 0
    found = np.load(file)
    assert found["traffic"].all()  # the work was shared in every way
    for name, (losses, embeddings) in alone.items():
        assert len(set(losses)) == 5
        np.testing.assert_allclose(found[f"{name}-losses"], losses, rtol=0, atol=1e-5)
        np.testing.assert_allclose(found[f"{name}-embeddings"], embeddings, rtol=0, atol=1e-4)
    np.testing.assert_allclose(found["resumed"], alone["GCA"][1], rtol=0, atol=1e-4)
    assert len((folder / "metrics.jsonl").read_text().splitlines()) == 5


def test_methods_that_cannot_be_shared_say_which_can(monkeypatch):
    assert all(hasattr(augcl, name) for name in SHARED)
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(InputError, match=r"processes cannot train DGI: GraphCL, .* and GCA can"):
        augcl.DGI().fit(ring(100))


def command(code):
    return [sys.executable, "-c", "import os, sys, time; rank = int(os.environ['RANK']); " + code]


def test_a_killed_process_ends_all_and_is_named():
    code = "os.kill(os.getpid(), 9) if rank == 2 else time.sleep(60)"
    with pytest.raises(InputError, match=r"process 2 of 3 was killed \(SIGKILL\).*--resume"):
        run_together(command(code), environments(3, 1))


def test_who_lost_another_process_waits_for_the_one_to_blame():
    code = f"rank or time.sleep(0.3); sys.exit(2 if rank == 0 else {LOST})"
    assert run_together(command(code), environments(2, 1)) == 2


def test_a_process_lost_on_another_machine(monkeypatch):
    monkeypatch.setattr(launch, "GRACE", 0.1)
    code = f"time.sleep(60) if rank else sys.exit({LOST})"
    with pytest.raises(InputError, match="another machine"):
        run_together(command(code), environments(2, 1))


def test_all_end_well():
    code = "sys.exit(0 if os.environ['WORLD_SIZE'] == '2' else 1)"
    assert run_together(command(code), environments(2, 1)) == 0


def test_several_machines_have_one_numbering(monkeypatch):
    with pytest.raises(InputError, match="NODE_RANK, MASTER_ADDR, MASTER_PORT"):
        environments(2, 2)
    place = {"NODE_RANK": "1", "MASTER_ADDR": "first", "MASTER_PORT": "1234"}
    for name, value in place.items():
        monkeypatch.setenv(name, value)
    second = environments(2, 2)
    assert [(e["RANK"], e["LOCAL_RANK"], e["WORLD_SIZE"]) for e in second] == [
        ("2", "0", "4"),
        ("3", "1", "4"),
    ]
    assert {e["MASTER_ADDR"] for e in second} == {"first"}


def test_torchrun_and_slurm_have_started_the_processes_already(monkeypatch):
    slurm = {"PROCID": "3", "STEP_ID": "0", "NTASKS": "4", "LOCALID": "1", "NODEID": "1"}
    for name, value in slurm.items():
        monkeypatch.setenv(f"SLURM_{name}", value)
    with pytest.raises(InputError, match="srun --nodes 1 --ntasks-per-node 2"):
        environments(2, 1)
    assert environments(2, 2) is None
    ours = {name: os.environ[name] for name in ("RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE")}
    assert ours == {"RANK": "3", "WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "2"}
    for name, value in {"RANK": "0", "WORLD_SIZE": "2"}.items():
        monkeypatch.setenv(name, value)
    assert environments(1, 1) is None
    with pytest.raises(InputError, match="torchrun has started 2"):
        environments(3, 1)


def test_one_process_speaks_for_all(monkeypatch):
    mistake, lost = InputError("a mistake"), LostProcessError("another has ended")
    assert last_word(mistake) == "a mistake"
    assert last_word(lost) == "another has ended"  # torchrun names nobody
    monkeypatch.setenv(CALLER, "1")
    assert last_word(lost) is None
    monkeypatch.setattr(launch, "SAID", 0.0)
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")
    assert last_word(mistake) == "process 1: a mistake"
