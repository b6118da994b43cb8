import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from augcl.training.launch import CALLER


def rank_of(pid, caller):
    """The rank of a process that `caller` has started; None of any other."""
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    except OSError:
        return None
    facts = dict(entry.split("=", 1) for entry in environment if "=" in entry)
    return int(facts["RANK"]) if facts.get(CALLER) == str(caller) else None


def processes_of(caller):
    found = {rank_of(p.name, caller): int(p.name) for p in Path("/proc").glob("[0-9]*")}
    return {rank: pid for rank, pid in found.items() if rank is not None}


def lines(file):
    return file.read_text().splitlines() if file.exists() else []


@pytest.mark.skipif(sys.platform != "linux", reason="finds the processes in /proc")
def test_a_killed_process_ends_the_run_which_one_process_resumes(augcl, tmp_path):
    out = tmp_path / "run"
    options = ["train", "MUTAG", "--method", "GraphCL", "--epochs", "100", "--seeds", "1"]
    options += ["--no-evaluate", "--out", str(out)]
    options += ["--precision", "64-true"]  # that of 32 bits grows from the first epoch on
    command = [sys.executable, "-m", "augcl", *options, "--devices", "2"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        while len(lines(out / "seed-0" / "metrics.jsonl")) < 3:
            assert running.poll() is None, running.stderr.read()
            time.sleep(0.02)
        os.kill(processes_of(running.pid)[1], signal.SIGKILL)
        _, said = running.communicate(timeout=30)
    assert running.returncode == 2
    assert said.count("\n") == 1
    assert "process 1 of 2 was killed" in said
    assert not processes_of(running.pid)
    before = [json.loads(line) for line in lines(out / "seed-0" / "metrics.jsonl")]
    assert 3 <= len(before) < 100
    assert augcl(*options, "--resume").code == 0
    after = [json.loads(line) for line in lines(out / "metrics.jsonl")]
    assert [epoch["epoch"] for epoch in after] == list(range(1, 101))
    losses = [[epoch["loss"] for epoch in epochs[:3]] for epochs in (before, after)]
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)


def test_a_mistake_is_told_once(augcl, monkeypatch, tmp_path):
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "0")
    answer = augcl("compare", "MUTAG")
    assert answer.code == 2
    assert "without torchrun" in answer.err
    answer = augcl("train", "MUTAG", "--jobs", "2", "--out", tmp_path / "run")
    assert answer.code == 2
    assert "leave --jobs and --cluster out" in answer.err
    answer = augcl("train", "MUTAG", "--method", "WLKernel", "--out", tmp_path / "run")
    assert answer.code == 2
    assert "several processes cannot train WLKernel: GraphCL," in answer.err
