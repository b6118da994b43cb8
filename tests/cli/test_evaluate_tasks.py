"""`augcl evaluate` with tasks, scorings, groups, splits and links."""

import json

import numpy as np
import pytest


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(80, 2))
    file = tmp_path / "z.csv"
    lines = ["graph,label,patient,part,z0,z1"]
    for i, (a, b) in enumerate(Z):
        part = ("train", "val", "test")[i % 3]
        lines.append(f"g{i},{2 * a + 0.25},p{i // 4},{part},{a},{b}")
    file.write_text("\n".join(lines) + "\n")
    return file


def test_numbers_are_judged_by_ridge_with_the_floor(table, succeeds):
    text = succeeds("evaluate", table, "--repeats", 1)
    assert text.startswith("R² 1.000 ± 0.000 (1 run, ridge-10fold)")
    assert "Floor (mean of the training part): R² -" in text


def test_groups_and_scoring_reach_json(table, succeeds, tmp_path):
    asked = ("--scoring", "MAE", "--groups", "patient", "--json", "--repeats", 1)
    found = json.loads(succeeds("evaluate", table, *asked))
    assert found["protocol"] == "ridge-10fold, by groups"
    assert found["scoring"] == "mae"
    assert found["mean"] < 0.1 < found["floor"]
    lines = tmp_path / "groups.txt"
    lines.write_text("".join(f"p{i // 4}\n" for i in range(80)))
    again = json.loads(succeeds("evaluate", table, *asked[:3], lines, *asked[4:]))
    assert again["split_hash"] == found["split_hash"]


def test_a_split_of_ones_own(table, succeeds):
    found = json.loads(succeeds("evaluate", table, "--split", "part", "--json"))
    assert found["protocol"] == "public-split"
    assert len(found["runs"]) == 1


def test_a_column_that_is_not_there_is_named(table, refused):
    assert "--groups scaffold is neither a file nor a column" in refused(
        "evaluate", table, "--groups", "scaffold"
    )


def test_links_of_a_run(tmp_path, succeeds, refused):
    folder = tmp_path / "ring"
    folder.mkdir()
    edges = [f"{i},{(i + step) % 40}" for i in range(40) for step in (1, 2)]
    (folder / "edges.csv").write_text("source,target\n" + "\n".join(edges) + "\n")
    out = tmp_path / "run"
    succeeds("train", folder, "--method", "GAE", "--hardness", "none", "--epochs", 2, "--out", out)
    found = json.loads(succeeds("evaluate", out, "--links", "--json"))
    assert found["protocol"] == "links-10-hadamard"
    assert 0 <= found["average_precision"][0] <= 1
    assert "Average precision" in succeeds("evaluate", out, "--links")
    assert "needs the folder of a run" in refused("evaluate", out / "embeddings.npz", "--links")
