"""`augcl compare`: rows side by side on data of one's own, and a recommendation."""

import json
import re
import shlex

import networkx as nx
import pytest
from tests.cli.test_hardness_study import cell_files, flat, write_graphs, write_nodes

from augcl.files import write_json
from augcl.paper.cells import Cell
from augcl.runs import recommend
from augcl.runs.cost import Cost, ShortRun

QUICK = ("--epochs", 2, "--seeds", 2, "--jobs", 1)
ONE = ("--epochs", 1, "--seeds", 1, "--jobs", 1)


def by_name(found):
    return {row["name"]: row for row in found["rows"]}


def write_sizes(folder, *, several=False):
    """24 rings and stars with their size, or with two yes/no targets, as CSV files."""
    folder.mkdir()
    edges = ["graph,source,target"]
    graphs = ["graph,is_ring,is_large" if several else "graph,size"]
    for i in range(24):
        nodes = 4 + i // 2 % 4
        graph = nx.cycle_graph(nodes) if i % 2 else nx.star_graph(nodes - 1)
        edges += [f"g{i},{u},{v}" for u, v in graph.edges]
        graphs.append(f"g{i},{i % 2},{int(nodes > 5)}" if several else f"g{i},{nodes + 0.5}")
    (folder / "edges.csv").write_text("\n".join(edges) + "\n")
    (folder / "graphs.csv").write_text("\n".join(graphs) + "\n")
    return folder


def test_mutag_gets_a_table_and_a_recommendation_that_can_be_trained(augcl, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = augcl("compare", "mutag", *QUICK)
    assert (answer.code, answer.complaints) == (0, [])
    found = json.loads((tmp_path / "comparison/recommendation-MUTAG.json").read_text())
    rows = by_name(found)
    for row in ("untrained", "WLKernel", "GraphCL", *(f"GraphCL+{h}" for h in recommend.WEIGHTED)):
        assert row in answer.out
        assert 0.7 < rows[row]["score"] < 0.95
        assert rows[row]["low"] < rows[row]["score"] < rows[row]["high"]
        assert len(rows[row]["splits"]) == 2
        assert rows[row]["training_seconds"] > 0
        assert rows[row]["embedding_seconds"] > 0
    assert rows["GraphCL+dcl"]["settings"]["hardness"] == "dcl"
    assert rows["GraphCL"]["settings"]["epochs"] == 2
    assert "majority" in answer.out
    assert found["floor"] == pytest.approx(0.665, abs=0.01)
    assert found["recommended"] in rows
    assert sum(found["expected"]["chosen"].values()) == 20
    assert flat(found["sentences"][0]) in flat(answer.out)
    assert "standard deviation" not in answer.out  # ± is the interval here
    command = rows[found["recommended"]]["command"]
    assert f"    {command}\n" in answer.out  # one line, to be copied
    trained = augcl(*shlex.split(command)[1:], "--seeds", 1, "--jobs", 1, "--no-evaluate")
    assert trained.code == 0


def test_all_rows_are_tested_on_the_same_splits(succeeds, tmp_path):
    folder, out = write_graphs(tmp_path / "mine"), tmp_path / "out"
    succeeds("compare", folder, *QUICK, "--methods", "wl,untrained,GraphCL+dcl", "--out", out)
    hashes = {}
    for file in cell_files(out):
        record = json.loads(file.read_text())
        hashes.setdefault(record["seed"], set()).add(record["accuracy"]["split_hash"])
    assert [len(seen) for seen in hashes.values()] == [1, 1]
    assert hashes[0] != hashes[1]


def test_the_same_command_continues(succeeds, tmp_path, monkeypatch):
    folder, out = write_graphs(tmp_path / "mine"), tmp_path / "out"
    words = ("compare", folder, *QUICK, "--methods", "untrained", "--out", out, "--json")
    first = json.loads(succeeds(*words))
    monkeypatch.setattr(Cell, "compute", lambda *_: pytest.fail("it was computed before"))
    assert json.loads(succeeds(*words)) == first


def test_a_damaged_cell_is_named_with_its_cure(refused, succeeds, tmp_path):
    folder, out = write_graphs(tmp_path / "mine"), tmp_path / "out"
    words = ("compare", folder, *QUICK, "--methods", "untrained", "--out", out)
    succeeds(*words)
    file = min(cell_files(out))
    sound = json.loads(file.read_text())
    foreign = {**sound["accuracy"], "scoring": "charm"}
    endless = {**sound["accuracy"], "folds": [[1e300]]}
    for damage in ({"seconds": [1]}, {"spec": 3}, {"accuracy": foreign}, {"accuracy": endless}):
        file.write_text(json.dumps(sound | damage))
        line = refused(*words)
        assert str(file.parent) in line
        assert line.rstrip().endswith(": delete it")


def test_numbers_are_compared_by_r2(succeeds, tmp_path):
    folder, out = write_sizes(tmp_path / "sizes"), tmp_path / "out"
    names = ("WLFeatures", "WLKernel", "untrained", "GraphCL+augcl")
    more = ("--target", "size", "--methods", ",".join(names))
    printed = succeeds("compare", folder, *QUICK, *more, "--out", out)
    found = json.loads((out / "recommendation-sizes-size.json").read_text())
    assert (found["task"], found["scoring"]) == ("regression", "r2")
    rows = by_name(found)
    assert set(rows) == set(names)
    assert found["best_training_free"] == "WLFeatures"
    assert rows["untrained"]["score"] > 0.5  # sums over nodes know the size
    assert found["floor"] < 0.1
    assert re.search(r"(?m)^ mean +-?0\.\d", printed)
    assert "--target size" in rows["GraphCL+augcl"]["command"]


def test_several_labels_are_compared_by_roc_auc(succeeds, tmp_path):
    folder, out = write_sizes(tmp_path / "mine", several=True), tmp_path / "out"
    more = ("--target", "is_*", "--methods", "untrained,GraphCL+hcl", "--out", out, "--json")
    found = json.loads(succeeds("compare", folder, "--epochs", 1, "--seeds", 1, *more))
    assert (found["task"], found["scoring"]) == ("multilabel", "roc_auc")
    assert by_name(found)["untrained"]["score"] > 0.6


def test_the_training_free_row_wins_where_features_tell_the_class(succeeds, tmp_path, monkeypatch):
    monkeypatch.setattr(recommend, "ALIKE", 0.0)  # two epochs take no time here
    folder, out = write_nodes(tmp_path / "words"), tmp_path / "out"
    more = ("--methods", "gca+dcl,gca+propagation,RawFeatures,propagation,untrained", "--out", out)
    found = json.loads(succeeds("compare", folder, *QUICK, *more, "--json"))
    free = ["RawFeatures", "Propagation"]
    rows = by_name(found)
    assert list(rows) == [*free, "untrained", "GCA+dcl", "GCA+propagation"]
    assert "--beside Propagation" in rows["GCA+propagation"]["command"]
    assert found["recommended"] in recommend.TRAINING_FREE
    assert found["best_training_free"] in ("RawFeatures", "Propagation")
    assert found["expected"]["mean"] > 0.8
    assert rows["GCA+dcl"]["against_training_free"]["mean"] <= 0.01


def test_what_does_not_fit_into_the_budget_is_listed(augcl, tmp_path, monkeypatch):
    """A training takes an hour by the clock of this test."""
    now = [0.0]

    def compute(cell, out, data_dir):
        trained = 0.0 if cell.spec.epochs == 0 else 3600.0
        now[0] += 1 + trained
        accuracy = {"folds": [0.8, 0.9, 0.8], "inner": [], "protocol": "tu-svm-10fold"}
        record = {"seed": cell.seed, "accuracy": accuracy}
        write_json(cell.path(out), {**record, "seconds": {"training": trained, "evaluation": 1.0}})

    monkeypatch.setattr(Cell, "compute", compute)
    monkeypatch.setattr("augcl.cli.compare.time.monotonic", lambda: now[0])
    monkeypatch.setattr(recommend, "short_run", lambda *_, **__: pytest.fail("not tight"))
    rows = ("--methods", "untrained,GraphCL,GraphCL+dcl", "--out", tmp_path)
    answer = augcl("compare", "MUTAG", *QUICK, *rows, "--budget", "70m")
    assert (answer.code, answer.complaints) == (0, [])
    found = json.loads((tmp_path / "recommendation-MUTAG.json").read_text())
    assert list(by_name(found)) == ["untrained"]  # GraphCL's second training does not fit
    left = {out["row"]: out["seconds"] for out in found["left_out"]}
    assert left["GraphCL"] == pytest.approx(3601, rel=0.01)
    assert left["GraphCL+dcl"] == pytest.approx(7202, rel=0.01)
    assert "Not run, too slow for --budget: GraphCL (60 min), GraphCL+dcl (2.0 h)." in flat(
        answer.out
    )
    page = tmp_path / "recommendation-MUTAG.html"
    assert answer.out.splitlines()[-1] == f"See it: augcl explore {page}"
    again = augcl("compare", "MUTAG", *QUICK, *rows, "--budget", "none")
    assert again.code == 0
    found = json.loads((tmp_path / "recommendation-MUTAG.json").read_text())
    assert list(by_name(found)) == ["untrained", "GraphCL", "GraphCL+dcl"]
    assert found["left_out"] == []


def test_no_row_is_left_out_because_another_was_slow_to_judge(succeeds, tmp_path, monkeypatch):
    """Raw features of a wide graph take ten minutes to judge; a short run tells what others do."""
    now, tried = [0.0], []

    def compute(cell, out, data_dir):
        judging = 600.0 if cell.spec.method == "RawFeatures" else 1.0
        now[0] += judging
        accuracy = {"folds": [0.8, 0.9, 0.8], "inner": [], "protocol": "linear-10-10-80"}
        seconds = {"training": 0.1, "evaluation": judging}
        write_json(cell.path(out), {"seed": cell.seed, "accuracy": accuracy, "seconds": seconds})

    def short_run(spec, data, *, progress):
        tried.append(spec.method)
        return ShortRun(1, 1, Cost(0.0, 0.0, 0.0, 1.0, memory=0.0))

    monkeypatch.setattr(Cell, "compute", compute)
    monkeypatch.setattr("augcl.cli.compare.time.monotonic", lambda: now[0])
    monkeypatch.setattr(recommend, "short_run", short_run)
    folder = write_nodes(tmp_path / "words")
    rows = ("--methods", "RawFeatures,Propagation,GCA", *ONE, "--budget", "11m")
    found = json.loads(succeeds("compare", folder, *rows, "--out", tmp_path, "--json"))
    assert found["left_out"] == []
    assert tried == ["Propagation"]  # then it is known how long others take to judge


def test_two_data_sets_share_a_folder(succeeds, tmp_path):
    folder, out = write_sizes(tmp_path / "sizes"), tmp_path / "out"
    words = (*QUICK, "--methods", "untrained", "--out", out)
    succeeds("compare", "MUTAG", *words)
    first = (out / "recommendation-MUTAG.json").read_text()
    succeeds("compare", folder, "--target", "size", *words)
    assert (out / "recommendation-MUTAG.json").read_text() == first
    assert (out / "recommendation-sizes-size.md").exists()


def test_nodes_without_features_have_walks(succeeds, tmp_path):
    pytest.importorskip("gensim", reason="optional: gensim is not installed")
    folder, out = tmp_path / "groups", tmp_path / "out"
    folder.mkdir()
    graph = nx.planted_partition_graph(2, 60, 0.3, 0.02, seed=0)
    edges = [f"{u},{v}" for u, v in graph.edges]
    (folder / "edges.csv").write_text("\n".join(["source,target", *edges]) + "\n")
    nodes = [f"{n},{n // 60}" for n in graph]
    (folder / "nodes.csv").write_text("\n".join(["node,label", *nodes]) + "\n")
    found = json.loads(succeeds("compare", folder, *ONE, "--out", out, "--json"))
    rows = by_name(found)
    assert "RawFeatures" not in rows
    assert rows["Node2Vec"]["score"] > 0.8
    assert not found["left_out"]


@pytest.mark.parametrize(("target", "task"), [("weight", "regression"), ("in_*", "multilabel")])
def test_nodes_are_compared_by_numbers_and_by_several_labels(succeeds, tmp_path, target, task):
    folder = tmp_path / "ring"
    folder.mkdir()
    edges = [f"{n},{(n + 1) % 60}" for n in range(60)]
    (folder / "edges.csv").write_text("\n".join(["source,target", *edges]) + "\n")
    nodes = [f"{n},{n % 7},{n % 3 / 2},{n % 7 + 0.1},{n % 2},{n // 30}" for n in range(60)]
    header = "node,a,b,weight,in_one,in_two"
    (folder / "nodes.csv").write_text("\n".join([header, *nodes]) + "\n")
    words = ("--target", target, "--methods", "Propagation,GCA", *ONE, "--json")
    found = json.loads(succeeds("compare", folder, *words, "--out", tmp_path / "out"))
    assert found["task"] == task
    assert list(by_name(found)) == ["Propagation", "GCA"]


def test_a_row_that_the_data_do_not_suit_is_left_out_with_the_reason(augcl, tmp_path):
    folder, out = write_graphs(tmp_path / "mine"), tmp_path / "out"
    nodes = "".join(f"g{i},{n},{n + 0.5}\n" for i in range(24) for n in range(4 + i // 2 % 4))
    (folder / "nodes.csv").write_text("graph,node,mass\n" + nodes)
    answer = augcl("compare", folder, *ONE, "--out", out)
    assert answer.code == 0
    assert "Not run: WLKernel: mine has node features that are not whole numbers" in flat(
        answer.out
    )
    asked = augcl("compare", folder, *QUICK, "--methods", "WLKernel,untrained", "--out", out)
    assert asked.code == 2
    assert "not whole numbers" in asked.err


@pytest.mark.parametrize("write", [write_graphs, write_nodes])
def test_without_labels_the_cure_is_told(refused, tmp_path, write):
    folder = write(tmp_path / "mine", labels=False)
    line = refused("compare", folder, "--out", tmp_path / "out")
    assert "mine has no labels: a comparison needs some" in line
    assert "--target" in line
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "cure"),
    [
        (("MUTAG", "--budget", "soon"), "--budget soon: write a time such as 90s, 10m or 2h"),
        (("MUTAG", "--methods", "GraphCl,GCN"), "unknown method 'GCN'"),
        (("MUTAG", "--methods", "GCA"), "GCA embeds nodes, but this data set is for"),
        (("MUTAG", "--methods", "WLKernel+dcl"), "WLKernel has no negatives to weigh"),
        (("MUTAG", "--select", "inner"), "add --hardness-study"),
        (("MUTAG", "--hardness-study", "--methods", "GraphCL"), "leave out --methods"),
        (("MUTAG", "--method", "InfoGraph"), "InfoGraph has no negatives to weigh: choose"),
        (("MUTAG", "--set", "tua=0.1"), "GraphCL has no parameter tua: did you mean tau"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_a_wrong_option_is_refused_in_one_line(refused, tmp_path, arguments, cure):
    assert cure in refused("compare", *arguments, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()
