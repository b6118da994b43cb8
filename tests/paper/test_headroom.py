"""The settings of the map of headroom, and what the map says about invented results."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import references
from augcl.data.catalogue import GRAPH_SETS
from augcl.errors import InputError
from augcl.files import write_json
from augcl.paper.headroom import (
    DATASETS,
    headroom_cells,
    headroom_map,
    settings_for,
    table_for,
)
from augcl.paper.study import Study
from augcl.runs.run import check

ROWS = ("DCL", "HCL", "ProGCL", "AUGCL", "AUGCL-full", "ProGCL-mix")
SETTINGS = [(dataset, name) for dataset in DATASETS for name in settings_for(dataset)]


@pytest.mark.parametrize(("dataset", "name"), SETTINGS)
def test_every_setting_can_be_trained_with_every_method(dataset, name, molecules):
    table, setting = table_for(dataset), settings_for(dataset)[name]
    stand_in = molecules if dataset in GRAPH_SETS else references.communities(60)
    for row in (table.base, "oracle", *ROWS):
        spec = table.spec(dataset, row, setting)
        check(spec, replace(stand_in, name=dataset), judge=False)
        assert spec.level == ("graph" if dataset in GRAPH_SETS else "node")
        assert setting.options.items() <= spec.options.items()  # none is unknown to the method


@pytest.mark.parametrize("dataset", DATASETS)
def test_all_settings_of_a_data_set_differ(dataset):
    cells = headroom_cells(Study(Path(), (dataset,), ROWS, seeds=2))
    assert len({cell.path(Path()) for cell in cells}) == len(cells)
    free = 1  # the same in all settings
    assert len(cells) == 2 * ((2 + len(ROWS)) * len(settings_for(dataset)) + free)


def test_as_published_is_the_row_of_the_paper_s_table():
    as_published = settings_for("MUTAG")["as published"]
    study = Study(Path(), ("MUTAG",), ("GraphCL",), seeds=1)
    (cell,) = study.cells(table_for("MUTAG"))
    assert table_for("MUTAG").cell("MUTAG", "GraphCL", as_published).path(Path()) == cell.path(
        Path()
    )


@pytest.mark.parametrize(
    ("dataset", "base"), [("digits", "GraphCL"), ("Wiki-CS", "GCA"), ("Cora", "GRACE")]
)
def test_any_named_data_set_has_a_map(dataset, base):
    assert table_for(dataset).base == base
    assert settings_for(dataset)


def test_data_without_a_name_have_none(tmp_path):
    with pytest.raises(InputError, match="has no map of headroom"):
        table_for(str(tmp_path))


def store(out, dataset, name, row, mean, *, seeds=3):
    """Invented results around a mean, with noise of the row's own that cancels out."""
    table = table_for(dataset)
    luck = np.random.default_rng(len(row)).normal(0, 0.005, (seeds, 10))
    folds = mean + luck - luck.mean()
    for seed in range(seeds):
        cell = table.cell(dataset, row, settings_for(dataset)[name], seed=seed)
        accuracy = {"mean": folds[seed].mean(), "folds": folds[seed].tolist()}
        write_json(cell.path(out), {"seed": seed, "accuracy": accuracy})


@pytest.fixture
def found(tmp_path):
    """MUTAG: a large gain at τ 0.05, a sure but small one at batch 32; PROTEINS: none."""
    for name, gain in (("as published", 0.0), ("τ 0.05", 0.03), ("batch 32", 0.008)):
        store(tmp_path, "MUTAG", name, "GraphCL", 0.85)
        store(tmp_path, "MUTAG", name, "oracle", 0.85 + gain)
    store(tmp_path, "MUTAG", "τ 0.05", "AUGCL", 0.87)
    store(tmp_path, "MUTAG", "as published", "training-free", 0.86)
    store(tmp_path, "MUTAG", "τ 0.5", "GraphCL", 0.8)  # its oracle is not finished
    store(tmp_path, "PROTEINS", "as published", "GraphCL", 0.75)
    store(tmp_path, "PROTEINS", "as published", "oracle", 0.74)
    return headroom_map(Study(tmp_path, ("MUTAG", "PROTEINS"), ("AUGCL",), seeds=3))


def test_the_map_shows_oracle_and_methods_minus_base(found):
    (grid,) = found.grids
    assert grid.header == ("", "base", "training-free", "oracle − base", "AUGCL − base")
    rows = {row[0]: row[1:] for row in grid.rows}
    assert list(rows) == [
        "MUTAG, as published",
        "MUTAG, τ 0.05",
        "MUTAG, batch 32",
        "PROTEINS, as published",
    ]
    base, free, oracle, augcl = rows["MUTAG, τ 0.05"]
    assert base.startswith("85.00 ± ")
    assert free.startswith("86.00 ± ")
    assert oracle.startswith("+3.00 [+2.")
    assert augcl.startswith("+2.00 [+1.")
    assert rows["PROTEINS, as published"][1] == ""  # nothing training-free was measured
    assert rows["PROTEINS, as published"][2].startswith("-1.00 [")
    assert rows["PROTEINS, as published"][3] == ""


def test_only_gains_of_a_point_beyond_noise_are_called_headroom(found):
    small = found.data["datasets"]["MUTAG"]["batch 32"]["oracle"]
    assert 0 < small["low"] < small["mean"] < 0.01
    assert found.sentences == [
        "MUTAG, τ 0.05: headroom +3.00 points; realised: AUGCL +2.00.",
        "PROTEINS: the oracle gains a point beyond noise in none of 1 settings.",
    ]


def test_the_map_is_written_as_text_data_and_figure(found, tmp_path):
    paths = found.write(tmp_path / "map")
    assert {path.suffix for path in paths} == {
        ".md",
        ".tex",
        ".json",
        ".html",
        ".svg",
        ".png",
        ".pdf",
    }
    data = json.loads((tmp_path / "map" / "headroom.json").read_text())
    assert data["datasets"]["MUTAG"]["τ 0.05"]["base"] == pytest.approx([0.85] * 3, abs=0.01)


def test_a_map_of_nothing_is_empty(tmp_path):
    found = headroom_map(Study(tmp_path, ("MUTAG",), (), seeds=3))
    assert (found.grids[0].rows, found.figures, found.sentences) == ((), {}, [])
    found.write(tmp_path)


def test_one_training_of_nodes_shows_a_gain_without_an_interval(tmp_path):
    store(tmp_path, "Cora", "half the τ", "GRACE", 0.8, seeds=1)
    store(tmp_path, "Cora", "half the τ", "oracle", 0.82, seeds=1)
    found = headroom_map(Study(tmp_path, ("Cora",), (), seeds=1))
    ((label, base, _, gain),) = found.grids[0].rows
    assert (label, gain) == ("Cora, half the τ", "+2.00")
    assert base.startswith("80.00 ± ")
    assert list(found.figures) == ["headroom"]
    assert found.sentences == [
        "Cora: one training of each cannot be tested for noise; the oracle's differences are "
        "half the τ +2.00."
    ]


def test_seeds_that_do_not_meet_show_no_gain(tmp_path):
    store(tmp_path, "MUTAG", "batch 32", "GraphCL", 0.8, seeds=1)
    store(tmp_path, "MUTAG", "batch 32", "oracle", 0.8, seeds=2)
    table, setting = table_for("MUTAG"), settings_for("MUTAG")["batch 32"]
    table.cell("MUTAG", "oracle", setting, seed=0).path(tmp_path).unlink()
    found = headroom_map(Study(tmp_path, ("MUTAG",), (), seeds=2))
    ((*_, gain),) = found.grids[0].rows
    assert gain == ""
    assert found.figures == {}
    assert found.sentences == []


def test_a_shortened_schedule_is_not_called_published():
    assert "as published" in settings_for("Cora")
    assert next(iter(settings_for("Amazon-Photo"))) == "200 epochs, 512 negatives"
