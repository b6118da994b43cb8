"""Cells and seeds on a real Dask cluster: a scheduler and workers that are processes of their own.

The workers cannot read the folder of the caller: data and results travel.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from augcl.data.loading import PACKAGED
from augcl.runs.workers import open_workers
from cluster_tasks import Numbered

pytest.importorskip("distributed", reason="optional: Dask is not installed")
import distributed

from augcl.runs import cluster as cluster_module

TESTS = Path(__file__).parents[1]
QUIET = ("--no-dashboard",)


class Machines:
    """A scheduler and workers that end with the tests."""

    def __init__(self, folder, hidden):
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.environment = {
            **os.environ,
            "AUGCL_HIDDEN": str(hidden),
            "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path]),
        }
        self.scheduler = self._start(
            "scheduler", "--host", "127.0.0.1", "--port", 0, "--scheduler-file", self.file, *QUIET
        )
        wait_for(self.file.exists)
        self.workers = []

    def add_worker(self):
        number = len(self.workers)
        own = ("--local-directory", self.folder / f"worker-{number}")
        alone = ("--no-nanny", "--nthreads", 1, "--preload", TESTS / "other_machine.py")
        worker = self._start("worker", "--scheduler-file", self.file, *alone, *own, *QUIET)
        self.workers.append(worker)

    def _start(self, what, *arguments):
        log = (self.folder / f"{what}-{time.monotonic_ns()}.log").open("w")
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *map(str, arguments)]
        with log:
            return subprocess.Popen(
                command, stdout=log, stderr=log, cwd=self.folder, env=self.environment
            )

    def close(self):
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


def wait_for(condition):
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture(scope="module")
def succeeds(augcl):
    """Run a command that must succeed without a warning; progress of a slow machine is none."""

    def run(*arguments):
        answer = augcl(*arguments)
        assert answer.code == 0, answer.err
        assert "warning" not in answer.err
        return answer.out

    return run


@pytest.fixture(scope="module")
def hidden(tmp_path_factory):
    """The disk of the caller, which no worker can read."""
    return tmp_path_factory.mktemp("caller")


@pytest.fixture(scope="module")
def machines(tmp_path_factory, hidden):
    found = Machines(tmp_path_factory.mktemp("machines"), hidden)
    try:
        for _ in range(2):
            found.add_worker()
        yield found
    finally:
        found.close()


@pytest.fixture(scope="module")
def mine(hidden):
    """A data set that only the caller has."""
    return shutil.copy(PACKAGED / "MUTAG.zip", hidden / "mine.zip")


def tables(folder):
    """The files of a table; its page also shows what was measured: seconds and memory."""
    files = [p for p in folder.iterdir() if p.is_file()]
    assert any(p.suffix == ".html" for p in files)
    return {p.name: p.read_bytes() for p in files if p.suffix != ".html"}


def records(folder):
    """The records of cells without what was measured: seconds and memory."""
    files = {str(path.relative_to(folder)): path for path in (folder / "cells").rglob("*.json")}
    found = {name: json.loads(path.read_text()) for name, path in files.items()}
    return {
        name: {key: value for key, value in record.items() if key not in ("seconds", "use")}
        for name, record in found.items()
    }


TABLE = ("reproduce", "graph-classification", "--datasets", "MUTAG", "--seeds", 1)
TABLE += ("--methods", "untrained,GraphCL", "--epochs", 1)


@pytest.fixture(scope="module")
def here(succeeds, hidden):
    """A table that was computed without a cluster."""
    pytest.importorskip("matplotlib", reason="optional: matplotlib is not installed")
    succeeds(*TABLE, "--jobs", 1, "--out", hidden / "here")
    return hidden / "here"


def test_a_table_is_the_same_byte_for_byte_as_without_a_cluster(succeeds, machines, hidden, here):
    succeeds(*TABLE, "--cluster", machines.file, "--out", hidden / "there")
    assert tables(hidden / "there") == tables(here)
    assert records(hidden / "there") == records(here)
    assert [p for p in (hidden / "there").rglob("*") if p.suffix in (".lock", ".tmp")] == []


def test_a_table_is_the_same_when_a_worker_is_killed_at_a_cell(augcl, machines, hidden, here):
    machines.add_worker()
    killed = []

    def kill():
        with distributed.Client(scheduler_file=str(machines.file)) as client:
            client.wait_for_workers(3, timeout=120)
            ready.set()
            pids = client.run(os.getpid)
            busy = []

            def begun():
                busy[:] = [at for at, tasks in client.processing().items() if tasks]
                return busy

            wait_for(begun)
            (victim,) = [w for w in machines.workers if w.pid == pids[busy[0]]]
            victim.send_signal(signal.SIGKILL)
            killed.append(victim)

    ready = threading.Event()
    killer = threading.Thread(target=kill)
    killer.start()
    assert ready.wait(120)
    answer = augcl(*TABLE, "--cluster", machines.file, "--out", hidden / "survived")
    killer.join()
    assert (answer.code, len(killed)) == (0, 1)
    assert "is lost: its trainings start again elsewhere" in answer.err
    machines.workers.remove(killed[0])
    killed[0].wait()
    assert tables(hidden / "survived") == tables(here)
    assert records(hidden / "survived") == records(here)


def test_seeds_on_workers_that_are_sent_the_data_give_the_same_bits(
    succeeds, machines, mine, hidden
):
    command = ("train", mine, "--method", "GraphCL", "--epochs", 2, "--seeds", 2)
    command += ("--no-evaluate",)
    succeeds(*command, "--jobs", 1, "--out", hidden / "run-here")
    succeeds(*command, "--cluster", machines.file, "--out", hidden / "run-there")
    here, there = (
        np.load(hidden / run / "embeddings.npz")["Z"] for run in ("run-here", "run-there")
    )
    assert np.array_equal(here, there)
    # A seed that is finished is not trained again.
    shutil.rmtree(hidden / "run-there" / "seed-1")
    kept = (hidden / "run-there" / "seed-0" / "record.json").stat()
    succeeds(*command, "--cluster", machines.file, "--out", hidden / "run-there", "--resume")
    assert (hidden / "run-there" / "seed-0" / "record.json").stat() == kept
    again = np.load(hidden / "run-there" / "embeddings.npz")["Z"]
    assert np.array_equal(again, here)
    assert list(machines.folder.rglob("mine.zip")) == []  # the workers have deleted their copies


def test_rows_are_compared_on_a_cluster(succeeds, machines, mine, hidden):
    command = ("compare", mine, "--methods", "untrained,WLFeatures", "--seeds", 1)
    answer = succeeds(*command, "--cluster", machines.file, "--out", hidden / "compared", "--json")
    assert {row["name"] for row in json.loads(answer)["rows"]} == {"untrained", "WLFeatures"}


def test_what_a_lost_worker_was_computing_is_computed_elsewhere(machines, tmp_path, capfd):
    out, signs = tmp_path / "out", tmp_path / "signs"
    out.mkdir()
    signs.mkdir()
    (out / "0.part").write_text("continued: ")
    tasks = [Numbered(number, out, signs) for number in range(5)]
    victim = machines.workers[-1]
    ended = []
    with open_workers(str(machines.file), jobs=1) as workers:
        workers.client.wait_for_workers(2, timeout=120)

        def kill():
            try:
                wait_for(lambda: any(signs.glob(f"*-{victim.pid}")))
                victim.send_signal(signal.SIGKILL)
            finally:
                (signs / "go").touch()

        killer = threading.Thread(target=kill)
        killer.start()
        ended = list(workers.outcomes(tasks))
        killer.join()
    assert sorted(task.number for task, _ in ended) == list(range(5))
    assert [trouble for _, trouble in ended] == [None] * 5
    (lost,) = (p.name.split("-")[0] for p in signs.glob(f"*-{victim.pid}"))
    assert len(list(signs.glob(f"{lost}-*"))) == 2  # begun there, finished elsewhere
    texts = {p.name: p.read_text() for p in out.iterdir()}
    assert texts == {
        f"{n}.txt": ("continued: " if n == 0 else "") + f"result {n}" for n in range(5)
    }
    assert "is lost: its trainings start again elsewhere" in capfd.readouterr().err


def test_a_scheduler_that_does_not_answer_is_named(refused, monkeypatch, tmp_path):
    monkeypatch.setattr(cluster_module, "CONNECT", 1)
    line = refused(
        "train", "--epochs", 1, "--cluster", "tcp://127.0.0.1:1", "--out", tmp_path / "x"
    )
    assert "no Dask scheduler answers at tcp://127.0.0.1:1" in line


def test_what_is_no_cluster_is_refused(refused, tmp_path):
    for wrong in ("nowhere", "local:0", "local:x"):
        line = refused("train", "--cluster", wrong, "--out", tmp_path / "x")
        assert line.startswith(f"--cluster {wrong} is no cluster")
    assert "--cluster has no meaning for time" in refused(
        "reproduce", "time", "--cluster", "local:2", "--out", tmp_path / "t"
    )
