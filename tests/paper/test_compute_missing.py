"""Every cell is computed once, by whichever process, and a mishap costs no other cell."""

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from augcl.errors import InputError
from augcl.files import read_record, write_json
from augcl.paper.cells import Cell, compute_missing
from augcl.paper.records import cell_file, merge
from augcl.runs.run import Spec

SCRIPT = Path(__file__).parent / "one_folder.py"
CELLS = [Cell(Spec("MUTAG", hardness=h), seed) for h in ("none", "dcl") for seed in (0, 1)]
BROKEN = CELLS[2]


def names(cells):
    return sorted(cell.name for cell in cells)


def rubbish(folder):
    return [p for p in folder.rglob("*") if p.suffix in (".lock", ".tmp")]


@pytest.fixture
def computed(monkeypatch):
    """The cells computed so far, in order; computing costs nothing."""
    taken = []

    def compute(cell, out, data_dir):
        taken.append(cell)
        if cell == BROKEN:
            raise InputError("no such luck")
        write_json(cell.path(out), {"seed": cell.seed})

    monkeypatch.setattr(Cell, "compute", compute)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # workers set their own
    return taken


def test_a_cell_is_computed_once(computed, tmp_path):
    whole = [cell for cell in CELLS if cell != BROKEN]
    for _ in range(2):
        assert compute_missing(whole, tmp_path, data_dir=None, jobs=1) == []
    assert names(computed) == names(whole)
    for cell in whole:
        assert read_record(cell.path(tmp_path)) == {"seed": cell.seed}


def test_a_cell_that_is_asked_for_twice_is_computed_once(computed, tmp_path):
    other_words = Cell(Spec("mutag", hardness="none"), 0)
    compute_missing([CELLS[0], CELLS[0], other_words], tmp_path, data_dir=None, jobs=1)
    assert len(computed) == 1


def test_what_a_killed_process_left_of_a_finished_cell_goes(computed, tmp_path):
    compute_missing(CELLS[:1], tmp_path, data_dir=None, jobs=1)
    result = CELLS[0].path(tmp_path)
    work = result.with_suffix("")
    work.mkdir()
    (work / "victim").mkdir()  # an attack's cell has trainings in folders of their own
    for name in ("checkpoint.safetensors", "metrics.jsonl", ".checkpoint.safetensors.abc.tmp"):
        (work / name).touch()
        (work / "victim" / name).touch()
    compute_missing(CELLS[:1], tmp_path, data_dir=None, jobs=1)
    assert list(result.parent.iterdir()) == [result]
    work.mkdir()
    (work / "of somebody else").touch()
    compute_missing(CELLS[:1], tmp_path, data_dir=None, jobs=1)
    assert (work / "of somebody else").exists()


def test_a_failure_is_told_and_costs_no_other_cell(computed, tmp_path):
    (failure,) = compute_missing(CELLS, tmp_path, data_dir=None, jobs=1)
    assert failure.cell == BROKEN
    assert str(failure) == "GraphCL+dcl on MUTAG, seed 0: InputError: no such luck"
    assert [cell for cell in CELLS if not cell.path(tmp_path).exists()] == [BROKEN]
    assert computed.count(BROKEN) == 1
    assert rubbish(tmp_path) == []


def test_a_failed_cell_is_tried_again_next_time(computed, tmp_path):
    for _ in range(2):
        assert len(compute_missing(CELLS, tmp_path, data_dir=None, jobs=1)) == 1
    assert names(computed) == names([*CELLS, BROKEN])


def test_long_trainings_come_first(computed, tmp_path):
    cells = [Cell(Spec("MUTAG", hardness="none", epochs=n), 0) for n in (10, 0, 160, 40)]
    compute_missing(cells, tmp_path, data_dir=None, jobs=1)
    assert [cell.spec.epochs for cell in computed] == [160, 40, 10, 0]


def test_what_a_killed_process_left_is_removed(computed, tmp_path):
    path = CELLS[0].path(tmp_path)
    path.parent.mkdir(parents=True)
    (path.parent / f".{path.name}.abc.tmp").write_text("half a rec")
    path.with_suffix(".lock").touch()
    compute_missing(CELLS[:1], tmp_path, data_dir=None, jobs=1)
    assert [p.name for p in path.parent.iterdir()] == ["seed-0.json"]


def test_the_lock_of_a_process_killed_right_after_its_result_is_removed(computed, tmp_path):
    compute_missing(CELLS[:1], tmp_path, data_dir=None, jobs=1)
    CELLS[0].path(tmp_path).with_suffix(".lock").touch()
    compute_missing(CELLS[:1], tmp_path, data_dir=None, jobs=1)
    assert rubbish(tmp_path) == []
    assert len(computed) == 1


def test_what_another_process_writes_at_this_moment_is_left_alone(computed, tmp_path):
    first, second = (cell.path(tmp_path) for cell in CELLS[:2])
    second.parent.mkdir(parents=True)
    writing = second.parent / f".{second.name}.abc.tmp"
    writing.write_text("half a rec")
    compute_missing(CELLS[:1], tmp_path, data_dir=None, jobs=1)
    assert first.exists()
    assert writing.exists()


@dataclass(frozen=True)
class Errand:
    """A cell that takes a moment, and whose record is the process that computed it."""

    seed: int
    fatal: bool = False

    @property
    def name(self):
        return f"errand {self.seed}"

    @property
    def order(self):
        return (self.seed,)

    def path(self, out):
        return cell_file(out, "errands", "errand", self.seed)

    def compute(self, out, data_dir):
        time.sleep(0.2)
        if self.fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        write_json(self.path(out), {"process": os.getpid()})


def test_workers_do_all_but_the_cell_that_kills_one_of_them(tmp_path):
    errands = [Errand(seed, fatal=seed == 3) for seed in range(8)]
    (failure,) = compute_missing(errands, tmp_path, data_dir=None, jobs=2)
    assert failure.cell == errands[3]
    assert failure.reason.startswith("its process ended (A worker process")
    others = [errand for errand in errands if errand != errands[3]]
    processes = {read_record(errand.path(tmp_path))["process"] for errand in others}
    assert len(processes) >= 2
    assert os.getpid() not in processes


def test_an_interruption_ends_the_workers_too(tmp_path, monkeypatch):
    @contextmanager
    def bar(title, total, **_):
        def report(done, note):
            if done:
                raise KeyboardInterrupt

        yield report

    monkeypatch.setattr("augcl.paper.cells.progress_bar", bar)
    errands = [Errand(seed) for seed in range(40)]
    with pytest.raises(KeyboardInterrupt):
        compute_missing(errands, tmp_path, data_dir=None, jobs=2)
    time.sleep(1)
    done = len(list(tmp_path.rglob("*.json")))
    time.sleep(1)
    assert len(list(tmp_path.rglob("*.json"))) == done < 20


def test_a_merged_cell_is_not_computed_again(computed, tmp_path):
    compute_missing(CELLS[:2], tmp_path, data_dir=None, jobs=1)
    assert merge(tmp_path) == {"MUTAG": 2}
    assert compute_missing(CELLS[:2], tmp_path, data_dir=None, jobs=1) == []
    assert len(computed) == 2
    assert [path.name for path in tmp_path.rglob("*")] == ["MUTAG.jsonl"]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder in which processes shared others; codes.json has their exit codes."""
    place = tmp_path_factory.mktemp("shared")
    done = subprocess.run(
        [sys.executable, SCRIPT, place], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    (place / "codes.json").write_text(done.stdout)
    return place


def log(folder):
    return (folder / "log").read_text().splitlines()


def test_every_process_ended_as_it_should(place):
    assert json.loads((place / "codes.json").read_text()) == {
        "together": [0, 0],
        "waiting": [0, 0],
        "killed": [-9, 0],
        "failing": [1, 0],
        "latecomer": [1, 0, 0],
    }


def test_two_processes_share_the_cells_of_a_folder(place):
    places, seeds = zip(*(line.split() for line in log(place / "together")), strict=True)
    assert sorted(seeds) == [f"seed-{n}" for n in range(8)]
    assert set(places) == {"a", "b"}


def test_who_waits_for_a_cell_does_not_compute_it_again(place):
    assert log(place / "waiting") == ["slow seed-0", "quick seed-1"]


def test_the_cell_of_a_killed_process_is_taken_over(place):
    assert (place / "killed" / "before").read_text().splitlines() == [
        "killed seed-0",
        "heir seed-1",
    ]
    assert log(place / "killed")[2:] == ["heir seed-0"]


def test_the_cell_of_a_process_that_failed_is_taken_over(place):
    assert log(place / "failing") == ["unlucky seed-0", "heir seed-1", "heir seed-0"]


def test_who_comes_late_leaves_the_cell_to_the_one_that_took_it_over(place):
    assert log(place / "latecomer") == ["unlucky seed-0", "heir seed-1", "heir seed-0"]


def test_nothing_but_results_remains(place):
    assert rubbish(place) == []
    assert len(list(place.rglob("seed-*.json"))) == 8 + 4 * 2
