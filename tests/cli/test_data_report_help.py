import json
import re

import pytest

from augcl import __version__
from augcl.data import NodeGraph


def test_the_data_sets_are_listed_with_a_word_on_each(succeeds):
    listed = succeeds("data")
    assert re.search(r"(?m)^MUTAG +graphs +188 nitro compounds", listed)
    assert re.search(r"(?m)^or a path +a TU zip", listed)
    assert json.loads(succeeds("data", "--json"))[:2] == ["MUTAG", "PROTEINS"]


def test_a_data_set_is_described(succeeds):
    assert re.search(r"graphs +│ +188 ", succeeds("data", "MUTAG"))
    facts = json.loads(succeeds("data", "mutag", "--json"))
    assert (facts["name"], facts["graphs"], facts["class_sizes"]) == ("MUTAG", 188, [63, 125])


def test_a_graph_with_classes_of_nodes_is_listed_and_described(succeeds):
    assert re.search(r"(?m)^Amazon-Photo +nodes +7,650", succeeds("data"))
    shown = succeeds("data", "digits-knn")
    for what, value in (("embeddings of", "nodes"), ("nodes", 1797), ("edges", 12339)):
        assert re.search(rf"│ {what} +│ +{value} │", shown)
    facts = json.loads(succeeds("data", "Digits-KNN", "--features", "degree", "--json"))
    assert (facts["name"], facts["level"], facts["features"]) == ("digits-knn", "nodes", 65)


def test_one_graph_in_csv_files_is_described(succeeds, refused, tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\nann,bob\nbob,cem\n")
    (tmp_path / "nodes.csv").write_text("node,age,label\nann,1,a\nbob,2,\ncem,3,b\ndan,4,b\n")
    facts = json.loads(succeeds("data", tmp_path, "--json"))
    assert (facts["nodes"], facts["edges"], facts["features"]) == (4, 2, 1)
    assert (facts["class_sizes"], facts["unlabelled"], facts["isolated_nodes"]) == ([1, 2], 1, 1)
    assert "unknown features" in refused("data", tmp_path, "--features", "attributes")


def test_a_table_without_classes_says_how_to_name_them(succeeds, tmp_path):
    (tmp_path / "edges.csv").write_text("source,target,weight\na,b,0.5\nb,c,1\n")
    text = succeeds("data", tmp_path)
    assert re.search(r"│ classes +│ +none: --target names their column │", text)
    assert "class sizes" not in text
    assert re.search(r"│ edge weights +│ +yes │", text)


def test_graphs_in_a_file_are_described(succeeds, tu_set):
    facts = json.loads(succeeds("data", tu_set(), "--features", "attributes", "--json"))
    assert (facts["name"], facts["graphs"], facts["features"]) == ("MINE", 3, 3 + 2)


def test_a_report_is_drawn_again(run, succeeds):
    page = run / "report.html"
    before = page.stat().st_mtime_ns
    assert succeeds("report", run) == f"wrote {page}\n"
    assert page.stat().st_mtime_ns > before


def test_a_report_of_no_run_is_refused(refused, tmp_path):
    assert f"{tmp_path} holds no finished run" in refused("report", tmp_path)


def test_the_version_is_told(succeeds):
    assert succeeds("--version") == f"augcl {__version__}\n"


def test_help_names_every_command_and_where_to_start(succeeds):
    text = succeeds("--help")
    assert "Start with augcl train" in text
    for command in ("train", "embed", "evaluate", "data", "doctor", "report"):
        assert re.search(rf"│ {command} +[A-Z]", text)


def test_help_of_train_teaches_by_examples_and_choices(succeeds):
    text = " ".join(succeeds("train", "--help").replace("│", " ").split())
    assert "augcl train my.zip --out runs/mine" in text
    for option in ("--hardness", "--epochs", "--seeds", "--resume", "--overwrite", "--json"):
        assert option in text
    assert "none, augcl, dcl, hcl, progcl or nearest" in text
    assert "constant, degree, log-degree or attributes" in text


def test_help_of_train_has_panels_and_defaults(succeeds, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    text = succeeds("train", "--help")
    panels = re.findall(r"(?m)^╭─ (\w+) ─", text)
    assert panels == ["Arguments", "Options", "Data", "Method", "Training", "Output"]
    assert re.search(r"--seeds .*\n.*\[default: \(5 for graphs, 1 for nodes\)\]", text)
    assert "--set" in text


COMMANDS = [
    *("train", "embed", "evaluate", "compare", "reproduce"),
    *("attack", "data", "methods", "doctor", "report", "explore"),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_plain_and_fits_a_terminal(succeeds, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    text = succeeds(command, "--help")
    assert max(map(len, text.splitlines())) <= 80
    assert not re.search(r"\b(so many|anew|told|tells?|likewise|Of)\b", text)
    assert "…" not in re.sub(r"\(.*?\)", "", text)  # nothing is cut off


@pytest.mark.parametrize(
    "command", ["embed", "evaluate", "attack", "data", "doctor", "report", "explore"]
)
def test_help_of_each_command_has_an_example(succeeds, command):
    assert f"Example: augcl {command} " in succeeds(command, "--help")


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (
            "reproduce",
            "Repeat the command to continue a stopped run; several processes may share",
        ),
        ("doctor", "classes too small to evaluate, graphs too small to augment, and the time"),
        ("attack", "a structure2vec victim is trained on 90 % of each class"),
    ],
)
def test_paragraphs_of_the_help_are_as_wide_as_the_terminal(
    succeeds, monkeypatch, command, sentence
):
    monkeypatch.setenv("COLUMNS", "400")
    assert sentence in succeeds(command, "--help")


def test_examples_of_the_help_stand_on_lines_of_their_own(succeeds, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    lines = [line.strip() for line in succeeds("reproduce", "--help").splitlines()]
    assert "augcl reproduce headroom --datasets MUTAG --methods AUGCL" in lines
    assert "augcl reproduce graph-classification --datasets MUTAG --select inner" in lines


def test_help_of_reproduce_names_every_reproduction(succeeds):
    from augcl.paper.reproductions import REPRODUCTIONS

    text = succeeds("reproduce", "--help").replace("│", " ")
    assert set(REPRODUCTIONS) <= set(re.findall(r"[\w-]+", text))


def test_one_graph_is_described_without_a_copy(succeeds, monkeypatch):
    def copied(graph):
        raise AssertionError("as_node_graph cleans the edges of a Data again")

    monkeypatch.setattr(NodeGraph, "to_data", copied)
    assert "1797" in succeeds("data", "digits-knn")
