from dataclasses import asdict
from functools import partial

import numpy as np
import pytest

import references
from augcl import InputError
from augcl.experiments.cells import Cell, Table, compute_missing
from augcl.experiments.node_classification import TABLE
from augcl.experiments.run import check
from augcl.files import write_json
from augcl.training.estimator import plain_settings

SMALL = Table("small", {"untrained": {"method": "RawFeatures", "hardness": "none", "epochs": None}})


def test_a_row_can_be_asked_for_with_other_epochs():
    assert TABLE.spec("Cora", "GCA").epochs is None
    assert TABLE.spec("Cora", "GCA@200").epochs == 200
    with pytest.raises(InputError, match="row"):
        TABLE.spec("Cora", "GCE@200")


def test_a_cell_is_computed_once(tmp_path, monkeypatch):
    cells = [Cell(SMALL, "digits-knn", "untrained", 0)]
    computed = []

    def compute(cell, out, data_dir, work):
        computed.append(cell)
        record = {
            "spec": asdict(cell.spec),
            "hardness_settings": plain_settings(cell.spec.hardness_object()),
        }
        write_json(cell.path(out), record)

    monkeypatch.setattr(Cell, "compute", compute)
    for _ in range(2):
        compute_missing(cells, tmp_path, data_dir=None, jobs=1)
    assert computed == cells


def test_a_record_from_before_a_setting_existed_counts(tmp_path):
    cell = Cell(SMALL, "digits-knn", "untrained", 0)
    spec = asdict(cell.spec)
    del spec["protocol"]
    hardness = plain_settings(cell.spec.hardness_object())
    write_json(cell.path(tmp_path), {"spec": spec, "hardness_settings": hardness})
    assert cell.read(tmp_path) is not None


@pytest.mark.parametrize(
    ("spec", "hardness"),
    [
        ({"epochs": 3}, {}),
        ({"protocol": "grace-liblinear"}, {}),
        ({"options": {"tau": 0.5}}, {}),
        ({"hardness_options": {"temper": 1.0}}, {}),
        ({}, {"params": {"temper": 7.0}}),
    ],
    ids=str,
)
def test_a_record_with_other_settings_does_not_count(tmp_path, spec, hardness):
    cell = Cell(TABLE, "digits-knn", "GCA+AUGCL", 0)
    today = plain_settings(cell.spec.hardness_object())
    record = {"spec": asdict(cell.spec), "hardness_settings": today}
    write_json(cell.path(tmp_path), record)
    assert cell.read(tmp_path) == record
    other = {"spec": record["spec"] | spec, "hardness_settings": today | hardness}
    write_json(cell.path(tmp_path), other)
    assert cell.read(tmp_path) is None


@pytest.mark.parametrize("row", TABLE.rows)
def test_every_row_of_the_node_table_can_be_trained(row):
    spec = TABLE.spec("digits-knn", row)
    check(spec, references.communities(60))
    assert spec.level == "node"


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A cell of a graph with 120 nodes in a folder here."""
    monkeypatch.chdir(tmp_path)
    graph = references.communities(120)
    (tmp_path / "mine").mkdir()
    write = partial(np.savetxt, fmt="%d", delimiter=",", comments="")
    write("mine/edges.csv", graph.edge_index.t(), header="source,target")
    names = ["node", *(f"word{i}" for i in range(24)), "label"]
    table = np.column_stack([np.arange(120), graph.x, graph.y])
    write("mine/nodes.csv", table, header=",".join(names))
    narrow = {"method": "GRACE", "epochs": None, "options": {"width": 8, "projection": 8}}
    return Cell(Table("small", {"narrow": narrow}), "mine", "narrow@2", 1)


def test_a_finished_training_is_judged_and_not_trained_again(small, tmp_path):
    out, work = tmp_path / "out", tmp_path / "work"
    compute_missing([small], out, data_dir=None, jobs=1, work=work)
    record = small.read(out)
    assert (record["seed"], record["settings"]["epochs"]) == (1, 2)
    assert len(record["accuracy"]["folds"]) == 20
    assert record["weights"]["weight_std"] > 0
    small.path(out).unlink()
    compute_missing([small], out, data_dir=None, jobs=1, work=work)
    again = small.read(out)
    assert again["seconds"]["training"] == record["seconds"]["training"]
    assert again["accuracy"] == record["accuracy"]
