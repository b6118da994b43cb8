"""`augcl train` on one graph: nodes are embedded, judged, named; a killed run goes on."""

import csv
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

QUICK = ("--method", "GRACE", "--epochs", 4, "--json")


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """A folder with a graph of 60 named nodes in two classes, and one without labels."""
    rng = np.random.default_rng(0)
    folders = {}
    for kind in ("labelled", "unlabelled"):
        folder = folders[kind] = tmp_path_factory.mktemp(kind)
        header = "node,age,size" + ",label" * (kind == "labelled")
        lines = [
            f"p{i},{rng.random():.3f},{rng.random():.3f}" + f",{'ab'[i % 2]}" * (kind == "labelled")
            for i in range(60)
        ]
        (folder / "nodes.csv").write_text("\n".join([header, *lines]) + "\n")
        pairs = [f"p{i},p{(i + 2 * int(rng.integers(1, 9))) % 60}" for i in range(60)]
        (folder / "edges.csv").write_text("\n".join(["source,target", *pairs]) + "\n")
    return folders


@pytest.fixture(scope="module")
def run(augcl, people, tmp_path_factory):
    out = tmp_path_factory.mktemp("nodes") / "run"
    answer = augcl("train", people["labelled"], *QUICK, "--out", out)
    assert answer.code == 0, answer.err
    return out, json.loads(answer.out)


def test_a_run_leaves_result_metrics_model_embeddings_and_report(run):
    out, result = run
    assert result["accuracy"]["protocol"] == "linear-10-10-80"
    assert result["method"] == "GRACE"
    assert len((out / "metrics.jsonl").read_text().splitlines()) == 4
    for name in ("model/model.safetensors", "embeddings.npz", "report.html", "result.json"):
        assert (out / name).exists()


def test_embeddings_come_with_the_names_of_the_nodes(augcl, run, people, tmp_path):
    out, _ = run
    answer = augcl("embed", out, people["unlabelled"], "--out", tmp_path / "z.csv")
    assert answer.code == 0, answer.err
    rows = list(csv.reader((tmp_path / "z.csv").read_text().splitlines()))
    assert [row[0] for row in rows] == ["name", *(f"p{i}" for i in range(60))]
    assert "label" not in rows[0]


def test_without_labels_it_trains_and_evaluate_says_what_it_needs(augcl, people, tmp_path):
    answer = augcl("train", people["unlabelled"], *QUICK, "--out", tmp_path / "run")
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["accuracy"] is None
    answer = augcl("evaluate", tmp_path / "run" / "embeddings.npz")
    assert answer.code == 2
    assert "labels" in answer.err


@pytest.mark.parametrize(
    ("arguments", "cure"),
    [
        (("MUTAG", "--method", "GCA"), "set of graphs"),
        (("digits-knn", "--method", "GraphCL"), "one graph"),
        (("digits-knn", "--preset", "Corra"), "did you mean Cora"),
        (("digits-knn", "--batch-size", 4), "batch-size"),
        (("digits-knn", "--augmentation", "random2"), "augmentation"),
        (("digits-knn", "--centrality", "age"), "centrality"),
        (("MUTAG", "--centrality", "degree"), "centrality"),
    ],
)
def test_what_does_not_fit_the_data_is_refused_in_one_line(augcl, tmp_path, arguments, cure):
    answer = augcl("train", *arguments, "--out", tmp_path / "run")
    assert answer.code == 2
    assert cure in answer.err
    assert len(answer.err.strip().splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_a_run_killed_halfway_goes_on_to_the_same_embeddings(people, tmp_path):
    many = ("--method", "GRACE", "--epochs", "60", "--seeds", "1", "--no-evaluate")
    code = (
        "import sys; from augcl.methods.grace import GRACE; GRACE.checkpoint_seconds = 0.0;"
        "from augcl.cli.main import main; main()"
    )
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}

    def start(out, *more):
        command = [sys.executable, "-c", code, "train", str(people["labelled"]), *many]
        command += ["--out", str(out), *more]
        return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)

    assert start(tmp_path / "calm").wait(120) == 0
    killed = start(tmp_path / "killed")
    metrics = tmp_path / "killed" / "seed-0" / "metrics.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and killed.poll() is None:
        if metrics.exists() and metrics.read_bytes().count(b"\n") > 34:
            break
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    assert killed.wait() == -signal.SIGKILL
    assert start(tmp_path / "killed", "--resume").wait(120) == 0
    calm, resumed = (np.load(tmp_path / n / "embeddings.npz")["Z"] for n in ("calm", "killed"))
    assert np.array_equal(calm, resumed)
