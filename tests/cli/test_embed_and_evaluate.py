import json
import re

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest

from augcl.runs.embedding_file import read_embeddings


def table(path):
    return (pyarrow.csv.read_csv if path.suffix == ".csv" else pyarrow.parquet.read_table)(path)


def test_embedding_the_same_graphs_gives_the_embeddings_of_the_run(run, succeeds, tmp_path):
    said = succeeds("embed", run, "MUTAG", "--out", tmp_path / "z.npz")
    assert said == f"wrote 188 embeddings of width 96 to {tmp_path / 'z.npz'}\n"
    with np.load(tmp_path / "z.npz") as found, np.load(run / "embeddings.npz") as expected:
        assert np.array_equal(found["Z"], expected["Z"])
        assert np.array_equal(found["y"], expected["y"])


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_tables_hold_the_same_numbers(run, succeeds, tmp_path, ending):
    path = tmp_path / f"a table{ending}"
    succeeds("embed", run, "MUTAG", "--out", path)
    found = table(path)
    assert found.column_names == ["graph", "label", *(f"z{i}" for i in range(96))]
    Z = np.column_stack([found[f"z{i}"].to_numpy() for i in range(96)]).astype(np.float32)
    assert np.array_equal(Z, np.load(run / "embeddings.npz")["Z"])


def test_every_kind_of_file_is_read_back_to_the_last_bit(run, succeeds, tmp_path):
    with np.load(run / "embeddings.npz") as file:
        expected = dict(file)
    for name in ("z.npz", "z.csv", "z.parquet"):
        succeeds("embed", run, "MUTAG", "--out", tmp_path / name)
        found = read_embeddings(tmp_path / name)
        assert found.Z.dtype == np.float32
        assert np.array_equal(found.Z, expected["Z"])
        assert np.array_equal(found.y, expected["y"])


def test_every_kind_of_file_is_judged_alike(run, succeeds, tmp_path):
    said = set()
    for name in ("z.npz", "z.csv", "z.parquet"):
        succeeds("embed", run, "MUTAG", "--out", tmp_path / name)
        said.add(succeeds("evaluate", tmp_path / name, "--repeats", 1, "--jobs", 1))
    (text,) = said
    score, reason, floor = text.splitlines()
    assert floor == "Floor (largest class): 66.49 %."
    assert re.fullmatch(r"\d\d\.\d\d ± 0\.00 % \(1 run, tu-svm-10fold\)", score)
    assert reason == (
        "The file holds graphs, so the protocol is the one for graphs. ±: standard deviation over "
        "the runs."
    )


def test_a_run_is_judged_as_training_found_it(run, succeeds):
    result = json.loads((run / "result.json").read_text())["accuracy"]
    mean, std = 100 * result["mean"], 100 * result["std"]
    line, floor, reason = succeeds("evaluate", run).splitlines()
    assert floor == f"Floor (largest class): {100 * result['floor']:.2f} %."
    assert line == f"{mean:.2f} ± {std:.2f} % (2 seeds, tu-svm-10fold)"
    assert "Result of augcl train over all seeds" in reason
    told = json.loads(succeeds("evaluate", run, "--json"))
    assert (told["mean"], told["runs"]) == (result["mean"], result["runs"])


def test_the_embeddings_of_a_run_are_said_to_be_of_seed_0(run, succeeds, refused, tmp_path):
    given = ("--repeats", 1, "--jobs", 1)
    result = json.loads((run / "result.json").read_text())["accuracy"]
    score, _, _, whole = succeeds("evaluate", run / "embeddings.npz", *given).splitlines()
    assert score.startswith(f"{100 * result['runs'][0]:.2f} ")
    assert "are of seed 0. Accuracy of the whole run over 2 seeds: " in whole
    assert f"{100 * result['mean']:.2f} ± " in whole
    assert succeeds("evaluate", run, *given) == succeeds("evaluate", run / "embeddings.npz", *given)
    assert f"{tmp_path} is a folder without embeddings.npz" in refused("evaluate", tmp_path)


def test_too_many_folds_are_told_as_the_option_is_written(refused, tmp_path):
    np.savez(tmp_path / "z.npz", Z=np.zeros((12, 2)), y=np.arange(12) % 2)
    assert "use --folds 6" in refused("evaluate", tmp_path / "z.npz")
    given = ("--protocol", "linear-10-10-80", "--folds", 3)
    assert "z.npz: --folds 3: protocol" in refused("evaluate", tmp_path / "z.npz", *given)


def test_names_of_classes_are_shown_and_exported(succeeds, refused, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    rows = [(f"g{i}", "toxic" if i % 2 else "safe") for i in range(6)]
    edges = "".join(f"{name},1,2\n{name},2,3\n" for name, _ in rows)
    (folder / "edges.csv").write_text("graph,source,target\n" + edges)
    (folder / "graphs.csv").write_text("graph,label\n" + "".join(f"{g},{c}\n" for g, c in rows))
    assert re.search(r"class sizes +│ +safe: 3, toxic: 3", succeeds("data", folder))
    assert json.loads(succeeds("data", folder, "--json"))["class_names"] == ["safe", "toxic"]
    quick = ("--epochs", 1, "--seeds", 1, "--jobs", 1, "--hardness", "none", "--no-evaluate")
    succeeds("train", folder, *quick, "--out", tmp_path / "run")
    assert read_embeddings(tmp_path / "run" / "embeddings.npz").classes == ["safe", "toxic"]
    assert "class 'safe' has only 3" in refused("evaluate", tmp_path / "run")
    assert '"classes": ["safe", "toxic"]' in (tmp_path / "run" / "report.html").read_text()
    succeeds("embed", tmp_path / "run", folder, "--out", tmp_path / "z.csv")
    found = table(tmp_path / "z.csv")
    assert found["class"].to_pylist() == [name for _, name in rows]
    assert found["label"].to_pylist() == [0, 1] * 3


def test_evaluate_finds_the_accuracy_of_the_run(run, succeeds):
    given = ("--repeats", 1, "--jobs", 1, "--json")
    found = json.loads(succeeds("evaluate", run / "embeddings.npz", *given))
    result = json.loads((run / "result.json").read_text())
    assert found["mean"] == result["accuracy"]["runs"][0]
    assert found["runs"] == [found["mean"]]
    assert found["unit"] == "fraction"


def test_graphs_never_seen_and_without_labels_are_embedded(run, succeeds, tu_set, tmp_path):
    graphs = tu_set(graph_labels=None)
    printed = succeeds("embed", run, graphs, "--out", tmp_path / "z.csv", "--json")
    assert json.loads(printed) == {"file": str(tmp_path / "z.csv"), "graphs": 3, "width": 96}
    found = table(tmp_path / "z.csv")
    assert found.column_names[:2] == ["graph", "z0"]
    assert found["graph"].to_pylist() == [0, 1, 2]  # their numbers
    assert np.array_equal(found["z0"][1].as_py(), found["z0"][2].as_py())  # two equal triangles


def test_names_of_graphs_come_back(succeeds, tmp_path):
    for folder, graphs in (("seen", "abcd"), ("new", "xyz")):
        (tmp_path / folder).mkdir()
        edges = "".join(f"{name},1,2\n{name},2,3\n" for name in graphs)
        (tmp_path / folder / "edges.csv").write_text("graph,source,target\n" + edges)
    quick = ("--epochs", 1, "--seeds", 1, "--jobs", 1, "--hardness", "none")
    succeeds("train", tmp_path / "seen", *quick, "--out", tmp_path / "run")
    succeeds("embed", tmp_path / "run", tmp_path / "new", "--out", tmp_path / "z.parquet")
    assert table(tmp_path / "z.parquet")["graph"].to_pylist() == ["x", "y", "z"]


def test_a_saved_model_embeds_without_its_run(run, succeeds, tmp_path):
    succeeds("embed", run / "model", "MUTAG", "--out", tmp_path / "z.npz")
    expected = np.load(run / "embeddings.npz")["Z"]
    assert np.array_equal(np.load(tmp_path / "z.npz")["Z"], expected)


def test_a_folder_without_a_model_is_refused(refused, tmp_path):
    assert f"{tmp_path} holds no trained model" in refused("embed", tmp_path, "MUTAG")


def test_graphs_with_other_features_are_refused(run, refused, tmp_path, tu_set):
    line = refused("embed", run, tu_set(node_labels=None), "--out", tmp_path / "z.npz")
    assert "MINE has no node features: the model was trained on label=0" in line
    assert not (tmp_path / "z.npz").exists()


def test_an_ending_that_is_not_known_is_refused_at_once(run, refused, tmp_path):
    assert ".npz, .csv, .parquet" in refused("embed", run, "MUTAG", "--out", tmp_path / "z.txt")


def test_a_damaged_result_is_named(run, refused, tmp_path):
    (tmp_path / "result.json").write_text('{"spec": ')
    (tmp_path / "model").symlink_to(run / "model")
    assert "result.json is damaged" in refused("embed", tmp_path, "MUTAG")
    assert "result.json is damaged" in refused("report", tmp_path)


def test_a_damaged_model_is_named(run, refused, tmp_path):
    content = (run / "model" / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").write_bytes(content[:-9])
    assert "model.safetensors is damaged" in refused("embed", tmp_path, "MUTAG")


def test_embeddings_without_labels_cannot_be_judged(run, succeeds, refused, tu_set, tmp_path):
    for name in ("z.npz", "z.csv"):
        succeeds("embed", run, tu_set(graph_labels=None), "--out", tmp_path / name)
        line = refused("evaluate", tmp_path / name)
        assert f"{tmp_path / name} has no labels" in line


def no_zip(path):
    path.write_text("hello")


def one_array(path):
    with path.open("wb") as file:
        np.save(file, np.zeros(3))


def cut_short(path):
    np.savez(path, Z=np.zeros((20, 2)), y=np.zeros(20))
    path.write_bytes(path.read_bytes()[:-30])


def arrays(**given):
    return lambda path: np.savez(path, **given)


def text(content):
    return lambda path: path.write_text(content)


@pytest.mark.parametrize(
    ("name", "write", "message"),
    [
        ("z.npz", no_zip, "not a complete .npz file"),
        ("z.npz", one_array, "not a complete .npz file"),
        ("z.npz", cut_short, "is not a complete .npz file"),
        ("z.npz", arrays(X=np.zeros((3, 2))), "no array Z"),
        ("z.npz", arrays(Z=np.zeros(3), y=np.zeros(3)), "shape"),
        ("z.npz", arrays(Z=np.array([["a"], ["b"]]), y=np.zeros(2)), "are not numbers"),
        ("z.npz", arrays(Z=np.zeros((3, 2)), y=np.zeros(2)), "3 embeddings but 2 labels"),
        ("z.npz", arrays(Z=np.full((3, 2), np.nan), y=np.zeros(3)), "NaN"),
        ("z.npz", arrays(Z=np.zeros((3, 2)), y=np.array([0, 1, 1])), "class 0 has only 1"),
        ("z.csv", text(""), "cannot be read"),
        ("z.csv", text("name,label\na,1\n"), "no columns z0"),
        ("z.csv", text("label,z0\nx,1\ny,foo\n"), "are not numbers"),
        ("z.csv", text("label,z0\nx,1\n,2\n"), "entry 2 has no label"),
        ("z.csv", text("label,z0\nx,1\ny\n"), "cannot be read"),
        ("z.parquet", text("nonsense, long enough to be one"), "cannot be read"),
    ],
)
def test_a_file_of_embeddings_that_is_wrong_is_named(refused, tmp_path, name, write, message):
    write(tmp_path / name)
    line = refused("evaluate", tmp_path / name)
    assert str(tmp_path / name) in line
    assert message in line


def test_a_missing_file_is_named(refused, tmp_path):
    assert f"{tmp_path / 'z.npz'} does not exist" in refused("evaluate", tmp_path / "z.npz")


@pytest.mark.parametrize(
    ("option", "value"),
    [("--repeats", 0), ("--folds", 1), ("--jobs", 0), ("--seed", -1), ("--protocol", "guess")],
)
def test_an_option_out_of_range_is_named(run, refused, option, value):
    line = refused("evaluate", run / "embeddings.npz", option, value)
    assert option.strip("-") in line
