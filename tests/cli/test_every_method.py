"""Every name that `augcl methods` lists trains, embeds and comes back from the command line."""

import json

import numpy as np
import pytest

from augcl import load_model
from augcl.runs.models import METHODS


@pytest.fixture
def friends(tmp_path):
    """A ring of 12 named nodes with two numbers each."""
    folder = tmp_path / "friends"
    folder.mkdir()
    edges = "".join(f"n{i},n{(i + 1) % 12}\n" for i in range(12))
    (folder / "edges.csv").write_text("source,target\n" + edges)
    nodes = "".join(f"n{i},{i % 3},{i // 6}\n" for i in range(12))
    (folder / "nodes.csv").write_text("id,a,b\n" + nodes)
    return folder


@pytest.mark.parametrize("name", [name for name, kind in METHODS.items() if kind.needs is None])
def test_it_trains_and_its_model_embeds(name, succeeds, tu_set, friends, tmp_path):
    data = tu_set() if METHODS[name].level == "graph" else friends
    known = METHODS[name]().get_params(deep=False)
    options = ("--epochs", 1) if "epochs" in known else ()
    given = ("--method", name, "--hardness", "none", "--seeds", 1, "--jobs", 1, *options)
    run, file = tmp_path / "run", tmp_path / "z.npz"
    said = succeeds("train", data, *given, "--no-evaluate", "--json", "--out", run)
    assert json.loads(said)["method"] == name
    model = load_model(run / "model")
    assert type(model) is METHODS[name]
    columns = model.get_feature_names_out().tolist()
    succeeds("embed", run, data, "--out", file)
    with np.load(file) as found, np.load(run / "embeddings.npz") as kept:
        assert np.isfinite(found["Z"]).all()
        assert np.array_equal(found["Z"], kept["Z"])
        assert columns == [f"{name.lower()}{i}" for i in range(found["Z"].shape[1])]


def test_a_method_for_molecules_refuses_other_graphs(refused, tu_set, tmp_path):
    given = ("--method", "MorganFingerprints", "--seeds", 1, "--jobs", 1, "--no-evaluate")
    assert "holds no SMILES" in refused("train", tu_set(), *given, "--out", tmp_path / "x")


def test_a_method_for_molecules_trains_and_embeds(succeeds, drugs, tmp_path):
    file, run, z = tmp_path / "drugs.csv", tmp_path / "run", tmp_path / "z.npz"
    rows = "".join(f"{smiles},{i / 2}\n" for i, smiles in enumerate(drugs.smiles))
    file.write_text("smiles,logP\n" + rows)
    given = ("--method", "MorganFingerprints", "--seeds", 1, "--jobs", 1, "--no-evaluate")
    succeeds("train", file, *given, "--target", "logP", "--out", run)
    succeeds("embed", run, file, "--target", "logP", "--out", z)
    with np.load(z) as found, np.load(run / "embeddings.npz") as kept:
        assert np.array_equal(found["Z"], kept["Z"])
        assert kept["Z"].shape == (12, 2048)
    rows = json.loads(succeeds("neighbors", run, "CCO", "-k", 1, "--json"))
    assert rows[0]["neighbor"] == "CCCCO"
