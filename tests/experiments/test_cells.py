from dataclasses import asdict

import pytest

from augcl import InputError
from augcl.experiments.cells import Cell, Table, compute_missing
from augcl.experiments.node_classification import TABLE
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
    write_json(cell.path(tmp_path), {"spec": spec | {"epochs": 3}, "hardness_settings": hardness})
    assert cell.read(tmp_path) is None
