"""Kernels from the command line, from training to judgement; and the list of methods."""

import json
import re

import numpy as np
import pytest

from augcl.hardness import HARDNESS
from augcl.runs.models import METHODS, method_name


@pytest.fixture(scope="module")
def kernel_run(tmp_path_factory, succeeds):
    folder = tmp_path_factory.mktemp("runs") / "wl"
    given = (
        "--method",
        "WLKernel",
        "--preset",
        "published",
        "--seeds",
        2,
        "--jobs",
        1,
        "--out",
        folder,
    )
    said = succeeds("train", "MUTAG", *given)
    assert "WLKernel on MUTAG" in said  # no "+ none"
    return folder


def test_a_kernel_is_trained_judged_and_drawn(kernel_run):
    result = json.loads((kernel_run / "result.json").read_text())
    assert result["accuracy"]["mean"] > 0.75
    assert result["settings"]["height"] == 5
    assert result["seconds"]["training"] > 0
    assert "in the space of the kernel" in (kernel_run / "report.html").read_text()
    with np.load(kernel_run / "embeddings.npz") as found:
        assert found["Z"].shape == (188, 188)
        assert bool(found["kernel"])


@pytest.mark.parametrize("ending", ["npz", "csv", "parquet"])
def test_a_file_tells_that_it_is_a_kernel(kernel_run, succeeds, tmp_path, ending):
    file = tmp_path / f"k.{ending}"
    succeeds("embed", kernel_run, "MUTAG", "--out", file)
    given = ("--repeats", 1, "--jobs", 1, "--json")
    found = json.loads(succeeds("evaluate", file, *given))
    result = json.loads((kernel_run / "result.json").read_text())
    assert found["mean"] == result["accuracy"]["runs"][0]


def test_rows_of_new_graphs_are_written_but_not_judged(
    kernel_run, succeeds, refused, tu_set, tmp_path
):
    file = tmp_path / "k.npz"
    said = succeeds("embed", kernel_run, tu_set(), "--out", file)
    assert "3 embeddings of width 188" in said
    assert "the kernel has shape (3, 188)" in refused("evaluate", file)


def test_a_kernel_cannot_be_clustered(kernel_run, refused):
    line = refused("evaluate", kernel_run / "embeddings.npz", "--clustering")
    assert "leave out --clustering" in line


def test_a_kernel_has_no_hardness(refused, tmp_path):
    line = refused("train", "--method", "WLKernel", "--hardness", "dcl", "--out", tmp_path / "x")
    assert "WLKernel has no negatives to weigh" in line


@pytest.mark.parametrize(
    ("method", "option", "value"),
    [("WLKernel", "epochs", 3), ("Sub2Vec", "epochs", 3), ("WLKernel", "recipe", "authors")],
)
def test_an_option_that_would_change_nothing_is_refused(refused, tmp_path, method, option, value):
    given = ("--method", method, f"--{option}", value, "--out", tmp_path / "x")
    assert f"{method} has no option {option}: leave it out" in refused("train", *given)
    assert not (tmp_path / "x").exists()


def test_continuous_features_are_refused_in_one_line(refused, tu_set, tmp_path):
    given = ("--features", "attributes", "--no-evaluate", "--jobs", 1, "--out", tmp_path / "x")
    line = refused("train", tu_set(), "--method", "WLKernel", *given)
    assert "constant or degree features" in line


def test_every_method_is_listed_with_what_it_does(succeeds):
    listed = json.loads(succeeds("methods", "--json"))
    assert [facts["method"] for facts in listed] == list(METHODS)
    for facts in listed:
        assert facts["level"] in ("graph", "node")
        assert facts["cost"] in ("seconds", "minutes", "hours")
        assert len(facts["does"]) > 20
    years = {facts["method"]: facts["year"] for facts in listed}
    assert (years["WLKernel"], years["RawFeatures"]) == (2011, None)
    costs = {facts["method"]: facts["cost"] for facts in listed}
    assert (costs["HSAN"], costs["GMI"]) == ("hours", "hours")  # of all pairs, hundreds of epochs


def test_the_list_is_a_table_for_people(succeeds):
    text = succeeds("methods")
    assert re.search(r"(?ms)^WLKernel +graphs +2011 +seconds +Compare .* paper: WL\.", text)
    assert re.search(r"(?m)^GCA +nodes +2021 +hours +GRACE that", text)


@pytest.mark.parametrize(
    ("given", "level", "ours"),
    [
        ("WL", "graph", "WLKernel"),
        ("gk", "graph", "GraphletKernel"),
        ("DGK", "graph", "DeepGraphKernel"),
        ("Graph2vec", "graph", "Graph2Vec"),
        ("sub2vec", "graph", "Sub2Vec"),
        ("raw", "node", "RawFeatures"),
        ("DeepWalk+features", "node", "DeepWalkFeatures"),
        ("mvgrl", "graph", "MVGRLGraphs"),
        ("MVGRL", "node", "MVGRL"),
        ("MVGRL", None, "MVGRL"),
        ("node2vec", "graph", "Node2VecGraphs"),
        ("node2vec", "node", "Node2Vec"),
        ("graphcl", "graph", "GraphCL"),
        ("graphcl", "node", "GraphCL"),
        ("gca", "node", "GCA"),
    ],
)
def test_names_of_the_paper_are_names_in_any_case(given, level, ours):
    assert method_name(given, level) == ours


@pytest.mark.parametrize("name", METHODS)
def test_every_name_of_ours_names_itself(name):
    assert method_name(name, METHODS[name].level) == name


@pytest.mark.parametrize(("name", "ours"), [("mvgrl", "MVGRLGraphs"), ("wl", "WLKernel")])
def test_a_method_is_trained_by_its_name_in_the_paper(succeeds, tu_set, tmp_path, name, ours):
    options = ("--epochs", 1) if ours == "MVGRLGraphs" else ()
    given = ("--method", name, "--seeds", 1, "--jobs", 1, "--no-evaluate", "--json", *options)
    result = json.loads(succeeds("train", tu_set(), *given, "--out", tmp_path / "x"))
    assert result["method"] == ours


@pytest.mark.parametrize("name", [*METHODS, *HARDNESS])
def test_the_parameters_of_each_are_listed_with_their_defaults(succeeds, name):
    kind = METHODS.get(name) or HARDNESS[name]
    listed = json.loads(succeeds("methods", name, "--json"))["parameters"]
    params = kind().get_params(deep=False)
    as_json = json.loads(json.dumps(params))  # which knows lists only
    assert {n: facts["default"] for n, facts in listed.items()} == as_json
    assert not [n for n, facts in listed.items() if re.match(r"$|(See|As \w+) `", facts["text"])]
    printed = succeeds("methods", name)
    for parameter in params:
        assert parameter in printed


def test_the_meaning_of_a_parameter_comes_from_the_documentation(succeeds, refused):
    text = " ".join(succeeds("methods", "AUGCL").split())
    assert (
        "partition kmeans Clustering that splits the candidates of an anchor into two groups."
        in text
    )
    told = refused("methods", "GraphLC")
    assert "unknown method or hardness 'GraphLC': did you mean GraphCL" in told
    assert "augcl" in refused("methods", "augl")


def test_methods_of_one_level_are_listed(succeeds, refused):
    listed = json.loads(succeeds("methods", "--level", "node", "--json"))
    assert {facts["level"] for facts in listed} == {"node"}
    assert "unknown level 'edge'" in refused("methods", "--level", "edge")


def test_help_of_train_points_to_the_list(succeeds):
    text = " ".join(succeeds("train", "--help").replace("│", " ").split())
    assert "augcl methods lists them" in text
    assert "Example: augcl methods" in succeeds("methods", "--help")
