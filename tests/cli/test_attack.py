"""`augcl attack` and the table of attacks."""

import csv
import json
from dataclasses import replace

import pytest
import torch

from augcl import RLS2V
from augcl.paper import attacks as attack_cells
from augcl.paper import attacks as attack_table
from augcl.paper.cells import compute_missing
from augcl.paper.study import Study


@pytest.fixture(scope="module")
def attacked(tmp_path_factory, succeeds):
    out = tmp_path_factory.mktemp("attack")
    options = ("--attack", "RandSampling", "--epochs", "3", "--seed", "1", "--out", out)
    return out, json.loads(succeeds("attack", "components", *options, "--json"))


def test_the_result_has_both_accuracies_with_their_intervals(attacked):
    out, result = attacked
    assert json.loads((out / "result.json").read_text()) == result
    for name in ("clean", "attacked"):
        one = result[name]
        assert one["low"] < one["accuracy"] < one["high"]
        assert one["graphs"] == 150


def test_every_changed_edge_is_listed_and_no_graph_has_more_than_the_budget(attacked):
    out, _ = attacked
    rows = list(csv.DictReader((out / "changed_edges.csv").read_text().splitlines()))
    assert rows
    graphs = [row["graph"] for row in rows]
    assert len(set(graphs)) == len(graphs)
    assert {row["change"] for row in rows} == {"add"}


def test_a_saved_victim_is_attacked_again(attacked, succeeds, tmp_path):
    out, result = attacked
    options = ("--model", out / "model", "--attack", "GradArgmax", "--out", tmp_path / "x")
    again = json.loads(succeeds("attack", "components", *options, "--json"))
    assert again["clean"] == result["clean"]
    assert again["attacked"]["accuracy"] <= again["clean"]["accuracy"]


def test_the_result_tells_the_settings_of_victim_and_attack(attacked):
    _, result = attacked
    assert result["victim"]["settings"]["epochs"] == 3
    assert result["recipe"] == "default"
    assert result["settings"]["random_state"] == 1


@pytest.mark.parametrize("recipe", ["default", "authors"])
def test_an_agent_is_kept_and_goes_on_from_its_checkpoint(succeeds, refused, tmp_path, recipe):
    options = ("--attack", "RLS2V", "--recipe", recipe, "--epochs", "1", "--updates", "3")
    out = tmp_path / "x"
    first = json.loads(succeeds("attack", "components", *options, "--out", out, "--json"))
    assert first["settings"]["updates"] == 3
    assert first["victim"]["settings"]["recipe"] == recipe
    agent = RLS2V.load(out / "agent")
    assert agent.recipe == recipe
    (out / "agent" / "attack.safetensors").unlink()
    checkpoints = {path: path.stat().st_mtime_ns for path in out.rglob("checkpoint.safetensors")}
    assert len(checkpoints) == 2
    again = ("attack", "components", *options, "--out", out, "--resume")
    assert json.loads(succeeds(*again, "--json")) == first
    assert {path: path.stat().st_mtime_ns for path in checkpoints} == checkpoints
    assert torch.equal(
        torch.cat([p.flatten() for p in RLS2V.load(out / "agent").network_.parameters()]),
        torch.cat([p.flatten() for p in agent.network_.parameters()]),
    )
    assert "updates = 3" in refused(*again[:-1], "--updates", "4", "--resume")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--recipe", "author"), "recipe"),
        (("--recipe", "authors", "--changes", "both"), "only adds"),
        (("--attack", "Grad"), "attack"),
        (("--pretraining", "dcl"), "pre-training"),
        (("--changes", "swap"), "changes"),
    ],
)
def test_mistakes_are_told_in_one_line(refused, tmp_path, options, told):
    assert told in refused("attack", "components", *options, "--out", tmp_path / "x")


@pytest.mark.parametrize("dataset", ["digits-knn", "csv"])
def test_nodes_of_one_graph_are_sent_to_the_attacks_on_nodes(refused, tmp_path, dataset):
    if dataset == "csv":
        dataset = tmp_path
        (tmp_path / "edges.csv").write_text("source,target\na,b\n")
        (tmp_path / "nodes.csv").write_text("node,label\na,0\nb,1\n")
    line = refused("attack", dataset, "--out", tmp_path / "x")
    assert f"{dataset} is one graph, but augcl attack needs a set of graphs with labels" in line
    assert "NodeGradientFlips" in line
    assert not (tmp_path / "x").exists()


def test_graphs_without_labels_are_told_where_labels_belong(refused, tu_set, tmp_path):
    line = refused("attack", tu_set(graph_labels=None), "--out", tmp_path / "x")
    assert "has no labels" in line
    assert "graphs.csv: column label" in line


def test_the_table_shows_every_depth_with_intervals_beside_the_paper(tmp_path, monkeypatch):
    spec = attack_table._spec

    def tiny(*given):
        return replace(spec(*given), per_class=50, epochs=2, updates=2, agent_graphs=20)

    monkeypatch.setattr(attack_table, "_spec", tiny)
    monkeypatch.setattr(attack_table, "DEPTHS", (2,))
    study = Study(tmp_path, ("components",), ("Original", "AUGCL"), seeds=1, epochs=2)
    cells = attack_table.attack_cells(study)
    assert compute_missing(cells, tmp_path, data_dir=None, jobs=1) == []
    written = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("seed-*.json")}
    assert len(written) == 2
    assert compute_missing(cells, tmp_path, data_dir=None, jobs=1) == []
    assert {path: path.stat().st_mtime_ns for path in written} == written
    findings = attack_table.attack_table(study)
    (grid,) = findings.grids
    assert [row[0] for row in grid.rows] == ["clean", "RandSampling", "GradArgmax", "RL-S2V"]
    assert "(93.20)" in grid.rows[0][1]
    assert len(findings.sentences) == 1


def test_every_setting_of_a_victim_makes_another_cell(tmp_path):
    cell = attack_cells.AttackCell(attack_cells.AttackSpec(), 0)
    other = [{"depth": 3}, {"pretraining": "augcl"}, {"epochs": 7}, {"updates": 9}, {"budget": 2}]
    paths = {replace(cell, spec=replace(cell.spec, **o)).path(tmp_path) for o in other}
    assert len(paths | {cell.path(tmp_path)}) == len(other) + 1
