"""Molecules, targets, missing and unknown values on the command line."""

import json

import numpy as np
import pytest

from augcl import Beside, from_smiles, load_model

pytestmark = pytest.mark.filterwarnings("default:.*(not used|left out)")  # they are printed
SMILES = ["CCO", "c1ccccc1", "CC(=O)O", "CCN", "CCCC", "C1CC1", "CCOC", "Oc1ccccc1"]


@pytest.fixture
def molecules(tmp_path):
    pytest.importorskip("rdkit")
    lines = [f"{text},{i / 4},{i % 2}" for i, text in enumerate(SMILES)]
    file = tmp_path / "drugs.csv"
    file.write_text("\n".join(["smiles,logP,active", *lines]) + "\n")
    return file


def graphs_of(folder, elements):
    """Write one pair of atoms a graph, whose second atom is the given element."""
    folder.mkdir()
    edges = ["graph,source,target,order"]
    nodes = ["graph,node,element"]
    for i, element in enumerate(elements):
        edges.append(f"m{i},a,b,single")
        nodes += [f"m{i},a,C", f"m{i},b,{element}"]
    (folder / "edges.csv").write_text("\n".join(edges) + "\n")
    (folder / "nodes.csv").write_text("\n".join(nodes) + "\n")
    return folder


def test_molecules_are_described_trained_on_and_embedded(augcl, succeeds, molecules, tmp_path):
    answer = augcl("data", molecules, "--target", "logP", "--json")
    facts = json.loads(answer.out)
    assert (answer.code, facts["task"], facts["graphs"]) == (0, "regression", 8)
    assert facts["targets"]["logP"]["most"] == 1.75
    assert "column active not used" in answer.err
    shown = succeeds("data", molecules, "--target", "[la]*")
    assert "target logP" in shown
    assert "target active" in shown
    assert "order (4 words" in shown
    out = tmp_path / "run"
    options = ("--target", "logP", "--epochs", 1, "--seeds", 1, "--no-evaluate", "--out", out)
    assert augcl("train", molecules, *options).code == 0
    spec = json.loads((out / "result.json").read_text())["spec"]
    assert (spec["target"], spec["task"]) == ("logP", "auto")
    assert augcl("embed", out, molecules, "--out", tmp_path / "z.csv").code == 0
    assert (tmp_path / "z.csv").read_text().count("\n") == 9


def test_a_refused_smiles_is_named_with_its_line(augcl, molecules):
    molecules.write_text(molecules.read_text().replace("CCN,", "C1CC(,"))
    answer = augcl("data", molecules, "--target", "logP")
    assert (answer.code, answer.out) == (2, "")
    assert "RDKit refuses 1 of 8 SMILES: line 5 ('C1CC(')" in answer.err
    assert "Traceback" not in answer.err
    answer = augcl("data", molecules, "--target", "logP", "--skip-bad", "--json")
    assert json.loads(answer.out)["graphs"] == 7
    assert "line 5 ('C1CC('); left out" in answer.err


def test_the_column_of_smiles_may_have_another_name(succeeds, refused, molecules):
    molecules.write_text(molecules.read_text().replace("smiles,logP,active", "mol,label,id"))
    assert "has no column smiles: name it with smiles= (--smiles)" in refused("data", molecules)
    facts = json.loads(succeeds("data", molecules, "--smiles", "mol", "--json"))
    assert facts["task"] == "regression"
    assert "no column drug" in refused("data", molecules, "--smiles", "drug")
    told = refused("data", molecules, "--smiles", "MOL")
    assert "no column MOL; did you mean mol? the columns are" in told


def test_values_never_seen_are_an_error_ignored_or_skipped(augcl, succeeds, refused, tmp_path):
    seen = graphs_of(tmp_path / "seen", ["C", "O", "C", "O"])
    new = graphs_of(tmp_path / "new", ["O", "Xe", "C"])
    run = tmp_path / "run"
    succeeds("train", seen, "--epochs", 1, "--seeds", 1, "--out", run)
    told = refused("embed", run, new)
    assert "new, graph 'm1', has the node feature 'element=Xe', never seen in training" in told
    out = tmp_path / "z.csv"
    answer = augcl("embed", run, new, "--unknown", "skip", "--out", out, "--json")
    assert json.loads(answer.out)["left_out"] == ["graph 'm1'"]
    assert "graph 'm1'" in answer.err
    assert [line.split(",")[0].strip('"') for line in out.read_text().splitlines()] == [
        "graph", "m0", "m2",
    ]  # fmt: skip
    answer = augcl("embed", run, new, "--unknown", "ignore", "--out", out)
    assert (answer.code, "element=Xe" in answer.err) == (0, True)
    assert out.read_text().count("\n") == 4
    assert "unknown way to treat unknown values" in refused("embed", run, new, "--unknown", "x")


def test_missing_values_are_an_error_or_zero(succeeds, refused, tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,c\n")
    (tmp_path / "nodes.csv").write_text("node,age\na,1\nb,\nc,3\n")
    assert "nodes.csv, line 3: column 'age' is empty" in refused("data", tmp_path)
    facts = json.loads(succeeds("data", tmp_path, "--missing", "zero", "--json"))
    assert facts["columns"] == ["age", "age missing"]


def test_a_comparison_needs_enough_molecules_for_its_folds(augcl, molecules):
    answer = augcl("compare", molecules, "--target", "logP")
    assert answer.code == 2
    assert "10 folds need targets of 20 samples or more" in answer.err


def test_doctor_speaks_of_targets_not_of_classes(augcl, molecules):
    answer = augcl("doctor", molecules, "--target", "logP", "--no-try", "--json")
    findings = {f["about"]: f["what"] for f in json.loads(answer.out)["findings"]}
    assert "classes" not in findings
    assert findings["targets"] == "1 target for regression: logP"


def test_embed_knows_the_target_of_the_training(augcl, succeeds, refused, molecules, tmp_path):
    run, out = tmp_path / "run", tmp_path / "z.npz"
    lines = [line.rsplit(",", 1)[0] for line in molecules.read_text().splitlines()]
    molecules.write_text("\n".join(lines) + "\n")  # without the column active
    options = ("--target", "logP", "--epochs", 1, "--seeds", 1, "--no-evaluate", "--out", run)
    succeeds("train", molecules, *options)
    answer = augcl("embed", run, molecules, "--out", out)
    assert (answer.code, answer.err) == (0, "")
    assert np.load(out)["y"].tolist() == [i / 4 for i in range(8)]
    for text in ("smiles,logP\nCCO,\nCCN,\n", "smiles\nCCO\nCCN\n"):  # not known, not there
        molecules.write_text(text)
        answer = augcl("embed", run, molecules, "--out", out)
        assert (answer.code, answer.err) == (0, "")
        assert np.load(out)["Z"].shape[0] == 2
    assert "no column 'logP' to predict" in refused("embed", run, molecules, "--target", "logP")


def csv_graphs(folder, header, rows):
    """Write one path of 3 to 6 nodes per row of graphs.csv."""
    folder.mkdir()
    edges = [f"{i},{a},{a + 1}\n" for i in range(len(rows)) for a in range(2 + i % 4)]
    (folder / "edges.csv").write_text("graph,source,target\n" + "".join(edges))
    lines = [f"{i},{row}\n" for i, row in enumerate(rows)]
    (folder / "graphs.csv").write_text(f"graph,{header}\n" + "".join(lines))
    return folder


ONE = ("--epochs", 1, "--seeds", 1, "--jobs", 1)


def judged(augcl, tmp_path, *words):
    """Return what `augcl train` prints, and what it writes about the score."""
    answer = augcl("train", *words, *ONE, "--out", tmp_path / "run")
    assert answer.code == 0, answer.err
    return answer.out, json.loads((tmp_path / "run" / "result.json").read_text())["accuracy"]


@pytest.mark.filterwarnings("default")  # one epoch on 40 graphs may be worth a word
def test_train_judges_numbers_by_ridge_and_shows_the_floor(augcl, tmp_path):
    data = csv_graphs(tmp_path / "numbers", "label", [f"{i % 4 + 0.5}" for i in range(40)])
    shown, found = judged(augcl, tmp_path, data)
    assert "R² (ridge-10fold, 1 seed)" in shown
    assert "floor (mean of the training part)" in shown
    assert (found["protocol"], found["scoring"]) == ("ridge-10fold", "r2")
    assert found["floor"] < 0 < 0.9 < found["mean"]  # the target follows from the size


@pytest.mark.filterwarnings("default")
def test_train_judges_several_columns_by_roc_auc_without_blanks(augcl, tmp_path):
    rows = [f"{i % 2},{'' if i % 5 == 0 else int(i % 4 > 1)}" for i in range(40)]
    data = csv_graphs(tmp_path / "columns", "has_a,has_b", rows)
    shown, found = judged(augcl, tmp_path, data, "--target", "has_*")
    assert "ROC-AUC (logistic-10fold, 1 seed)" in shown
    assert "floor (chance)" in shown
    assert (found["protocol"], found["scoring"]) == ("logistic-10fold", "roc_auc")
    assert found["floor"] == 0.5 < found["mean"] <= 1


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    ("target", "protocol"), [("logP", "ridge-10fold"), ("active", "tu-svm-10fold")]
)
def test_train_judges_molecules_by_their_task(augcl, molecules, tmp_path, target, protocol):
    """A fold of two molecules may hold equal numbers, of which there is no R²."""
    first, *lines = molecules.read_text().replace("smiles,", "mol,").splitlines()
    molecules.write_text("\n".join([first, *lines * 3]) + "\n")
    words = (molecules, "--smiles", "mol", "--target", target)
    shown, found = judged(augcl, tmp_path, *words)
    assert f"({protocol}, 1 seed)" in shown
    assert "floor" in shown
    assert found["protocol"] == protocol
    assert found["floor"] < found["mean"] or target == "active"


def test_the_default_for_molecules_has_fingerprints_beside_it(tmp_path, succeeds):
    pytest.importorskip("rdkit")
    file = tmp_path / "drugs.csv"
    lines = [f"{'C' * n}O,{n}.5" for n in range(1, 25)]
    file.write_text("\n".join(["smiles,logP", *lines]) + "\n")
    run = tmp_path / "run"
    told = succeeds("train", file, "--target", "logP", "--epochs", 1, "--seeds", 1, "--out", run)
    assert "GraphCL beside MorganFingerprints" in told
    assert "not used" not in told
    model = load_model(run / "model")
    assert isinstance(model, Beside)
    assert model.transform(from_smiles(["CCN"])).shape[1] > 2048
    embedded = succeeds("embed", run, file, "--out", tmp_path / "z.csv")
    assert "24 embeddings" in embedded
