import io
import json
import re
import shutil

import networkx as nx
import numpy as np
import pytest
from rich.console import Console

from augcl import DCL, load, load_model
from augcl.cli.train import result_table
from augcl.errors import InputError
from augcl.hardness import HARDNESS

QUICK = ("--epochs", 2, "--seeds", 1, "--jobs", 1, "--hardness", "none")


@pytest.fixture(scope="module")
def result(run):
    return json.loads((run / "result.json").read_text())


def test_the_result_says_what_was_done_and_what_came_out(result):
    assert (result["dataset"], result["method"], result["hardness"]) == (
        "MUTAG",
        "GraphCL",
        "augcl",
    )
    assert result["settings"]["epochs"] == 2
    assert result["settings"]["augmentation"] == "random2"
    assert result["settings"]["tau"] == 0.2
    assert result["hardness_settings"]["params"]["reward"] > 1
    assert result["seeds"] == [0, 1]
    accuracy = result["accuracy"]
    assert len(accuracy["runs"]) == 2
    assert accuracy["mean"] == pytest.approx(np.mean(accuracy["runs"]))
    assert accuracy["std"] == pytest.approx(np.std(accuracy["runs"]))
    assert 0.7 < accuracy["mean"] < 1
    assert accuracy["protocol"] == "tu-svm-10fold"
    assert result["seconds"].keys() == {"training", "evaluation"}
    assert all(seconds > 0 for seconds in result["seconds"].values())
    assert {"python", "augcl", "torch", "numpy", "scikit-learn"} <= result["versions"].keys()


def test_the_result_tells_whether_the_weights_are_alive(result):
    for weights in result["weights"]:
        assert weights["fit_state"] == "alive"
        assert weights["weight_std"] > 0.01


def test_the_folder_holds_what_is_promised_and_nothing_half_written(run):
    assert {p.name for p in run.iterdir()} == {
        "result.json",
        "metrics.jsonl",
        "model",
        "embeddings.npz",
        "report.html",
        "seed-0",
        "seed-1",
    }
    assert not [p for p in run.rglob("*") if p.name.endswith(".tmp")]


def test_metrics_have_one_line_for_each_seed_and_epoch(run):
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert [(m["seed"], m["epoch"]) for m in lines] == [(0, 1), (0, 2), (1, 1), (1, 2)]
    assert all(np.isfinite(m["loss"]) and m["seconds"] > 0 for m in lines)
    assert ["weight_std" in m for m in lines] == [False, True] * 2


def test_embeddings_are_those_of_the_model_of_seed_0(run, mutag):
    with np.load(run / "embeddings.npz", allow_pickle=False) as arrays:
        Z, y = arrays["Z"], arrays["y"]
    assert Z.dtype == np.float32
    assert np.array_equal(Z, load_model(run / "model").transform(mutag))
    assert y.tolist() == mutag.y.tolist()


def test_the_report_needs_no_network(run):
    page = (run / "report.html").read_text()
    assert not re.search(
        r"""<(script|img|link|iframe)[^>]*(src|href)\s*=\s*["']?(https?:)?//""", page
    )
    assert "new EmbeddingMap" in page
    assert "GraphCL + augcl on MUTAG" in page


def test_the_table_shows_the_accuracy_and_the_place(succeeds, tmp_path):
    out = tmp_path / "a [bold] place"
    text = succeeds("train", *QUICK, "--hardness", "augcl", "--out", out)
    assert re.search(r"accuracy \(tu-svm-10fold, 1 seed\) +│ +\d\d\.\d\d %", text)
    assert "spread of the weights" in text
    *_, place, opens = text.splitlines()
    assert place == f"Embeddings, model and report.html are in {out}"
    assert opens == f"See it: augcl explore '{out}'"


def test_resuming_a_finished_run_trains_nothing_and_gives_the_same(run, result, augcl, monkeypatch):
    monkeypatch.setattr("augcl.runs.seeds.run", None)
    given = ("--preset", "published", "--hardness", "augcl", "--epochs", 2, "--seeds", 2)
    answer = augcl("train", *given, "--out", run, "--resume", "--json")
    assert (answer.code, answer.err) == (0, "")
    assert json.loads(answer.out) == result


@pytest.mark.parametrize(("method", "epochs"), [("GraphCL", 40), ("SimGRACE", 20), ("JOAO", 20)])
def test_without_epochs_a_method_trains_as_published(monkeypatch, augcl, tmp_path, method, epochs):
    asked = []

    def stop(spec, *_):
        asked.append(spec.all_epochs)
        raise InputError("enough")

    monkeypatch.setattr("augcl.runs.seeds.run_seeds", stop)
    augcl("train", "--method", method, "--hardness", "none", "--out", tmp_path / "x")
    assert asked == [epochs]


def test_to_resume_and_to_overwrite_is_a_contradiction(run, refused):
    before = (run / "result.json").stat().st_mtime_ns
    line = refused("train", *QUICK, "--out", run, "--resume", "--overwrite")
    assert "--resume continues a run and --overwrite replaces it" in line
    assert (run / "result.json").stat().st_mtime_ns == before


def test_the_spread_is_explained(result):
    console = Console(file=io.StringIO(), width=100)
    console.print(result_table(result))
    assert "±: standard deviation over the seeds" in console.file.getvalue()


def test_json_is_all_that_is_printed(succeeds, tmp_path):
    printed = json.loads(succeeds("train", *QUICK, "--out", tmp_path / "x", "--json"))
    assert printed == json.loads((tmp_path / "x" / "result.json").read_text())


def test_a_resumed_run_may_get_more_seeds(succeeds, tmp_path):
    once = json.loads(succeeds("train", *QUICK, "--out", tmp_path, "--json"))
    more = ("--seeds", 2, "--out", tmp_path, "--resume", "--json")
    both = json.loads(succeeds("train", *QUICK, *more))
    assert both["seeds"] == [0, 1]
    assert both["accuracy"]["runs"][0] == once["accuracy"]["runs"][0]
    assert len((tmp_path / "metrics.jsonl").read_text().splitlines()) == 4


@pytest.mark.parametrize("lost", ["model/model.safetensors", "seed-0/metrics.jsonl"])
def test_what_was_removed_from_a_finished_run_comes_back_when_resumed(succeeds, tmp_path, lost):
    command = ("train", *QUICK, "--no-evaluate", "--out", tmp_path)
    succeeds(*command)
    before = (tmp_path / lost).read_bytes()
    shutil.rmtree(tmp_path / "model") if "model" in lost else (tmp_path / lost).unlink()
    succeeds(*command, "--resume")
    assert (tmp_path / lost).read_bytes() == before


def test_a_record_of_another_version_is_told(succeeds, refused, tmp_path):
    command = ("train", *QUICK, "--no-evaluate", "--out", tmp_path)
    succeeds(*command)
    (tmp_path / "seed-0" / "record.json").write_text("{}")
    line = refused(*command, "--resume")
    assert "record.json was written by an older augcl: use --overwrite" in line


def test_a_run_that_was_not_judged_is_judged_when_resumed(succeeds, tmp_path):
    first = json.loads(succeeds("train", *QUICK, "--out", tmp_path, "--no-evaluate", "--json"))
    second = json.loads(succeeds("train", *QUICK, "--out", tmp_path, "--resume", "--json"))
    assert first["accuracy"] is None
    assert second["accuracy"]["mean"] > 0.5
    times = [result["seconds"]["training"] for result in (first, second)]
    assert times[0] == pytest.approx(times[1], abs=1)  # WLFeatures is fitted again


def test_a_run_is_replaced_only_if_asked_to(succeeds, refused, tmp_path):
    plain = ("train", *QUICK, "--no-evaluate", "--out", tmp_path / "x")
    succeeds(*plain)
    (tmp_path / "x" / "notes.txt").write_text("mine")
    assert "--resume or --overwrite" in refused(*plain)
    assert "epochs = 2, now it is 3" in refused(*plain, "--resume", "--epochs", 3)
    assert "tau = the default, now it is 0.5" in refused(*plain, "--resume", "--tau", 0.5)
    succeeds(*plain, "--overwrite", "--epochs", 3)
    assert len((tmp_path / "x" / "metrics.jsonl").read_text().splitlines()) == 3
    assert (tmp_path / "x" / "notes.txt").read_text() == "mine"


def test_overwriting_a_folder_that_is_no_run_removes_nothing(refused, tmp_path):
    for name in ("model/weights", "seed-corpus/text", "seed-1/tomato"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("precious")
    assert "not a run's" in refused("train", "--out", tmp_path, "--overwrite")
    assert (tmp_path / "model" / "weights").exists()
    assert (tmp_path / "seed-corpus" / "text").exists()
    assert (tmp_path / "seed-1" / "tomato").exists()


def test_overwriting_a_run_that_was_killed_at_once_begins_anew(succeeds, tmp_path):
    (tmp_path / "seed-0").mkdir()
    (tmp_path / "seed-0" / ".metrics.jsonl.k1ll.tmp").touch()
    succeeds("train", *QUICK, "--no-evaluate", "--out", tmp_path, "--overwrite")


def test_zero_epochs_give_the_untrained_encoder(succeeds, tmp_path):
    given = ("--epochs", 0, "--seeds", 1, "--jobs", 1, "--out", tmp_path, "--json")
    found = json.loads(succeeds("train", *given))
    assert found["weights"] == [None]
    assert found["accuracy"]["mean"] > 0.5
    assert (tmp_path / "metrics.jsonl").read_text() == ""
    assert (tmp_path / "report.html").exists()


def test_graphs_without_labels_are_trained_and_not_judged(succeeds, tmp_path):
    folder = tmp_path / "my graphs"
    folder.mkdir()
    for i in range(5):
        nx.write_graphml(nx.gnp_random_graph(6, 0.5, seed=i), folder / f"g {i}.graphml")
    text = succeeds("train", folder, *QUICK, "--out", tmp_path / "x")
    assert re.search(r"accuracy +│ not evaluated", text)
    assert "on my graphs" in " ".join(text.split())
    with np.load(tmp_path / "x" / "embeddings.npz") as arrays:
        assert set(arrays) == {"Z", "names", "level"}
        assert arrays["names"].tolist() == [f"g {i}" for i in range(5)]
    assert '"targets": []' in (tmp_path / "x" / "report.html").read_text()
    again = succeeds("train", folder, *QUICK, "--out", tmp_path / "x", "--resume")
    assert again == text


def test_a_run_has_a_name_of_its_own_if_none_is_given(succeeds, tmp_path, monkeypatch, tu_set):
    monkeypatch.chdir(tmp_path)
    tu_set()
    succeeds("train", "./mine.zip", *QUICK, "--no-evaluate")
    assert (tmp_path / "runs" / "MINE-GraphCL-none" / "result.json").exists()


def test_the_same_command_gives_the_same_bits(succeeds, tmp_path):
    for name in ("a", "b"):
        given = (*QUICK, "--epochs", 1, "--hardness", "augcl", "--no-evaluate")
        succeeds("train", *given, "--out", tmp_path / name)
    contents = [np.load(tmp_path / name / "embeddings.npz")["Z"] for name in ("a", "b")]
    assert np.array_equal(*contents)


def test_features_are_used_and_remembered(succeeds, tmp_path):
    given = (*QUICK, "--no-evaluate", "--features", "degree")
    succeeds("train", *given, "--out", tmp_path / "x")
    assert load_model(tmp_path / "x" / "model").n_features_in_ == 65
    succeeds("embed", tmp_path / "x", "MUTAG", "--out", tmp_path / "z.npz")
    expected = np.load(tmp_path / "x" / "embeddings.npz")["Z"]
    assert np.array_equal(np.load(tmp_path / "z.npz")["Z"], expected)
    assert load("MUTAG").num_features == 7


@pytest.mark.parametrize(
    ("hardness", "option", "value"),
    [
        ("dcl", "tau_plus", 0.05),
        ("HCL", "hardness.beta", 0.5),
        ("progcl", "mode", "mix"),
        ("augcl", "alpha", 0.5),
        ("augcl", "pairs_per_pass", None),
        ("augcl", "hardness.affinity", "propagated"),
        ("nearest", "top", 0.2),
        ("augcl", "hardness.normalize", False),
    ],
)
def test_options_of_a_hardness_arrive(succeeds, tmp_path, hardness, option, value):
    text = f"{option}={str(value).lower()}"
    given = (*QUICK, "--no-evaluate", "--hardness", hardness, "--set", text)
    result = json.loads(succeeds("train", *given, "--out", tmp_path, "--json"))
    assert result["hardness"] == hardness.lower()
    assert result["hardness_settings"]["params"][option.removeprefix("hardness.")] == value


def test_options_of_a_method_arrive(succeeds, tmp_path):
    given = ("--set", "method.lr=0.003", "--set", "symmetric=TRUE", "--set", "layers=2")
    result = json.loads(
        succeeds("train", *QUICK, *given, "--no-evaluate", "--json", "--out", tmp_path)
    )
    settings = result["settings"]
    assert (settings["lr"], settings["symmetric"], settings["layers"]) == (0.003, True, 2)
    assert load_model(tmp_path / "model").get_params()["first__lr"] == 0.003  # WLFeatures beside


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("oracle",), "oracle uses the labels: it is not a method but an upper bound; augcl c"),
        (("dcl", "--set", "beta=0.5"), "no parameter beta; it is one of --hardness hcl"),
        (("augcl", "--set", "tau_plus=0.1"), "it is one of --hardness dcl or hcl"),
        (("none", "--set", "hardness.reward=1.8"), "hardness none has no parameter reward; it is"),
        (("progcl", "--set", "mode=blend"), "choose from weight, mix"),
        (("dcl", "--set", "tau_plus=1"), "tau_plus"),
        (("augcl", "--set", "rewrd=1.8"), "did you mean reward"),
        (("augcl", "--set", "lr=0.1"), "write method.lr or hardness.lr"),
        (("augcl", "--set", "loss.tau=0.1"), "write method.tau or hardness.tau"),
        (("augcl", "--set", "width=wide"), "--set width=wide: give a whole number"),
        (("augcl", "--set", "width=none"), "--set width=none: give a whole number"),
        (("augcl", "--set", "reward=nan"), "--set reward=nan: give a number"),
        (("augcl", "--set", "symmetric=2"), "--set symmetric=2: give true or false"),
        (("augcl", "--set", "refresh=x"), "--set refresh=x: give a whole number or none"),
        (("augcl", "--set", "epochs=3"), "--set epochs: use --epochs"),
        (("augcl", "--set", "method.random_state=3"), "it is the seed"),
        (("augcl", "--set", "encoder=GIN"), "no parameter encoder"),
        (("augcl", "--set", "tau"), "--set tau: write KEY=VALUE"),
        (("augcl", "--set", "tau="), "--set tau=: write KEY=VALUE"),
        (("augcl", "--set", "tau=1", "--set", "method.tau=2"), "tau is given twice"),
        (("augcl", "--tau", 1, "--set", "tau=2"), "tau is given twice"),
    ],
    ids=str,
)
def test_options_of_another_hardness_are_refused(refused, tmp_path, arguments, told):
    line = refused("train", "--out", tmp_path / "x", "--hardness", *arguments)
    assert told in line
    assert not (tmp_path / "x").exists()


def test_a_new_hardness_needs_no_edit_of_the_command_line(succeeds, tmp_path, monkeypatch):
    class Mild(DCL):
        def __init__(self, tau_plus: float = 0.1, mildness: tuple[int, float] = (1, 0.5)) -> None:
            super().__init__(tau_plus)
            self.mildness = mildness

    monkeypatch.setitem(HARDNESS, "mild", Mild)
    given = ("--hardness", "Mild", "--set", "mildness=3,0.25", "--no-evaluate", "--json")
    result = json.loads(succeeds("train", *QUICK, *given, "--out", tmp_path))
    assert result["hardness_settings"]["params"]["mildness"] == [3, 0.25]
