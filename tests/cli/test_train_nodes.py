"""`augcl train` on one graph: nodes are embedded, judged, named; a killed run goes on."""

import csv
import json
import re
import signal
import subprocess
import sys

import numpy as np
import pytest
import torch

from augcl import load_model
from augcl.data import load_graph
from augcl.training.checkpoint import Snapshot

QUICK = ("--method", "GRACE", "--epochs", 4, "--json")

# Dies by signal 9 when the eighth epoch is in metrics.jsonl, and not yet in the checkpoint.
KILLED = """
import os
from augcl.cli.main import main
from augcl.methods import GRACE
from augcl.training import callbacks

append = callbacks.append_line
GRACE.checkpoint_seconds = 0.0

def append_and_die(file, line):
    append(file, line)
    if file.read_bytes().count(b"\\n") == 8:
        os.kill(os.getpid(), 9)

callbacks.append_line = append_and_die
main()
"""


def write_graph(folder, nodes, *, labels=""):
    """A graph of nodes p0, p1, … with two features; node i has the class labels[i mod …]."""
    rng = np.random.default_rng(0)
    lines = ["node,age,size" + ",label" * bool(labels)]
    for i in range(nodes):
        label = f",{labels[i % len(labels)]}" if labels else ""
        lines.append(f"p{i},{rng.random():.3f},{rng.random() + i % 2:.3f}{label}")
    pairs = [f"p{i},p{(i + 2 * int(rng.integers(1, 9))) % nodes}" for i in range(nodes)]
    folder.mkdir(exist_ok=True)
    (folder / "nodes.csv").write_text("\n".join(lines) + "\n")
    (folder / "edges.csv").write_text("\n".join(["source,target", *pairs]) + "\n")
    return folder


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """60 named nodes in two classes."""
    return write_graph(tmp_path_factory.mktemp("data") / "people", 60, labels="ab")


@pytest.fixture(scope="module")
def strangers(tmp_path_factory):
    """The same without classes."""
    return write_graph(tmp_path_factory.mktemp("data") / "strangers", 60)


@pytest.fixture(scope="module")
def run(succeeds, people, tmp_path_factory):
    """The folder of a finished run, and what it printed."""
    out = tmp_path_factory.mktemp("nodes") / "run"
    return out, json.loads(succeeds("train", people, *QUICK, "--hardness", "augcl", "--out", out))


def test_a_run_leaves_result_metrics_model_embeddings_and_report(run):
    out, result = run
    assert result == json.loads((out / "result.json").read_text())
    assert (result["method"], result["hardness"]) == ("GRACE", "augcl")
    assert result["settings"]["preset"] == "default"
    assert result["seeds"] == [0]
    assert result["weights"][0]["weight_std"] > 0
    metrics = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert [m["epoch"] for m in metrics] == [1, 2, 3, 4]
    assert "GRACE + augcl on people" in (out / "report.html").read_text()
    assert not [p for p in out.rglob("*") if p.name.endswith(".tmp")]


def test_nodes_are_judged_on_20_splits_of_10_10_80(run, succeeds):
    out, result = run
    accuracy = result["accuracy"]
    assert accuracy["protocol"] == "linear-10-10-80"
    record = json.loads((out / "seed-0" / "record.json").read_text())
    assert len(record["accuracy"]["folds"]) == 20
    found = json.loads(succeeds("evaluate", out / "embeddings.npz", "--json", "--jobs", 1))
    assert found["mean"] == accuracy["mean"]
    assert found["split_hash"] == accuracy["split_hashes"][0]


def test_embeddings_are_those_of_the_model(run, people):
    out, _ = run
    with np.load(out / "embeddings.npz") as arrays:
        assert arrays["names"].tolist() == [f"p{i}" for i in range(60)]
        assert arrays["y"].tolist() == [0, 1] * 30
        assert arrays["level"] == "node"
        assert np.array_equal(arrays["Z"], load_model(out / "model").transform(load_graph(people)))


def test_a_table_of_embeddings_has_the_names_of_the_nodes(succeeds, run, strangers, tmp_path):
    out, _ = run
    said = succeeds("embed", out, strangers, "--out", tmp_path / "z.csv", "--json")
    assert json.loads(said) == {"file": str(tmp_path / "z.csv"), "nodes": 60, "width": 128}
    rows = list(csv.reader((tmp_path / "z.csv").read_text().splitlines()))
    assert [row[0] for row in rows] == ["node", *(f"p{i}" for i in range(60))]
    assert "label" not in rows[0]


def test_a_model_of_nodes_embeds_no_set_and_no_other_features(refused, run, tmp_path):
    out, _ = run
    assert "set of graphs" in refused("embed", out, "MUTAG", "--out", tmp_path / "z.csv")
    (tmp_path / "edges.csv").write_text("source,target\na,b\n")
    line = refused("embed", out, tmp_path, "--out", tmp_path / "z.csv")
    assert "has no node features: the model was trained on age, size" in line


def test_without_labels_it_trains_and_evaluate_says_what_it_needs(
    succeeds, refused, strangers, tmp_path
):
    given = ("train", strangers, *QUICK, "--hardness", "none")
    assert json.loads(succeeds(*given, "--out", tmp_path / "run"))["accuracy"] is None
    assert "has no labels: add" in refused("evaluate", tmp_path / "run" / "embeddings.npz")


@pytest.mark.parametrize(
    ("nodes", "labels", "told"), [(8, "ab", "too few"), (20, "a", "all labels")]
)
def test_labels_that_cannot_be_judged_are_told_before_training(
    refused, succeeds, tmp_path, nodes, labels, told
):
    command = ("train", write_graph(tmp_path / "few", nodes, labels=labels), *QUICK)
    command += ("--hardness", "none", "--out", tmp_path / "run")
    line = refused(*command)
    assert told in line
    assert "--no-evaluate" in line
    assert not (tmp_path / "run").exists()
    assert json.loads(succeeds(*command, "--no-evaluate"))["accuracy"] is None


def test_options_of_the_method_arrive(succeeds, people, tmp_path):
    options = {"centrality": "pagerank", "weights": "live", "edge_drop": [0.1, 0.25]}
    texts = ("centrality=pagerank", "weights=live", "edge_drop=0.1,0.25")
    given = [part for text in texts for part in ("--set", text)]
    given += ["--preset", "Cora", "--candidates", 30]
    plain = ("--epochs", 1, "--no-evaluate", "--json", "--out", tmp_path / "run")
    result = json.loads(succeeds("train", people, "--hardness", "none", *plain, *given))
    assert result["method"] == "GCA"
    options |= {"preset": "Cora", "candidates": 30}
    assert options.items() <= result["settings"].items()
    assert result["settings"]["lr"] == 0.0005


def test_the_threads_that_the_user_gave_are_left_alone(succeeds, people, tmp_path):
    before = torch.get_num_threads()
    succeeds("train", people, "--method", "RawFeatures", "--no-evaluate", "--out", tmp_path / "run")
    assert torch.get_num_threads() == before


@pytest.mark.parametrize(
    ("arguments", "cure"),
    [
        (("MUTAG", "--method", "GCA"), "MUTAG is a set of graphs"),
        (("digits-knn", "--method", "GraphCL"), "digits-knn is one graph"),
        (("people", "--method", "GraphCL"), "one graph"),
        (("people", "--preset", "Corra"), "did you mean Cora"),
        (("people", "--batch-size", 4), "GCA has no option batch-size"),
        (("people", "--augmentation", "random2"), "GCA has no option augmentation"),
        (("people", "--set", "centrality=age"), "unknown centrality 'age'"),
        (("people", "--set", "weights=fluid"), "choose from frozen, live"),
        (("people", "--candidates", 1), "candidates"),
        (("people", "--tau", 0.01), "tau is 0.01: give a finite number, at least 0.02"),
        (("MUTAG", "--set", "method.centrality=degree"), "GraphCL has no parameter centrality"),
        (("people", "--set", "edge_drop=0.1"), "give 2 values with commas between them or none"),
        (("people", "--set", "edge_drop=0.1,x"), "give 2 values with commas between them or none"),
    ],
    ids=str,
)
def test_what_does_not_fit_the_data_is_refused_in_one_line(
    refused, people, tmp_path, arguments, cure
):
    name, *options = arguments
    line = refused("train", people if name == "people" else name, *options, "--out", tmp_path / "x")
    assert cure in line
    assert not (tmp_path / "x").exists()


def test_a_run_killed_amid_the_frozen_weights_goes_on_to_the_same_embeddings(
    succeeds, people, tmp_path
):
    command = ("train", people, "--method", "GRACE", "--hardness", "augcl", "--epochs", 10)
    command = (*map(str, command), "--no-evaluate", "--out")
    dead = subprocess.run(
        [sys.executable, "-c", KILLED, *command, tmp_path / "killed"],
        capture_output=True,
        text=True,
    )
    assert (dead.returncode, dead.stdout) == (-signal.SIGKILL, "")
    written = Snapshot.read(tmp_path / "killed" / "seed-0" / "checkpoint.safetensors")
    assert ["weight_std" in epoch for epoch in written.facts["history"]] == [False] * 5 + [True] * 2
    succeeds(*command, tmp_path / "killed", "--resume")
    succeeds(*command, tmp_path / "calm")
    killed, calm = (np.load(tmp_path / n / "embeddings.npz")["Z"] for n in ("killed", "calm"))
    assert np.array_equal(killed, calm)
    assert len((tmp_path / "killed" / "metrics.jsonl").read_text().splitlines()) == 10


@pytest.mark.filterwarnings("always:GAE")  # printed, as for a user
def test_a_training_that_learned_nothing_is_told_everywhere(augcl, tmp_path):
    out = tmp_path / "dead"
    given = ("--epochs", 3, "--lr", 10, "--no-evaluate", "--jobs", 1, "--out", out)
    trained = augcl("train", "digits-knn", "--method", "GAE", *given)
    assert trained.code == 0
    (line,) = trained.err.splitlines()
    assert "warning: GAE on digits-knn: nothing was learned: everything gets the same" in line
    assert re.search(r"seeds that learned nothing \(see augcl doctor\) +│ +0 ", trained.out)
    assert json.loads((out / "result.json").read_text())["collapse"] == [
        "everything gets the same embedding"
    ]
    assert "Seed 0 learned nothing" in (out / "report.html").read_text()
    assert "seed 0 learned nothing" in " ".join(augcl("doctor", out).out.split())
    assert (
        "nothing was learned" in augcl("embed", out, "digits-knn", "--out", tmp_path / "z.npz").err
    )
