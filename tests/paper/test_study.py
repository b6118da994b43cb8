"""What a reproduction asks for, and what it finds among finished cells."""

from dataclasses import replace
from pathlib import Path

import pytest

import augcl
from augcl.files import write_json
from augcl.paper.cells import Cell
from augcl.paper.convergence import convergence
from augcl.paper.records import merge
from augcl.paper.reproductions import compared
from augcl.paper.rows import GRAPHS, NODE_DATASETS, NODE_PAPER, NODES
from augcl.paper.study import Study, variants


def store(cell, out, **record):
    write_json(cell.path(out), {"seed": cell.seed, "accuracy": None, **record})


def judged(folds, inner=()):
    return {"mean": sum(folds) / len(folds), "folds": list(folds), "inner": list(inner)}


def test_a_selection_adds_the_grid_of_each_hardness_that_has_one():
    rows = ("GraphCL", "DCL", "ProGCL")
    plain = Study(Path(), ("MUTAG",), rows, seeds=2)
    assert len(plain.cells(GRAPHS)) == 6
    selected = Study(Path(), ("MUTAG",), rows, seeds=2, select=True)
    paths = {cell.path(Path()) for cell in selected.cells(GRAPHS)}
    assert len(paths) == 2 * (3 + 2)  # of DCL's three settings one is the default
    assert paths >= {cell.path(Path()) for cell in plain.cells(GRAPHS)}


@pytest.mark.parametrize("table", [GRAPHS, NODES])
def test_features_epochs_and_seeds_reach_every_cell(table):
    study = Study(Path(), ("components",), (table.base,), 3, epochs=7, features="degree")
    cells = study.cells(table)
    assert [cell.seed for cell in cells] == [0, 1, 2]
    assert {(cell.spec.features, cell.spec.epochs) for cell in cells} == {("degree", 7)}


def test_candidates_are_for_nodes():
    study = Study(Path(), ("Cora",), ("GCA",), 1, candidates=64)
    assert study.cells(NODES)[0].spec.options == {"candidates": 64}


@pytest.mark.parametrize("dataset", NODE_DATASETS)
def test_every_row_of_the_paper_has_a_place(dataset):
    study = Study(Path(), (dataset,), NODE_PAPER, 1, candidates=64)
    assert len({cell.path(Path()) for cell in study.cells(NODES)}) == len(study.rows)


def test_a_selected_row_waits_for_all_settings_of_its_grid(tmp_path):
    study = Study(tmp_path, ("MUTAG",), ("DCL",), seeds=2, select=True)
    spec = GRAPHS.spec("MUTAG", "DCL")
    cells = [Cell(variant, 0) for variant in variants(spec)]
    for number, cell in enumerate(cells):
        assert "DCL (selected)" not in study.results(GRAPHS)["MUTAG"]
        store(cell, tmp_path, accuracy=judged([0.8, 0.1 * number], inner=[0.9, 0.5 + 0.1 * number]))
    assert study.results(GRAPHS)["MUTAG"]["DCL (selected)"].folds == {0: (0.8, 0.2)}


def test_settings_without_a_seed_in_common_make_no_selected_row(tmp_path):
    study = Study(tmp_path, ("MUTAG",), ("DCL",), seeds=2, select=True)
    for number, cell in enumerate(study.cells(GRAPHS)[2::2]):
        store(cell.with_seed(number % 2), tmp_path, accuracy=judged([0.8, 0.9], inner=[0.9, 0.9]))
    assert "DCL (selected)" not in study.results(GRAPHS)["MUTAG"]


def test_a_training_of_nodes_is_judged_by_two_protocols(tmp_path):
    cell = NODES.cell("planted-500", "training-free")
    cell.compute(tmp_path, None)
    study = Study(tmp_path, ("planted-500",), ("training-free",), seeds=1)
    data = cell.spec.load()
    embedded = cell.spec.estimator(data, 0, progress=False).fit_transform(data)
    for protocol, shown in [("linear-10-10-80", None), ("logistic-10-10-80",) * 2]:
        found = replace(study, protocol=shown).results(NODES)["planted-500"]["training-free"]
        score = augcl.evaluate(embedded, data, protocol=protocol, random_state=0, progress=False)
        assert found.mean == pytest.approx(score.mean)
    titles = [grid.title for grid in compared(study, NODES).grids]
    assert titles == ["planted-500", "planted-500, logistic-10-10-80"]


def test_a_training_judged_by_one_protocol_has_no_row_in_the_table_of_the_other(tmp_path):
    store(NODES.cell("Cora", "GCA"), tmp_path, accuracy=judged([0.8]))
    study = Study(tmp_path, ("Cora",), ("GCA",), seeds=1)
    assert [grid.title for grid in compared(study, NODES).grids] == ["Cora"]


def test_only_the_seeds_asked_for_count(tmp_path):
    cell = GRAPHS.cell("MUTAG", "GraphCL")
    for seed in range(3):
        folds = [0.1 * seed, 0.1 * seed]
        store(cell.with_seed(seed), tmp_path, accuracy=judged(folds), losses=[seed, seed])
    few, all_ = (Study(tmp_path, ("MUTAG",), ("GraphCL",), seeds=n) for n in (2, None))
    assert few.results(GRAPHS)["MUTAG"]["GraphCL"].folds.keys() == {0, 1}
    assert all_.results(GRAPHS)["MUTAG"]["GraphCL"].folds.keys() == {0, 1, 2}
    assert convergence(few, GRAPHS).data["losses"]["MUTAG"]["GraphCL"] == [0.5, 0.5]
    assert convergence(all_, GRAPHS).data["losses"]["MUTAG"]["GraphCL"] == [1, 1]


@pytest.mark.parametrize(
    ("losses", "shown"),
    [
        ([9], [9, 9, 9, 9, 9]),
        ([9, 8], [9, 9, 9, 9, 8]),
        ([9, 8, 7], [9, 9, 9, 8, 7]),
        ([9, 8, 7, 6, 5, 4, 3, 2], [9, 8, 6, 4, 2]),
    ],
)
def test_convergence_shows_the_loss_after_each_quarter(tmp_path, losses, shown):
    store(GRAPHS.cell("MUTAG", "GraphCL"), tmp_path, losses=losses)
    study = Study(tmp_path, ("MUTAG",), ("GraphCL", "DCL"), seeds=1)
    ((label, *values),) = convergence(study, GRAPHS).grids[0].rows
    assert label == "MUTAG, GraphCL"
    assert list(map(float, values)) == shown


def test_the_largest_class_is_known_from_any_record_with_the_same_protocol(tmp_path):
    old, new = (GRAPHS.cell("MUTAG", row) for row in ("GraphCL", "training-free"))
    protocol = {"protocol": "tu-svm-10fold"}
    store(old, tmp_path, accuracy={**judged([0.8, 0.9]), **protocol})
    study = Study(tmp_path, ("MUTAG",), ("GraphCL",), seeds=2)
    assert study.results(GRAPHS)["MUTAG"]["GraphCL"].majority is None
    store(new, tmp_path, accuracy={**judged([0.8]), **protocol, "floor": 0.66})
    other = {**judged([0.8]), "protocol": "other", "floor": 0.1}
    store(GRAPHS.cell("MUTAG", "WL"), tmp_path, accuracy=other)
    store(new.with_seed(1), tmp_path, accuracy={**judged([0.8]), **protocol, "floor": 0.68})
    store(new.with_seed(2), tmp_path, accuracy={**judged([0.8]), **protocol, "floor": 0.98})
    merge(tmp_path)
    assert study.results(GRAPHS)["MUTAG"]["GraphCL"].majority == pytest.approx(0.67)
