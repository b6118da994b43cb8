"""`augcl reproduce`: each table and figure from the command to its files, with tiny trainings."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from augcl.errors import InputError
from augcl.paper import hardness, headroom
from augcl.paper.cells import Cell
from augcl.paper.table import Setting

MUTAG = ("--datasets", "MUTAG", "--epochs", 2, "--jobs", 1)
THREE_ROWS = ("reproduce", "graph-classification", "--datasets", "MUTAG", "--epochs", 2)
THREE_ROWS += ("--methods", "untrained,GraphCL,DCL", "--seeds", 2)
FIGURE = {".svg", ".png", ".pdf"}


def flat(text):
    return " ".join(text.split())


def cell_files(out):
    """Which cells are finished; a file that was written again has another number or time."""
    found = [(path, path.stat()) for path in (out / "cells").rglob("seed-*.json")]
    return {path.relative_to(out): (state.st_ino, state.st_mtime_ns) for path, state in found}


def rubbish(out):
    return [path for path in out.rglob("*") if path.suffix in (".lock", ".tmp")]


@pytest.fixture(scope="module")
def place(tmp_path_factory, succeeds):
    """A folder with a table of three rows, and what was printed; other tables share its cells."""
    out = tmp_path_factory.mktemp("reproduce") / "out"
    printed = succeeds(*THREE_ROWS, "--jobs", 1, "--out", out)
    assert len(cell_files(out)) == 6
    assert rubbish(out) == []
    return out, printed


@pytest.fixture
def shared(place, succeeds):
    """Run one more reproduction on those cells; gives its JSON and the kinds of its files."""
    out, _ = place

    def run(name, *arguments):
        printed = json.loads(succeeds("reproduce", name, *arguments, "--out", out, "--json"))
        assert printed == json.loads((out / f"{name}.json").read_text())
        return printed, {path.suffix for path in out.glob(f"{name}.*")}

    return run


def test_the_table_is_printed_and_written(place):
    out, printed = place
    for row in ("untrained", "GraphCL", "DCL"):
        assert row in printed
    assert "published" in printed
    assert printed.rstrip().endswith("graph-classification.html")
    text = (out / "graph-classification.md").read_text()
    assert "| DCL | " in text
    assert "±: standard deviation over the seeds" in text
    assert "±: standard deviation over the seeds" in flat(printed)
    assert r"\begin{tabular}" in (out / "graph-classification.tex").read_text()


def test_the_verdict_is_printed_as_it_is_written(place):
    out, printed = place
    found = json.loads((out / "graph-classification.json").read_text())
    assert len(found["sentences"]) == 2
    for sentence in found["sentences"]:
        assert flat(sentence) in flat(printed)


def test_the_same_command_computes_nothing_and_says_the_same(place, augcl, monkeypatch):
    out, printed = place
    before = cell_files(out)
    monkeypatch.setattr(Cell, "compute", None)
    rows = ("--methods", "untrained", "--methods", "GraphCL, DCL,DCL", "--seeds", 2)
    arguments = ("--datasets", "mutag", *MUTAG[2:], *rows, "--out", out)
    answer = augcl("reproduce", "graph-classification", *arguments)
    assert (answer.code, answer.err, answer.out) == (0, "", printed)
    assert cell_files(out) == before


def test_killed_with_its_workers_it_goes_on_to_the_same_tables(place, succeeds, tmp_path):
    calm, _ = place
    killed = tmp_path / "killed"
    command = [sys.executable, "-c", "from augcl.cli.main import main; main()"]
    process = subprocess.Popen(
        [*command, *map(str, THREE_ROWS), "--jobs", "2", "--out", killed],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # its workers are in its group, and nobody else
    )
    deadline = time.monotonic() + 240
    while not cell_files(killed) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    assert process.communicate(timeout=60) == (b"", b"")
    done = cell_files(killed)
    assert 1 <= len(done) < 6

    succeeds(*THREE_ROWS, "--jobs", 1, "--out", killed)
    assert done.items() <= cell_files(killed).items()
    assert len(cell_files(killed)) == 6
    assert cell_files(killed).keys() <= cell_files(calm).keys()
    assert rubbish(killed) == []
    for ending in ("md", "tex", "json"):
        found, expected = (p / f"graph-classification.{ending}" for p in (killed, calm))
        assert found.read_bytes() == expected.read_bytes()


def test_json_is_all_that_is_printed(place, shared):
    found, _ = shared(*THREE_ROWS[1:])
    assert found["datasets"]["MUTAG"].keys() == {"untrained", "GraphCL", "DCL", "headroom"}
    assert len(found["datasets"]["MUTAG"]["DCL"]["runs"]) == 2


def test_convergence(place, shared):
    cells = cell_files(place[0])
    rows = ("--methods", "GraphCL,DCL", "--seeds", 2)
    found, kinds = shared("convergence", *MUTAG, *rows)
    assert {row: len(y) for row, y in found["losses"]["MUTAG"].items()} == {"GraphCL": 2, "DCL": 2}
    assert kinds >= FIGURE | {".md", ".tex", ".json"}
    assert cell_files(place[0]) == cells  # those of the table


@pytest.mark.parametrize(
    ("name", "values"), [("reward", ("1.7", "1.8")), ("alpha", ("1/μ", "1/(μ+δ)"))]
)
def test_sensitivity(shared, name, values):
    rows = ("--methods", ",".join(("GraphCL", *values)), "--seeds", 1)
    found, kinds = shared(name, *MUTAG, *rows)
    assert found["datasets"]["MUTAG"].keys() == {"GraphCL", *values, "headroom"}
    assert kinds >= FIGURE | {".md", ".tex", ".json"}


def test_ablation_whose_rows_have_commas_in_their_names(shared):
    rows = ("--methods", "GraphCL", "--methods", "k-means, distance")
    found, kinds = shared("ablation", *MUTAG, *rows, "--seeds", 1)
    assert found["datasets"]["MUTAG"]["k-means, distance"]["published_percent"] == [88.64, 0.83]
    assert kinds == {".md", ".tex", ".json", ".html"}


def test_convergence_tells_what_the_weights_alone_do(shared):
    arguments = ("--datasets", "MUTAG", "--epochs", 4, "--jobs", 1, "--seeds", 1)
    found, _ = shared("convergence", *arguments, "--methods", "GraphCL,AUGCL")
    assert found["onset"] == {"MUTAG, AUGCL": 2}
    jump = found["jumps"]["MUTAG, AUGCL"]
    assert 0 < jump["weighted"] < jump["plain"]
    assert jump["weights_at_the_end"] == pytest.approx([1], abs=0.1)  # every row has a mean of 1
    (sentence,) = found["sentences"]
    assert "after epoch 2" in sentence
    assert "change the loss from" in sentence


def test_improvement(place, shared):
    cells = cell_files(place[0])
    found, kinds = shared("improvement", *MUTAG, "--seeds", 1)
    assert found["datasets"]["MUTAG"]["published_points"] == 2.05
    assert found["datasets"]["MUTAG"]["difference"]["p"] <= 1
    assert kinds >= FIGURE | {".md", ".tex", ".json"}
    assert (
        len(cell_files(place[0])) <= len(cells) + 2
    )  # GraphCL's is that of the table; what needs no training


def test_figure_1_and_the_theorem_share_their_toy(place, shared):
    rows = ("--methods", "AUGCL-paper,AUGCL", "--jobs", 1)
    found, kinds = shared("figure-1", *rows, "--seeds", 2)
    assert {toy: rows.keys() for toy, rows in found["toys"].items()} == {
        toy: {"AUGCL-paper", "AUGCL"} for toy in ("apart", "close")
    }
    assert kinds == {".md", ".tex", ".json", ".html"}
    out, _ = place
    assert {path.suffix for path in out.glob("figure-1-close.*")} == FIGURE
    cells = cell_files(out)
    found, kinds = shared("theorem", *rows)
    assert found["forms"].keys() == {"AUGCL-paper", "AUGCL"}
    assert kinds >= FIGURE | {".md", ".tex", ".json"}
    assert cell_files(out) == cells


def test_time(shared):
    found, kinds = shared("time", *MUTAG, "--methods", "DCL", "--seeds", 1)
    assert found["MUTAG"]["DCL"]["ratio"] > 0
    assert kinds == {".md", ".tex", ".json", ".html"}


def test_hardness(shared, monkeypatch):
    monkeypatch.setitem(hardness.BASE, "width", 8)
    rows = ("--methods", "GCA", "--methods", "oracle, nearest 5 %", "--methods", "nearest 10 %")
    options = ("--datasets", "digits-knn", "--epochs", 2, "--seeds", 1, "--jobs", 1)
    found, kinds = shared("hardness", *rows, *options)
    names = {"GCA", "oracle, nearest 5 %", "nearest 10 %", "headroom"}
    assert found["datasets"]["digits-knn"].keys() == names
    assert found["pairs"]["digits-knn"]["auc"] == pytest.approx(0.95, abs=0.01)
    assert kinds == {".md", ".tex", ".json", ".html"}


def test_headroom(shared, monkeypatch):
    two = {"as published": Setting(epochs=2), "τ 0.5": Setting(epochs=2, options={"tau": 0.5})}
    monkeypatch.setattr(headroom, "GRAPH_SETTINGS", two)
    arguments = ("--datasets", "MUTAG", "--seeds", 1, "--jobs", 1)
    found, kinds = shared("headroom", *arguments)
    assert found["datasets"]["MUTAG"].keys() == two.keys()
    assert found["datasets"]["MUTAG"]["τ 0.5"]["oracle"]["p"] <= 1
    assert found["sentences"]
    assert kinds >= FIGURE | {".md", ".tex", ".json"}


@pytest.mark.parametrize(
    ("arguments", "cure"),
    [
        (("graph-clasification",), "did you mean graph-classification"),
        (
            ("alpha", "--methods", "DCL"),
            "unknown method 'DCL': choose from untrained",
        ),
        (("graph-classification", "--methods", "AUGLC"), "did you mean AUGCL"),
        (("graph-classification", "--datasets", "MUTAK"), "MUTAK is neither a data set"),
        (("headroom", "--datasets", "MUTG"), "did you mean MUTAG"),
        (("graph-classification", "--select", "test"), "choose from inner"),
        (("graph-classification", "--seeds", "0"), "--seeds"),
        (("headroom", "--epochs", "2"), "--epochs has no meaning for headroom"),
        (("headroom", "--candidates", "64"), "--candidates has no meaning for headroom"),
        (("headroom", "--select", "inner"), "--select has no meaning for headroom"),
        (("graph-classification", "--candidates", "64"), "--candidates has no meaning"),
        (("attacks", "--datasets", "MUTAG"), "--datasets has no meaning for attacks"),
        (("hardness", "--updates", "5"), "--updates has no meaning for hardness"),
        (("alpha", "--select", "inner"), "--select has no meaning for alpha"),
        (("time", "--select", "inner"), "--select has no meaning for time"),
        (("graph-classification", "--datasets", "MUTAG,cora"), "Cora is one graph"),
        (("node-classification", "--datasets", "MUTAG"), "MUTAG is a set of graphs"),
        (("improvement", "--methods", "DCL"), "choose from AUGCL"),
        (("figure-1", "--datasets", "MUTAG"), "--datasets has no meaning for figure-1"),
        (("theorem", "--methods", "GraphCL"), "choose from AUGCL"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_a_wrong_name_is_refused_in_one_line(refused, tmp_path, arguments, cure):
    assert cure in refused("reproduce", *arguments, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("error", "code"), [(InputError("no such luck"), 2), (RuntimeError("no such luck"), 1)]
)
def test_failed_cells_are_told_and_the_others_shown(
    place, augcl, monkeypatch, tmp_path, error, code
):
    compute = Cell.compute

    def fail(cell, out, data_dir):
        if cell.spec.hardness == "dcl":
            raise error
        compute(cell, out, data_dir)

    monkeypatch.setattr(Cell, "compute", fail)
    rows = ("--methods", "untrained,DCL", "--seeds", 1)
    answer = augcl("reproduce", "graph-classification", *MUTAG, *rows, "--out", tmp_path)
    assert answer.code == code
    assert answer.err.splitlines() == [
        "augcl: 1 cell failed:",
        f"  GraphCL+dcl on MUTAG, seed 0: {type(error).__name__}: no such luck",
    ]
    assert "| untrained | " in (tmp_path / "graph-classification.md").read_text()
    assert "| DCL | " not in (tmp_path / "graph-classification.md").read_text()


def test_one_graph_in_a_folder_is_no_data_for_a_table_of_graphs(refused, tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\na,b\n")
    given = ("--datasets", tmp_path, "--out", tmp_path / "out")
    assert "is one graph" in refused("reproduce", "graph-classification", *given)
    assert not (tmp_path / "out").exists()


def test_when_all_cells_fail_they_are_told_once_and_the_table_stays(augcl, monkeypatch, tmp_path):
    def fail(cell, out, data_dir):
        raise InputError("no such luck")

    monkeypatch.setattr(Cell, "compute", fail)
    (tmp_path / "graph-classification.md").write_text("of yesterday")
    rows = ("--methods", "untrained,DCL", "--seeds", 2)
    answer = augcl("reproduce", "graph-classification", *MUTAG, *rows, "--out", tmp_path)
    assert (answer.code, answer.out) == (2, "")
    first, second = answer.err.splitlines()
    assert first == "augcl: 4 cells failed:"
    assert second.startswith("  4 cells (such as GraphCL")
    assert second.endswith(": InputError: no such luck")
    assert (tmp_path / "graph-classification.md").read_text() == "of yesterday"
    assert not (tmp_path / "graph-classification.json").exists()


def test_without_options_it_takes_a_laptop_s_share_and_in_full_the_paper_s(
    augcl, monkeypatch, tmp_path
):
    asked = []

    def count(cells, out, **_):
        asked.append({(cell.spec.dataset, cell.seed) for cell in cells})
        return []

    monkeypatch.setattr("augcl.paper.reproductions.compute_missing", count)
    for more in ((), ("--full",)):
        assert augcl("reproduce", "graph-classification", *more, "--out", tmp_path).code == 0
    laptop, paper = ({name for name, _ in cells} for cells in asked)
    assert laptop == {"MUTAG", "PROTEINS", "IMDB-BINARY"}
    assert paper == laptop | {"NCI1", "DD", "REDDIT-BINARY", "COLLAB"}
    assert all({seed for _, seed in cells} == set(range(5)) for cells in asked)
