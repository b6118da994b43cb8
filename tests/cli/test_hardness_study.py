"""`augcl compare --hardness-study`: the table and the verdict on data of one's own."""

import json

import networkx as nx
import numpy as np
import pytest

import references
from augcl.files import write_json
from augcl.paper.cells import Cell
from augcl.paper.table import _fingerprint

ROWS = {"untrained", "training-free", "GraphCL", "DCL", "HCL", "ProGCL", "AUGCL", "oracle"}
STUDY = ("compare", "--hardness-study")
QUICK = ("--epochs", 2, "--seeds", 1, "--jobs", 1)


def write_graphs(folder, *, labels=True):
    """24 rings and stars of four to seven nodes as a folder of CSV files."""
    folder.mkdir()
    edges, graphs = ["graph,source,target"], ["graph,label" if labels else "graph,size"]
    for i in range(24):
        size = 4 + i // 2 % 4
        graph = nx.cycle_graph(size) if i % 2 else nx.star_graph(size - 1)
        edges += [f"g{i},{u},{v}" for u, v in graph.edges]
        graphs.append(f"g{i},{i % 2}" if labels else f"g{i},{size}.5")
    (folder / "edges.csv").write_text("\n".join(edges) + "\n")
    if labels:
        (folder / "graphs.csv").write_text("\n".join(graphs) + "\n")
    return folder


def write_nodes(folder, *, labels=True):
    """A graph of 120 nodes in three communities as a folder of CSV files."""
    folder.mkdir()
    graph = references.communities(120)
    columns = {"node": np.arange(120), **{f"word{i}": graph.x[:, i] for i in range(24)}}
    columns |= {"label": graph.y} if labels else {}
    for name, header, values in (
        ("edges.csv", "source,target", graph.edge_index.t()),
        ("nodes.csv", ",".join(columns), np.column_stack(list(columns.values()))),
    ):
        np.savetxt(folder / name, values, fmt="%d", delimiter=",", comments="", header=header)
    return folder


def cell_files(out):
    return set((out / "cells").rglob("seed-*.json"))


def flat(text):
    return " ".join(text.split())


@pytest.fixture
def succeeds(augcl):
    """Run a command that must succeed and, with so few seeds, say that they are few."""

    def run(*arguments):
        answer = augcl(*arguments)
        assert answer.code == 0
        few = "--seeds" in arguments
        assert few == ("cannot separate a difference from chance" in answer.err)
        assert len(answer.complaints) == few
        return answer.out

    return run


@pytest.fixture
def invented(monkeypatch):
    """Cells hold invented accuracies: the oracle is clearly above all others."""

    def compute(cell, out, data_dir):
        luck = np.random.default_rng([cell.seed, len(cell.spec.hardness)]).normal(0, 0.01, 10)
        folds = (0.8 + 0.1 * (cell.spec.hardness == "oracle") + luck).tolist()
        accuracy = {"mean": float(np.mean(folds)), "folds": folds, "inner": folds}
        write_json(cell.path(out), {"seed": cell.seed, "accuracy": accuracy})

    monkeypatch.setattr(Cell, "compute", compute)


def test_graphs_of_one_s_own_get_table_and_verdict(succeeds, tmp_path):
    folder, out = write_graphs(tmp_path / "my graphs"), tmp_path / "out"
    printed = succeeds(*STUDY, folder, *QUICK, "--out", out)
    found = json.loads((out / "comparison-my_graphs.json").read_text())
    rows = found["datasets"][str(folder)]
    assert rows.keys() == ROWS | {"headroom"}
    assert all(row in printed for row in ROWS)
    assert rows["untrained"]["mean"] > 0.6
    assert len(found["sentences"]) == 4
    for sentence in found["sentences"]:
        assert flat(sentence) in flat(printed)
    assert "| published |" not in (out / "comparison-my_graphs.md").read_text()
    assert len(cell_files(out)) == len(ROWS)
    assert (out / "comparison-my_graphs.tex").exists()


def test_nodes_of_one_graph_are_compared_on_the_base_asked_for(succeeds, tmp_path):
    folder, out = write_nodes(tmp_path / "words"), tmp_path / "out"
    more = ("--method", "GRACE", "--candidates", 40, "--json")
    found = json.loads(succeeds(*STUDY, folder, *QUICK, *more, "--out", out))
    assert found["base"] == "GRACE"
    rows = found["datasets"][str(folder)]
    assert rows.keys() == ROWS - {"GraphCL"} | {"GRACE", "headroom"}
    assert rows["GRACE"]["mean"] > 0.5
    assert found["sentences"] == ["One training cannot be tested for noise: use more seeds."]
    assert len(cell_files(out)) == len(ROWS)
    assert not [p for p in out.rglob("*") if p.suffix in (".lock", ".tmp", ".safetensors")]


def test_changed_data_are_compared_anew(succeeds, tmp_path, invented):
    folder, out = write_graphs(tmp_path / "mine"), tmp_path / "out"
    succeeds(*STUDY, folder, *QUICK, "--out", out)
    first = cell_files(out)
    _fingerprint.cache_clear()  # as another process has it
    succeeds(*STUDY, folder, *QUICK, "--out", out)
    assert cell_files(out) == first
    with (folder / "edges.csv").open("a") as edges:
        edges.write("g1,0,2\n")
    _fingerprint.cache_clear()
    succeeds(*STUDY, folder, *QUICK, "--out", out)
    assert len(cell_files(out)) == 2 * len(first) == 2 * len(ROWS)


def test_the_last_sentence_tells_whether_a_weighting_could_help(succeeds, tmp_path, invented):
    folder = write_graphs(tmp_path / "mine")
    printed = flat(succeeds(*STUDY, folder, "--jobs", 1, "--out", tmp_path / "out"))
    assert "A weighting of negatives could gain here: the oracle is above GraphCL (+" in printed
    assert "±: standard deviation over the seeds" in printed
    assert len(cell_files(tmp_path / "out")) == 5 * len(ROWS)


def test_a_selection_adds_rows_and_says_how_it_selects(succeeds, tmp_path, invented):
    folder, out = write_graphs(tmp_path / "mine"), tmp_path / "out"
    succeeds(*STUDY, folder, *QUICK, "--select", "inner", "--out", out)
    text = (out / "comparison-mine.md").read_text()
    for row in ("DCL", "HCL", "AUGCL"):
        assert f"| {row} (selected) | " in text
    assert "GraphCL (selected)" not in text
    assert "Test labels are never used for a choice." in text


def test_features_are_another_comparison(succeeds, tmp_path, invented):
    folder, out = write_nodes(tmp_path / "words"), tmp_path / "out"
    for more in ((), ("--features", "degree")):
        succeeds(*STUDY, folder, *QUICK, *more, "--out", out)
    assert len(cell_files(out)) == 2 * len(ROWS)


def test_settings_of_the_base_are_another_comparison(succeeds, tmp_path, invented):
    folder, out = write_graphs(tmp_path / "mine"), tmp_path / "out"
    for more in ((), ("--set", "tau=0.5"), ("--method", "graphcl", "--set", "method.tau=0.5")):
        succeeds(*STUDY, folder, *QUICK, *more, "--out", out)
    assert len(cell_files(out)) == 2 * len(ROWS) - 1  # what needs no training has no such setting


def test_a_name_in_any_spelling_is_the_data_set(succeeds, tmp_path, invented):
    text = succeeds(*STUDY, "mutag", *QUICK, "--out", tmp_path, "--json")
    assert json.loads(text)["datasets"]["MUTAG"]["AUGCL"]["published_percent"] == [89.2, 1.08]


def test_failed_cells_are_told(augcl, tmp_path, monkeypatch):
    def fail(cell, out, data_dir):
        raise RuntimeError("no such luck")

    monkeypatch.setattr(Cell, "compute", fail)
    answer = augcl(*STUDY, write_graphs(tmp_path / "mine"), *QUICK, "--out", tmp_path / "out")
    assert answer.code == 1
    _, first, second = answer.err.splitlines()
    assert first == "augcl: 8 cells failed:"
    assert second.startswith("  8 cells (such as GraphCL+")
    assert second.endswith(" on mine, seed 0): RuntimeError: no such luck")


@pytest.mark.parametrize("write", [write_graphs, write_nodes])
def test_without_labels_there_is_nothing_to_judge_by(refused, tmp_path, write):
    folder = write(tmp_path / "mine", labels=False)
    assert "mine has no labels" in refused(*STUDY, folder, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_classes_that_cannot_be_judged_are_told_before_training(refused, tmp_path, tu_set):
    line = refused(*STUDY, tu_set(), "--out", tmp_path / "out")
    assert "10 folds need 10" in line
    assert "augcl train --no-evaluate" in line  # compare has no such option
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "cure"),
    [
        (("MUTAG", "--method", "GRACE"), "GRACE embeds nodes, but this data set is for"),
        (("MUTAG", "--method", "InfoGraph"), "InfoGraph has no negatives to weigh: choose"),
        (
            ("digits-knn", "--method", "DGI"),
            "DGI has no negatives to weigh: choose from GCA",
        ),
        (
            ("MUTAG", "--method", "JOAO"),
            "JOAO is not a base method of augcl compare: choose",
        ),
        (("digits-knn", "--method", "GRAC"), "unknown method 'GRAC': did you mean GRACE"),
        (("digits-knn", "--method", "GraphCL"), "choose from GCA, GRACE"),
        (("MUTAG", "--select", "outer"), "choose from inner"),
        (("MUTAG", "--set", "tua=0.1"), "GraphCL has no parameter tua: did you mean tau"),
        (("MUTAG", "--set", "hardness.alpha=row"), "each row has a hardness of its own here"),
        (("MUTAG", "--candidates", "40"), "GraphCL has no option candidates"),
        (("MUTAG", "--features", "degrees"), "did you mean degree"),
        (("MUTAK",), "did you mean MUTAG"),
        (("nowhere/mine.zip",), "nowhere/mine.zip does not exist"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_a_wrong_name_is_refused_in_one_line(refused, tmp_path, arguments, cure):
    assert cure in refused(*STUDY, *arguments, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()
