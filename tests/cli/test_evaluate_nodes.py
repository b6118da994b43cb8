"""Embeddings of nodes travel with what is needed to judge them."""

import json
from dataclasses import replace

import numpy as np
import pyarrow.parquet
import pytest
import torch

from augcl.data.node_graph import NodeGraph, Splits
from augcl.errors import InputError
from augcl.evaluation import PROTOCOLS, evaluate
from augcl.evaluation.splits import random_parts
from augcl.runs.embedding_file import read_embeddings, write_embeddings

N = 240


@pytest.fixture
def nodes():
    y = torch.arange(N) % 3
    y[:7] = -1
    parts = random_parts(N, range(20), train=0.2)
    splits = Splits(*(parts == part for part in range(3)))
    no_edges = torch.empty(2, 0, dtype=torch.long)
    names = [f"paper {i}" for i in range(N)]
    return NodeGraph(torch.ones(N, 1), no_edges, y=y, splits=splits, names=names)


@pytest.fixture(name="Z")
def embeddings(nodes):
    noise = np.random.default_rng(0).normal(size=(N, 4))
    return (noise + nodes.y.numpy()[:, None]).astype(np.float32)


def test_an_npz_of_nodes_keeps_labels_names_splits_and_level(nodes, Z, tmp_path):
    write_embeddings(tmp_path / "z.npz", Z, nodes)
    found = read_embeddings(tmp_path / "z.npz")
    assert found.level == "node"
    assert np.array_equal(found.Z, Z)
    assert np.array_equal(found.y, nodes.y)
    assert torch.equal(found.splits.val, nodes.splits.val)
    assert np.load(tmp_path / "z.npz")["names"][3] == "paper 3"
    assert evaluate(found.Z, found.task, repeats=2) == evaluate(Z, nodes, repeats=2)


def test_an_npz_of_graphs_says_so(mutag, tmp_path):
    write_embeddings(tmp_path / "z.npz", np.zeros((len(mutag), 2), dtype=np.float32), mutag)
    found = read_embeddings(tmp_path / "z.npz")
    assert (found.level, found.splits) == ("graph", None)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_table_of_nodes_has_their_names_and_labels(nodes, Z, tmp_path, ending):
    write_embeddings(tmp_path / f"z{ending}", Z, nodes)
    found = read_embeddings(tmp_path / f"z{ending}")
    assert (found.level, found.splits) == ("node", None)
    assert np.array_equal(found.Z, Z)
    assert np.array_equal(found.y, nodes.y)


def test_a_level_that_is_none_is_told(tmp_path):
    np.savez(tmp_path / "z.npz", Z=np.zeros((3, 2)), y=np.arange(3), level=np.str_("edge"))
    with pytest.raises(InputError, match=r"z.npz: 'edge'"):
        read_embeddings(tmp_path / "z.npz")


def test_the_command_picks_the_protocol_by_task(nodes, Z, tmp_path, succeeds):
    write_embeddings(tmp_path / "z.npz", Z, nodes)
    out = json.loads(
        succeeds("evaluate", tmp_path / "z.npz", "--json", "--clustering", "--jobs", 1)
    )
    assert out["protocol"] == "wikics-20"
    assert len(out["runs"]) == len(out["macro_f1"]) == 20
    assert set(out["clustering"]) == {"nmi", "ari", "accuracy"}


def test_the_command_judges_a_table_of_nodes_when_told_how(nodes, Z, tmp_path, succeeds):
    write_embeddings(tmp_path / "z.csv", Z, nodes)
    given = ("--protocol", "linear-10-10-80", "--repeats", 2, "--clustering")
    first, second, floor, third = succeeds("evaluate", tmp_path / "z.csv", *given).splitlines()
    assert floor.startswith("Floor (largest class): 3")
    assert first.endswith("(2 runs, linear-10-10-80)")
    assert second.startswith("The protocol is the one of --protocol.")
    assert third.startswith("NMI 0.")


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_the_command_knows_a_table_of_nodes(nodes, Z, tmp_path, succeeds, ending):
    write_embeddings(tmp_path / f"z{ending}", Z, nodes)
    first, second, _ = succeeds("evaluate", tmp_path / f"z{ending}", "--repeats", 2).splitlines()
    assert first.endswith("(2 runs, linear-10-10-80)")
    assert second.startswith("The file holds nodes, so the protocol is the one for nodes.")


def test_of_a_table_from_elsewhere_the_guess_is_told(tmp_path, succeeds):
    lines = [f"{i},{i % 2},{i % 2}.{i}" for i in range(40)]
    (tmp_path / "z.csv").write_text("\n".join(["name,label,z0", *lines]) + "\n")
    first, second, _ = succeeds("evaluate", tmp_path / "z.csv", "--repeats", 1).splitlines()
    assert first.endswith("(1 run, tu-svm-10fold)")
    assert "does not say what it holds, so the protocol is the one for graphs" in second
    assert "--protocol linear-10-10-80" in second


def test_the_names_of_classes_travel(nodes, Z, tmp_path):
    named = replace(nodes, classes=["a", "b", "c"])
    write_embeddings(tmp_path / "z.npz", Z, named)
    assert read_embeddings(tmp_path / "z.npz").classes == ["a", "b", "c"]
    write_embeddings(tmp_path / "z.parquet", Z, named)
    found = pyarrow.parquet.read_table(tmp_path / "z.parquet")["class"].to_pylist()
    assert found[5:9] == ["", "", "b", "c"]


def test_the_help_names_every_protocol(succeeds, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    out = succeeds("evaluate", "--help")
    assert all(name in out for name in PROTOCOLS)
