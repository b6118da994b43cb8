"""Loose files and merged lines say the same; merging loses and changes nothing."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from augcl.errors import InputError
from augcl.files import write_json
from augcl.paper.records import (
    Place,
    cell_file,
    is_finished,
    loose_files,
    merge,
    read,
    read_lines,
    read_seeds,
    write_lines,
)

FILES = {
    "cells/MUTAG/GraphCL+augcl-1f/seed-2.json": Place("MUTAG", "GraphCL+augcl-1f", 2),
    "cells/a_b.zip/GCA-2e/seed-0.json": Place("a_b.zip", "GCA-2e", 0),
    "collapse/MUTAG/seed-10.json": Place("MUTAG", "collapse", 10),
    "liveness/IMDB-BINARY.json": Place("IMDB-BINARY", "liveness", 0),
    "time/IMDB-BINARY-6aa6.json": Place("IMDB-BINARY", "time-6aa6", 0),
}


def store(folder):
    for number, file in enumerate(FILES):
        write_json(folder / file, {"number": number, "b": [1e-17, 0.1], "a": None})


@pytest.mark.parametrize("file", FILES)
def test_every_loose_file_has_a_place(file, tmp_path):
    assert Place.of(tmp_path / file, tmp_path) == FILES[file]


def test_merging_keeps_every_record_and_removes_the_loose_files(tmp_path):
    store(tmp_path)
    before = {file: read(tmp_path / file, tmp_path) for file in FILES}
    assert merge(tmp_path) == {"MUTAG": 2, "a_b.zip": 1, "IMDB-BINARY": 2}
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["IMDB-BINARY.jsonl", "MUTAG.jsonl", "a_b.zip.jsonl"]
    assert {file: read(tmp_path / file, tmp_path) for file in FILES} == before
    assert all(is_finished(tmp_path / file, tmp_path) for file in FILES)
    assert not is_finished(cell_file(tmp_path, "MUTAG", "GraphCL+augcl-1f", 3), tmp_path)


def test_merging_again_changes_no_byte(tmp_path):
    store(tmp_path)
    merge(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    store(tmp_path)
    assert merge(tmp_path) == {}
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_another_folder_is_left_as_it_is(tmp_path):
    store(tmp_path / "source")
    every = sorted(loose_files(tmp_path / "source"))
    (tmp_path / "kept").mkdir()
    assert sum(merge(tmp_path / "kept", tmp_path / "source").values()) == len(FILES)
    assert sorted(loose_files(tmp_path / "source")) == every
    merge(tmp_path / "source")
    (tmp_path / "third").mkdir()
    assert sum(merge(tmp_path / "third", tmp_path / "source").values()) == len(FILES)


def test_loose_seeds_stand_beside_merged_ones_and_before_them(tmp_path):
    for seed in (0, 1, 10):
        write_json(cell_file(tmp_path, "MUTAG", "a-1", seed), {"seed": seed})
    write_json(cell_file(tmp_path, "MUTAG", "b-1", 5), {"seed": 5})
    merge(tmp_path)
    file = cell_file(tmp_path, "MUTAG", "a-1", 2)
    write_json(file, {"seed": 2})
    write_json(file.with_name("seed-1.json"), {"seed": "computed again"})
    found = read_seeds(file, tmp_path)
    assert list(found) == [0, 1, 2, 10]
    assert found[1] == {"seed": "computed again"}
    assert merge(tmp_path) == {"MUTAG": 2}
    assert read_seeds(file, tmp_path) == found


records = st.dictionaries(
    st.builds(Place, st.just("X"), st.text("ab+-", min_size=1), st.integers(0, 12)),
    st.dictionaries(st.text(max_size=3), st.floats(allow_nan=False, allow_infinity=False)),
)


@given(records)
def test_lines_are_sorted_and_exact(tmp_path_factory, records):
    file = tmp_path_factory.mktemp("lines") / "X.jsonl"
    write_lines(file, records)
    assert read_lines(file) == records
    lines = [json.loads(line) for line in file.read_bytes().split(b"\n")[:-1]]
    places = [(line["key"], line["seed"]) for line in lines]
    assert places == sorted(places)
    assert all(list(line["record"]) == sorted(line["record"]) for line in lines)


def test_a_damaged_line_is_named(tmp_path):
    (tmp_path / "MUTAG.jsonl").write_text('{"key": "a-1", "seed": 0, "record": {}}\n{"key": "a-')
    with pytest.raises(InputError, match=r"line 2 of .*MUTAG\.jsonl is damaged"):
        read_seeds(cell_file(tmp_path, "MUTAG", "a-1", 0), tmp_path)


def test_what_is_unfinished_is_not_merged(tmp_path):
    file = cell_file(tmp_path, "MUTAG", "a-1", 0)
    write_json(file, {"seed": 0})
    work = file.with_name("seed-1")
    work.mkdir()
    (work / "checkpoint.safetensors").touch()
    merge(tmp_path)
    assert (work / "checkpoint.safetensors").exists()
    assert not file.exists()
