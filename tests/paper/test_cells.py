"""A cell is one file whose place is decided by everything that decides its content."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import references
from augcl import GraphCL, InputError
from augcl.files import read_record
from augcl.hardness import AffinityUncertainty
from augcl.methods.recipes import get_recipe, recipes
from augcl.paper.cells import Cell
from augcl.paper.records import read_seeds
from augcl.paper.rows import GRAPHS, NODES, variants_of_augcl
from augcl.paper.sensitivity import _undefined
from augcl.paper.study import Study
from augcl.paper.table import Setting, identity
from augcl.runs.run import Spec, check

MUTAG = Cell(Spec("MUTAG"), 0)


@pytest.mark.parametrize(
    "other",
    [
        {"dataset": "PROTEINS"},
        {"hardness": "none"},
        {"hardness": "dcl"},
        {"recipe": "paper"},
        {"epochs": 20},
        {"features": "degree"},
        {"augmentation": "node-drop"},
        {"options": {"tau": 0.5}},
        {"hardness_options": {"reward": 1.8}},
        {"protocol": "tu-svm-10fold"},
    ],
    ids=str,
)
def test_every_setting_makes_another_cell(other):
    assert Cell(replace(MUTAG.spec, **other), 0).path(Path()) != MUTAG.path(Path())


def test_so_do_the_seed_and_the_data():
    places = {cell.path(Path()) for cell in (MUTAG, MUTAG.with_seed(1), replace(MUTAG, data="x"))}
    assert len(places) == 3


def test_a_changed_default_makes_another_cell(monkeypatch):
    before = MUTAG.path(Path())
    defaults = dict(AffinityUncertainty.__init__.__kwdefaults__) | {"reward": 1.7}
    monkeypatch.setattr(AffinityUncertainty.__init__, "__kwdefaults__", defaults)
    assert MUTAG.path(Path()) != before


def test_a_corrected_method_does_not_read_its_old_cells(monkeypatch):
    before = MUTAG.path(Path())
    other = Cell(Spec("MUTAG", method="InfoGraph", hardness="none"), 0)
    kept = other.path(Path())
    monkeypatch.setattr(GraphCL, "revision", GraphCL.revision + 1)
    assert MUTAG.path(Path()) != before
    assert other.path(Path()) == kept


def test_a_changed_recipe_makes_another_cell(monkeypatch):
    before = MUTAG.path(Path())
    changed = replace(get_recipe("default"), warmup_share=0.25)
    monkeypatch.setitem(recipes(), "default", changed)
    assert MUTAG.path(Path()) != before


@pytest.mark.parametrize(
    "same",
    [
        Spec("mutag"),
        Spec("MUTAG", hardness_options={"reward": 1.9}),
        Spec("MUTAG", augmentation="random2"),
        Spec("MUTAG", options={"lr": 0.01}),
    ],
    ids=repr,
)
def test_the_same_in_other_words_is_the_same_cell(same):
    assert Cell(same, 0).path(Path()) == MUTAG.path(Path())


def test_a_path_with_odd_characters_stays_below_the_folder(tmp_path):
    path = Cell(Spec("../../my data/a b.zip"), 0).path(tmp_path)
    assert path.parent.parent.name == "a_b.zip"
    assert path.resolve().is_relative_to(tmp_path)


def test_data_without_a_name_are_known_by_their_content(tmp_path):
    found = []
    for name, last in (("a", "1,2"), ("b", "0,2")):
        (tmp_path / name).mkdir()
        edges = f"graph,source,target\n0,0,1\n0,1,2\n1,0,1\n1,{last}\n"
        (tmp_path / name / "edges.csv").write_text(edges)
        found.append(identity(Spec(str(tmp_path / name)), None))
    assert found[0] != found[1]
    assert identity(Spec("MUTAG"), None) is None


def test_rows_keep_their_own_epochs_and_options():
    table, setting = GRAPHS, Setting(epochs=7, options={"tau": 0.5})
    assert table.spec("MUTAG", "GraphCL", setting).epochs == 7
    assert table.spec("MUTAG", "untrained", setting).epochs == 0
    own = table.spec("MUTAG", "GraphCL-own-loss", setting)
    assert own.options == {"tau": 0.5, "positive_in_denominator": False}
    with pytest.raises(InputError, match="method"):
        table.spec("MUTAG", "GraphKL")


@pytest.mark.parametrize("row", NODES.rows)
def test_every_row_of_the_node_table_can_be_trained(row):
    spec = NODES.spec("digits-knn", row)
    check(spec, references.communities(60))
    assert spec.level == "node"


@pytest.mark.parametrize("row", GRAPHS.rows)
def test_every_row_of_the_graph_table_can_be_trained(row, molecules):
    spec = GRAPHS.spec("MUTAG", row)
    check(spec, molecules, judge=False)
    assert spec.level == "graph"


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
    narrow = {"width": 8, "projection": 8}
    return Cell(Spec("mine", method="GRACE", epochs=2, options=narrow), 1)


def test_a_record_holds_what_tables_need(small, tmp_path):
    small.compute(tmp_path, None)
    record = read_record(small.path(tmp_path))
    assert (record["seed"], record["settings"]["epochs"]) == (1, 2)
    assert len(record["accuracy"]["folds"]) == len(record["accuracy"]["inner"]) == 20
    assert len(record["losses"]) == 2
    assert read_seeds(small.path(tmp_path), tmp_path) == {1: record}


def test_a_damaged_file_is_named_with_its_cure(tmp_path):
    path = MUTAG.path(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_text('{"seed": 0, "acc')
    with pytest.raises(InputError, match=r"seed-0\.json is damaged .*: delete it and run this"):
        read_record(path)


def test_a_training_of_nodes_goes_on_where_it_was(small, tmp_path, monkeypatch):
    def no_room(*_):
        raise OSError("no room")

    with monkeypatch.context() as patch:  # the training is done, then the disk is full
        patch.setattr("augcl.paper.cells.write_json", no_room)
        with pytest.raises(OSError, match="no room"):
            small.compute(tmp_path, None)
    work = small.path(tmp_path).with_suffix("")
    assert (work / "checkpoint.safetensors").exists()
    monkeypatch.setattr("augcl.training.loop.Run.snapshot", None)  # training anew would need it
    small.compute(tmp_path, None)
    assert small.path(tmp_path).exists()
    assert not work.exists()


def test_the_floor_of_nodes_leaves_no_folder_of_work(small, tmp_path):
    spec = Spec("mine", method="RawFeatures", hardness="none", epochs=0)
    cell = replace(small, spec=spec)
    work = cell.path(tmp_path).with_suffix("")
    work.mkdir(parents=True)
    (work / ".checkpoint.safetensors.abc.tmp").touch()  # of a process that was killed
    cell.compute(tmp_path, None)
    assert [path.name for path in work.parent.iterdir()] == ["seed-1.json"]


def test_an_alpha_without_a_meaning_is_kept_as_a_finding(tmp_path):
    given = {"hardness": "augcl", "epochs": 2, "hardness_options": {"alpha": -1000.0}}
    spec = replace(MUTAG.spec, preset="published", **given)
    cell = replace(MUTAG, spec=spec)
    cell.compute(tmp_path, None)
    record = read_record(cell.path(tmp_path))
    assert record["accuracy"] is None
    assert "is not positive on these data" in record["undefined"]
    table = variants_of_augcl("alpha", {"1/(μ−δ)": {"alpha": -1000.0}, "1/μ": {"alpha": 0.0}})
    study = Study(tmp_path, ("MUTAG",), table.compared, seeds=None, epochs=2)
    assert _undefined(study, table, "MUTAG") == {
        "1/(μ−δ)": "α = 1/(μ−δ) is not defined in 1 of 1 trainings, because its denominator is not "
        "positive."
    }
