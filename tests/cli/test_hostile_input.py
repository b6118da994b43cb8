"""Damaged, foreign and extreme input on the command line: exit 2 and one line, nothing lost."""

import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest

from augcl.cli.main import main
from augcl.errors import InputError
from augcl.files import LOCK, locked
from augcl.runs.embedding_file import read_embeddings
from augcl.runs.run_check import look_at_run


@pytest.fixture
def huge(tmp_path):
    """Six paths whose node features are finite, but too large for any network."""
    folder = tmp_path / "huge"
    folder.mkdir()
    nodes = [f"{g},{i},{(i + g) % 3 + 1}e30" for g in range(6) for i in range(5)]
    edges = [f"{g},{i},{i + 1}" for g in range(6) for i in range(4)]
    (folder / "nodes.csv").write_text("graph,node,a\n" + "\n".join(nodes) + "\n")
    (folder / "edges.csv").write_text("graph,source,target\n" + "\n".join(edges) + "\n")
    return folder


@pytest.mark.filterwarnings("default:GraphCL on huge")
def test_embeddings_that_are_not_numbers_are_not_written(augcl, huge, tmp_path):
    settings = ("--no-evaluate", "--hardness", "none", "--seeds", 1, "--epochs", 1)
    answer = augcl("train", huge, *settings, "--out", tmp_path / "x")
    assert answer.code == 2
    assert "scale the features" in answer.err.splitlines()[-1]
    written = {path.name for path in (tmp_path / "x").rglob("*")}
    assert not written & {"model", "model.safetensors", "embeddings.npz", "result.json"}


@pytest.fixture
def broken(run, tmp_path):
    """A copy of a finished run, to be damaged."""
    return Path(shutil.copytree(run, tmp_path / "broken"))


def told(look, folder):
    """The one line with which a folder is refused; an empty one if it is not."""
    message = ""
    try:
        look(folder)
    except InputError as error:
        message = str(error)
    assert len(message.splitlines()) <= 1
    assert not message or str(folder) in message
    return message


METRICS = {
    "cut": lambda b: b[:-20],
    "0xff": lambda b: b"\xff" + b,
    "words": lambda b: b"3\n",
    "a list": lambda b: b"[1]\n",
    "without loss": lambda b: b.replace(b'"loss"', b'"lost"'),
    "without seed": lambda b: b.replace(b'"seed"', b'"sead"'),
    "loss of words": lambda b: b.replace(b'"loss": ', b'"loss": "x", "was": '),
    "empty line": lambda b: b + b"\n",
    "deep": lambda b: b"[" * 200_000 + b"\n",
}


@pytest.mark.parametrize("damage", METRICS)
def test_damaged_metrics_are_named(refused, broken, damage):
    file = broken / "metrics.jsonl"
    file.write_bytes(METRICS[damage](file.read_bytes()))
    for command in ("report", "doctor"):
        line = refused(command, broken)
        assert "damaged or not ours" in line
        assert str(broken) in line


def test_a_result_with_missing_or_foreign_parts_is_named(refused, broken):
    file = broken / "result.json"
    whole = json.loads(file.read_text())
    for key in whole:
        changed = {k: v for k, v in whole.items() if k != key}
        for value in (None, "x", [], {}, -1, [None], {"a": {}}):
            file.write_text(json.dumps({**changed, key: value}))
            told(look_at_run, broken)
        file.write_text(json.dumps(changed))
        for command in ("report", "doctor", "evaluate"):
            if key not in ("collapse", "recipe"):  # earlier versions had none
                assert "result.json" in refused(command, broken), key
    for key in whole["accuracy"]:
        changed = {k: v for k, v in whole["accuracy"].items() if k != key}
        for value in (None, "x", [], {}, [None]):
            file.write_text(json.dumps({**whole, "accuracy": {**changed, key: value}}))
            told(look_at_run, broken)
    for content in (b"", b"\xff", b"[]", b"3", b"{", b"[" * 200_000, b'{"format": 3}'):
        file.write_bytes(content)
        assert "result.json" in told(look_at_run, broken)


@pytest.mark.parametrize("ending", ["npz", "csv", "parquet"])
def test_a_damaged_embeddings_file_is_named(run, succeeds, tmp_path, ending):
    file = tmp_path / f"z.{ending}"
    succeeds("embed", run, "MUTAG", "--out", file)
    if ending == "npz":
        with np.load(file) as arrays:
            whole = dict(arrays)
        np.savez_compressed(file, **whole)
    whole, random = file.read_bytes(), Random(0)
    for _ in range(60):
        content = bytearray(whole)
        place = random.choice([random.randrange(len(whole)), len(whole) - random.randrange(9, 400)])
        content[place : place + random.randrange(1, 9)] = random.randbytes(4)
        file.write_bytes(content if random.random() < 0.9 else content[:place])
        told(read_embeddings, file)


@pytest.mark.parametrize("name", ["model", "seed-1", "metrics.jsonl"])
def test_overwrite_deletes_nothing_where_a_link_is_in_the_way(refused, broken, tmp_path, name):
    place = broken / name
    shutil.move(place, tmp_path / "elsewhere")
    if name == "metrics.jsonl":
        place.mkdir()
    else:
        place.symlink_to(tmp_path / "elsewhere")
    before = sorted(path for path in broken.rglob("*"))
    command = ("train", "--epochs", 1, "--seeds", 1, "--no-evaluate", "--out", broken)
    assert str(place) in refused(*command, "--overwrite")
    assert sorted(path for path in broken.rglob("*")) == before
    assert (tmp_path / "elsewhere").exists()


def test_a_folder_in_use_is_refused_and_names_the_process(refused, broken):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(broken)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout.readline() == b"held\n"
    before = sorted(path for path in broken.rglob("*"))
    command = ("train", "--epochs", 1, "--seeds", 1, "--no-evaluate", "--out", broken)
    for more in ("--resume", "--overwrite"):
        line = refused(*command, more)
        assert f"(process {holder.pid})" in line
        assert str(broken) in line
    assert sorted(path for path in broken.rglob("*")) == before
    holder.kill()  # the lock ends with its process, even a killed one
    holder.communicate()
    with locked(broken):
        pass
    assert not (broken / LOCK).exists()


HOLD = """
import sys
from pathlib import Path
from augcl.files import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_terminal_that_knows_ascii_only_gets_every_other_letter(run, monkeypatch):
    page = io.TextIOWrapper(io.BytesIO(), encoding="ascii", write_through=True)
    monkeypatch.setattr(sys, "stdout", page)
    monkeypatch.setattr(sys, "argv", ["augcl", "doctor", str(run)])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 0
    assert b"? train for" in page.buffer.getvalue()  # an arrow


@pytest.mark.parametrize("command", [["data"], ["methods", "--json"], ["--help"]])
def test_a_reader_that_goes_away_ends_the_command_in_silence(monkeypatch, capsys, command):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as page:
        monkeypatch.setattr(sys, "stdout", page)
        monkeypatch.setattr(sys, "argv", ["augcl", *command])
        with pytest.raises(SystemExit) as stop:
            main()
        assert stop.value.code == 141
    assert capsys.readouterr().err == ""


LONG = "long" * 17_500


def test_long_values_are_shortened(refused, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "edges.csv").write_text(f"source,target,weight\na,b,{LONG}\nb,c,\n")
    commands = (
        ("train", LONG),
        ("train", "--method", LONG),
        ("train", "--set", f"{LONG}=1"),
        ("train", "--set", f"tau={LONG}"),
        ("train", folder),
        ("doctor", LONG),
    )
    for command in commands:
        line = refused(*command)
        assert len(line) < 4000
        assert "longlonglong" in line or str(folder) in line


def test_names_from_files_do_not_move_the_cursor_or_vanish(augcl, tmp_path):
    folder = tmp_path / "data[old]"
    folder.mkdir()
    edges = [f"{g},{i},{i + 1}" for g in range(4) for i in range(3)]
    (folder / "edges.csv").write_text("graph,source,target\n" + "\n".join(edges) + "\n")
    labels = "0,\x1b[2Jred\n1,\x9b31m[bold]\n2,\x1b[2Jred\n3,\x9b31m[bold]\n"
    (folder / "graphs.csv").write_text("graph,label\n" + labels)
    for command in (("data", folder), ("doctor", folder, "--no-try")):
        answer = augcl(*command)
        assert answer.code == 0
        assert "data[old]" in answer.out
        assert not {"\x1b", "\x9b"} & {*answer.out, *answer.err}
    assert "\\x1b[2Jred" in augcl("data", folder).out
    assert "[bold]" in augcl("data", folder).out
    missing = augcl("data", f"{tmp_path}/no\x1b[2J.zip")
    assert "\x1b" not in missing.err
