"""Records and page of the data sets that are not in the paper."""

import json
from dataclasses import replace

import pytest

from augcl.errors import InputError
from augcl.paper import other_data
from augcl.paper.other_data import SETS, compute, findings, place, store, tables
from augcl.paper.results import render


def record(score, runs=None, floor=-0.01):
    return {"score": score, "runs": runs or [score], "floor": floor}


@pytest.fixture
def some_records(tmp_path):
    esol = SETS["ESOL"]
    store(tmp_path, place(esol, "random", "Morgan", 0), record(0.75))
    store(tmp_path, place(esol, "random", "GraphCL", 0), record(0.80))
    store(tmp_path, place(esol, "random", "GraphCL beside Morgan", 0), record(0.85))
    return tmp_path


def test_pages_show_the_scores_beside_each_other_and_what_is_missing(some_records):
    rendered = render(some_records)
    page = rendered["results/other_data.md"]
    assert "| ESOL, random | R² | 1 | -0.010 | 0.750 | – | 0.800 | – | 0.850 | – |" in page
    assert "| ESOL, by scaffold | R² | – | – | – | – | – | – | – | – |" in page
    assert "GraphCL has a higher mean than Morgan in 1 of 1 row." in page
    assert "With bonds the" not in page
    summary = rendered["RESULTS.md"]
    assert "| ESOL, random | R² | -0.010 | 0.750 | – | 0.850 |" in summary
    assert "(results/other_data.md)" in summary


def test_without_records_there_is_no_page(tmp_path):
    assert "results/other_data.md" not in render(tmp_path)
    assert findings(tmp_path) == ""


def test_the_spread_is_over_all_runs_and_fewer_seeds_are_counted(tmp_path):
    actor, chameleon = SETS["Actor"], SETS["Chameleon"]
    (split,) = chameleon.splits
    for seed, runs in enumerate(([0.1, 0.2], [0.3, 0.4])):
        one = record(sum(runs) / 2, runs, floor=0.2)
        store(tmp_path, place(chameleon, split, other_data.TRAINED, seed), one)
    store(tmp_path, place(chameleon, split, "untrained", 0), record(0.15, [0.1, 0.2], floor=0.2))
    store(tmp_path, place(chameleon, split, "raw features", 0), record(0.1, floor=0.2))
    rows = {row[0]: row for row in tables(tmp_path)["nodes"].rows}
    assert rows["Chameleon, ten splits"][2:] == (
        *("2", "20.00", "10.00"),  # raw features need one seed only
        *("15.00 ± 5.00 (1)", "25.00 ± 11.18", "–", "–", "–"),
    )
    assert set(rows[actor.row(split)][2:]) == {"–"}


def test_several_labels_stand_beside_what_is_published(tmp_path):
    micro = {f"f1_micro_at_{share}": [share / 100] for share in other_data.SHARES}
    found = record(0.5, floor=0.1) | {"details": micro | {"f1_macro_at_50": [0.251]}}
    store(tmp_path, place(SETS["BlogCatalog"], "", "DeepWalk", 0), found)
    page = render(tmp_path)["results/other_data.md"]
    shares = " | ".join(f"{share}.0" for share in other_data.SHARES)
    assert f"| DeepWalk | 1 | {shares} | 25.1 |" in page
    assert "| DeepWalk, published | – | 36.0 | 38.2 |" in page
    assert f"| node2vec | – |{' – |' * 10}" in page
    assert f"| node2vec, published | – |{' – |' * 9} 25.8 |" in page


def test_bonds_are_compared_method_by_method(tmp_path):
    for name, score in zip(other_data.BONDS, (0.85, 0.90), strict=True):
        store(tmp_path, place(SETS[name], "", "GraphCL", 0), record(score, floor=0.66))
    assert findings(tmp_path).startswith("With bonds the accuracy on MUTAG changes by these points")
    assert findings(tmp_path).endswith(": GraphCL +5.00 (0.00).")


@pytest.fixture
def molecules(tmp_path):
    """A folder with a file of freesolv's layout: chains, whose length is the target."""
    lines = [f"{'C' * n},{n}.5" for n in range(1, 21)]
    file = tmp_path / "data" / "molecules" / "freesolv.csv"
    file.parent.mkdir(parents=True)
    file.write_text("\n".join(["smiles,freesolv", *lines, "C1CC1,3.5", "C1CCC1,4.5"]) + "\n")
    return tmp_path / "data"


def test_a_record_is_not_computed_twice(molecules, tmp_path, monkeypatch):
    pytest.importorskip("rdkit")
    small = replace(
        SETS["FreeSolv"],
        methods={name: other_data.MOLECULES[name] for name in ("Morgan", "untrained")},
        splits=("random",),
        seeds=2,
    )
    assert compute(tmp_path, molecules, small) == 4
    lines = (tmp_path / "other-data.jsonl").read_text().splitlines()
    assert len(lines) == 4
    assert {json.loads(line)["record"]["protocol"] for line in lines} == {"ridge-10fold"}

    (tmp_path / "other-data.jsonl").write_text("\n".join(lines[:3]) + "\n")
    assert compute(tmp_path, molecules, small) == 1
    again = (tmp_path / "other-data.jsonl").read_text().splitlines()
    first, second = (json.loads(all_lines[3])["record"] for all_lines in (lines, again))
    assert first["score"] == second["score"]

    monkeypatch.setattr(other_data, "measure", None)  # nothing is missing, so nothing is measured
    assert compute(tmp_path, molecules, small) == 0


def test_a_damaged_line_is_named(some_records):
    with (some_records / "other-data.jsonl").open("a") as file:
        file.write("{")
    with pytest.raises(InputError, match=r"line 4 of .*other-data.jsonl is damaged"):
        tables(some_records)
