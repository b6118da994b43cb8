"""Everything that users get wrong: exit code 2, one line that helps, nothing left behind."""

import errno
import os
import resource
from contextlib import contextmanager, nullcontext
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from augcl.cli.main import main

QUICK = ("--epochs", 2, "--seeds", 1, "--jobs", 1, "--hardness", "none")


@pytest.fixture
def out(tmp_path):
    """The --out of a command that must not create it."""
    folder = tmp_path / "run"
    yield folder
    assert not folder.exists()


def test_an_unknown_name_brings_the_closest_ones(refused, out):
    line = refused("train", "PROTEIN", "--out", out)
    assert "unknown data set 'PROTEIN': did you mean PROTEINS" in line


def test_a_missing_file_is_named(refused, out, tmp_path):
    path = tmp_path / "my graphs.zip"
    assert f"{path} does not exist" in refused("train", path, "--out", out)


def test_a_folder_with_a_typing_error_brings_its_neighbour(refused, out, tmp_path, monkeypatch):
    (tmp_path / "my_molecules").mkdir()
    monkeypatch.chdir(tmp_path)
    line = refused("train", "my_molecule", "--out", out)
    assert "did you mean my_molecules? no file or folder here has this name" in line
    assert "did you mean my_molecules? give" in refused("train", tmp_path / "my_molecule.zip")


def test_a_list_of_edges_in_one_file_is_told_where_it_belongs(refused, out, tmp_path):
    (tmp_path / "own.csv").write_text("source,target\na,b\nb,c\n")
    line = refused("compare", tmp_path / "own.csv")
    assert "Save it in a folder of its own as edges.csv, with the columns source and" in line
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,c\n")
    line = refused("train", tmp_path / "edges.csv", "--out", out)
    assert f"is one table of a folder of graphs: give the folder, {tmp_path}" in line


def test_classes_that_are_words_are_not_called_numbers(refused, out, tmp_path):
    (tmp_path / "edges.csv").write_text("graph,source,target\ng,a,b\nh,a,b\n")
    (tmp_path / "graphs.csv").write_text("graph,label\ng,liquid\nh,solid\n")
    line = refused("train", tmp_path, "--out", out)
    assert "class 'liquid' has only 1 member, but 10 folds need 10" in line
    assert "regression" not in line


def test_a_missing_data_folder_is_named(refused, out, tmp_path):
    line = refused("train", "--data-dir", tmp_path / "nowhere", "--out", out)
    assert f"{tmp_path / 'nowhere'} does not exist" in line


def test_a_zip_that_is_cut_short_is_named(refused, out, tu_set):
    path = tu_set()
    path.write_bytes(path.read_bytes()[:-100])
    line = refused("train", path, "--out", out)
    assert f"{path}: the file is damaged or truncated" in line


def test_a_file_of_an_unknown_kind_is_named(refused, out, tmp_path):
    (tmp_path / "graphs.xlsx").touch()
    assert "graphs.xlsx has an unknown format" in refused(
        "train", tmp_path / "graphs.xlsx", "--out", out
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"A": "1, 2\n2, 11\n"}, "MINE_A.txt, line 2: node 11 does not exist"),
        ({"A": "1, 2\n2, 0\n"}, "MINE_A.txt, line 2: node 0 does not exist"),
        ({"A": "1, 2\n1, 9\n"}, "MINE_A.txt, line 2: the edge 1, 9 joins two graphs"),
        ({"A": "1, 2\n2, x\n"}, "MINE_A.txt, line 2: 'x' is not a whole number"),
        ({"graph_indicator": "1\n1\n2\n2\n3\n3\n"}, "node 7 does not exist"),
        ({"node_labels": "1\n2\n"}, "MINE_node_labels.txt has 2 lines"),
        ({"graph_indicator": None}, "MINE_graph_indicator.txt is missing"),
        ({"graph_indicator": "1\n1\n1\n1\n1\n1\n1\n3\n3\n3\n"}, "graph 2 of 3 has no nodes"),
        ({"graph_indicator": "1\n1\n1\n1\n2\n2\n2\n4\n4\n4\n"}, "line 8: graph 4 does not exist"),
        ({"graph_indicator": ""}, "MINE_graph_indicator.txt is empty"),
        (
            {"node_attributes": "1, 1\n" * 6 + "nan, 1\n" + "1, 1\n" * 3},
            "line 7: column 'attribute0' is empty or NaN",
        ),
        (
            {"node_attributes": "1, 1\n" * 9 + "1, inf\n"},
            "line 10: column 'attribute1' is infinite",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_a_wrong_line_is_named(refused, out, tu_set, changes, message):
    path = tu_set(**changes)
    line = refused("train", path, *QUICK, "--no-evaluate", "--out", out)
    assert str(path) in line
    assert message in line


def test_one_graph_alone_cannot_be_contrasted(refused, out, tmp_path):
    nx.write_graphml(nx.path_graph(3), tmp_path / "one.graphml")
    path = tmp_path / "one.graphml"
    line = refused("train", path, "--method", "GraphCL", "--out", out)
    assert (
        "has one graph: contrasting needs two or more; to embed its nodes, choose a method" in line
    )


def test_labels_that_cannot_be_judged_are_told_before_training(refused, out, tu_set):
    line = refused("train", tu_set(), *QUICK, "--out", out)
    assert "class 0 has only 1 member, but 10 folds need 10" in line
    assert "--task regression" in line
    assert "--no-evaluate" in line


@pytest.mark.parametrize(
    ("option", "value", "cure"),
    [
        ("--epochs", "-1", "greater than or equal to 0"),
        ("--epochs", "many", "integer"),
        ("--seeds", "0", "greater than or equal to 1"),
        ("--jobs", "0", "greater than or equal to 1"),
        ("--lr", "0", "finite"),
        ("--lr", "inf", "finite"),
        ("--tau", "0", "finite"),
        ("--tau", "inf", "finite"),
        ("--batch-size", "1", "greater than or equal to 2"),
        ("--hardness", "augclx", "did you mean augcl"),
        ("--recipe", "autors", "did you mean authors"),
        ("--method", "graphcll", "did you mean GraphCL or"),
        ("--augmentation", "random5", "random4"),
        ("--features", "degrees", "did you mean degree"),
        ("--device", "gpu7", "use cpu"),
        ("--wdith", "3", "--help"),
    ],
)
def test_an_option_out_of_range_is_named(refused, out, option, value, cure):
    line = refused("train", "--out", out, option, value)
    assert option.strip("-").replace("-", " ") in line.replace("-", " ")
    assert cure in line


def test_a_wrong_command_brings_the_closest_one(refused):
    assert "No such command 'trian'. Did you mean 'train'?" in refused("trian")


@contextmanager
def read_only(folder):
    """Nobody may write to `folder`; root, who always may, gets the system's answer from us."""
    if os.geteuid() != 0:
        folder.chmod(0o555)
        yield
        folder.chmod(0o755)
        return
    with pytest.MonkeyPatch.context() as patch:
        for name in ("mkdir", "open"):
            patch.setattr(os, name, denied(getattr(os, name), folder))
        yield


def denied(function, folder):
    def called(path, *more, **options):
        reading = more and more[0] == os.O_RDONLY
        if not reading and Path(path).is_relative_to(folder):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return function(path, *more, **options)

    return called


def test_a_place_without_write_permission_is_named(run, refused, tmp_path):
    folder = tmp_path / "theirs"
    folder.mkdir()
    with read_only(folder):
        first = refused("train", *QUICK, "--out", folder / "run")
        second = refused("train", *QUICK, "--out", folder)
        third = refused("embed", run, "MUTAG", "--out", folder / "z.npz")
    assert first.startswith(f"{folder / 'run'}: Permission denied; change its permissions")
    assert second.startswith(f"{folder}: Permission denied")
    assert third.startswith(f"{folder / 'z.npz'}: Permission denied")
    assert list(folder.iterdir()) == []


def test_a_file_in_the_way_is_named(refused, tmp_path):
    (tmp_path / "file").write_text("mine")
    places = {tmp_path / "file": "File exists", tmp_path / "file" / "run": "Not a directory"}
    for out, reason in places.items():
        line = refused("train", *QUICK, "--out", out)
        assert line.startswith(f"{out}: {reason}; a file is in the way")
    assert (tmp_path / "file").read_text() == "mine"


@contextmanager
def room_for(size):
    """No file may become larger: what a full disk does, without one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("name", ["z.npz", "z.csv", "z.parquet"])
def test_a_full_disk_leaves_no_part_of_the_embeddings(run, refused, tmp_path, name):
    with room_for(20_000):
        line = refused("embed", run, "MUTAG", "--out", tmp_path / name)
    assert line.startswith(f"{tmp_path / name}: ")
    assert "free some space" in line
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def calm(tmp_path_factory, succeeds):
    """The folder of a run that always had room."""
    folder = tmp_path_factory.mktemp("calm") / "x"
    succeeds("train", *QUICK, "--no-evaluate", "--out", folder)
    return folder


@contextmanager
def no_room_for_the_report():
    """Only the page of a run has no room; other files of the run are larger."""
    write = Path.write_text

    def cramped(path, *given, **options):
        with room_for(1000) if "report.html" in path.name else nullcontext():
            return write(path, *given, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "write_text", cramped)
        yield


@pytest.mark.parametrize(
    ("room", "file"),
    [
        (lambda: room_for(10), "seed-0/watched.safetensors"),
        (lambda: room_for(50_000), "seed-0/checkpoint.safetensors"),
        (no_room_for_the_report, "report.html"),
    ],
    ids=["first", "checkpoint", "report"],
)
def test_a_run_goes_on_when_there_is_room_again(calm, refused, succeeds, tmp_path, room, file):
    command = ("train", *QUICK, "--no-evaluate", "--out", tmp_path / "x")
    with room():
        line = refused(*command)
    assert line.startswith(f"{tmp_path / 'x' / file}: File too large; free some space")
    assert "--resume" in line
    assert not [p for p in (tmp_path / "x").rglob("*") if p.name.endswith(".tmp")]
    assert not (tmp_path / "x" / "report.html").exists()
    succeeds(*command, "--resume")
    found, expected = (np.load(folder / "embeddings.npz")["Z"] for folder in (tmp_path / "x", calm))
    assert np.array_equal(found, expected)


def test_a_full_disk_is_called_by_its_name(refused, tmp_path, monkeypatch):
    def full(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    line = refused("train", *QUICK, "--out", tmp_path / "x")
    assert line.startswith(f"{tmp_path / 'x' / 'seed-0' / 'metrics.jsonl'}: No space left on")


def test_a_bug_of_ours_is_not_hidden(monkeypatch):
    monkeypatch.setattr("augcl.data.load_graphs", None)
    monkeypatch.setattr("sys.argv", ["augcl", "data", "MUTAG"])
    with pytest.raises(TypeError):  # the interpreter prints it and exits with 1
        main()
