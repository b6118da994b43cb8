import base64
import json
import re

import numpy as np
import pytest

from augcl.errors import InputError
from augcl.files import FORMAT
from augcl.runs.explored import FILE, write_explored
from augcl.runs.page import write_report


def result(**changes):
    fit = {"fit_state": "alive", "weight_std": 1.2}
    return {
        "format": FORMAT,
        "dataset": "/data/my <graphs>.zip",
        "method": "GraphCL",
        "hardness": "augcl",
        "spec": {"dataset": "/data/my <graphs>.zip"},
        "settings": {"epochs": 2, "hardness": "augcl"},
        "hardness_settings": {"class": "AffinityUncertainty", "params": {"reward": 1.9}},
        "seeds": [0, 1],
        "accuracy": {"mean": 0.875, "std": 0.0125, "runs": [0.8625, 0.8875], "protocol": "tu-svm"},
        "weights": [fit, fit],
        "seconds": {"training": 1.0, "evaluation": 2.0},
        "versions": {"python": "3.11", "torch": "2.13"},
    } | changes


def epoch(seed, number, **more):
    return {"seed": seed, "epoch": number, "loss": 3.0 / number, "seconds": 0.1, **more}


WEIGHTED = [
    metrics
    for seed in (0, 1)
    for metrics in (
        epoch(seed, 1),
        epoch(
            seed,
            2,
            hardness={"state": "alive"},
            weight_std=1.2,
            weight_true_negatives=1.1,
            weight_false_negatives=0.9,
        ),
    )
]


@pytest.fixture
def page(tmp_path):
    """``page(result, metrics)`` is the report of such a run."""

    def write(found, metrics, Z=None, **arrays):
        (tmp_path / "result.json").write_text(json.dumps(found))
        lines = "".join(json.dumps(line) + "\n" for line in metrics)
        (tmp_path / "metrics.jsonl").write_text(lines)
        Z = np.random.default_rng(0).normal(size=(6, 4)) if Z is None else Z
        np.savez(tmp_path / "embeddings.npz", Z=Z, **arrays)
        assert write_report(tmp_path) == tmp_path / "report.html"
        return (tmp_path / "report.html").read_text()

    return write


def data(page):
    """What the scripts of the page draw of the run."""
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    (run,) = json.loads(text)["runs"]
    return run


def titles(page):
    return [figure["title"] for figure in data(page)["curves"]]


def unpacked(packed):
    kind = {"u8": "<u1", "u16": "<u2", "i16": "<i2", "i32": "<i4", "f32": "<f4"}[packed["kind"]]
    return np.frombuffer(base64.b64decode(packed["data"]), dtype=kind)


def test_a_weighted_run_shows_loss_weights_classes_and_embeddings(page):
    text = page(result(), WEIGHTED, y=np.array([0, 0, 0, 1, 1, 1]))
    assert titles(text) == [
        "Loss",
        "Spread of the weights",
        "Do the weights know the classes?",
    ]
    assert "87.50 ± 1.25 %" in text
    assert "86.25, 88.75" in text
    (target,) = data(text)["targets"]
    assert (target["name"], target["classes"]) == ("class", ["class 0", "class 1"])
    assert unpacked(target["y"]).tolist() == [0, 0, 0, 1, 1, 1]
    assert "python 3.11, torch 2.13" in text
    assert '<p class="warning">' not in text


def groups(page):
    return {line["group"] for line in data(page)["curves"][-1]["lines"]}


def test_the_mass_of_false_negatives_is_drawn_with_and_without_weights(page):
    plain = [m | {"false_mass": 0.4} for m in WEIGHTED]
    text = page(result(), plain)
    assert "How much of the negatives is false?" in titles(text)
    assert groups(text) == {"without weights"}
    text = page(result(), [m | {"false_mass_weighted": 0.3} for m in plain])
    assert titles(text).count("How much of the negatives is false?") == 1
    assert groups(text) == {"without weights", "with weights"}


def test_names_are_shown_as_they_are_and_never_run(page):
    text = page(result(), WEIGHTED)
    assert "<title>GraphCL + augcl on my &lt;graphs&gt;.zip</title>" in text
    assert "<graphs>" not in text


def test_the_page_loads_nothing(page):
    text = page(result(), WEIGHTED)
    assert "default-src 'none'" in text
    assert not re.search(r"<(script|img|iframe)[^>]* src=", text)
    assert "<link" not in re.sub(r"<script.*?</script>", "", text, flags=re.S)
    assert len(text) < 150_000


def test_a_collapse_is_shown_and_the_seed_named(page):
    dead = {"fit_state": "collapsed", "weight_std": 0.0}
    text = page(result(weights=[{"fit_state": "alive"}, dead]), WEIGHTED)
    assert re.search('<p class="warning">The uncertainty model is collapsed for seed 1\\.', text)
    text = page(result(weights=[dead, dead]), WEIGHTED)
    assert "collapsed for seeds 0, 1." in text
    unlearned = {"fit_state": "unlearned", "weight_std": 0.5}
    text = page(result(weights=[unlearned, dead]), WEIGHTED)
    assert "is unlearned for seed 0." in text
    assert "is collapsed for seed 1." in text


def test_a_run_without_labels_and_weights_shows_loss_and_embeddings(page):
    metrics = [epoch(0, 1), epoch(0, 2)]
    text = page(result(accuracy=None, seeds=[0], weights=[None]), metrics)
    assert titles(text) == ["Loss"]
    assert ["accuracy", "not evaluated"] in data(text)["facts"]
    assert (data(text)["targets"], data(text)["score"]) == ([], None)
    assert 'class="big"' not in text


def test_an_untrained_encoder_has_no_curves(page):
    text = page(result(weights=[None, None]), [])
    assert titles(text) == []
    assert len(unpacked(data(text)["seeds"][0]["plane"])) == 12


def test_one_seed_has_no_spread(page):
    one = {"mean": 0.875, "std": 0.0, "runs": [0.875], "protocol": "tu-svm"}
    text = page(result(accuracy=one, seeds=[0], weights=[None]), [epoch(0, 1)])
    assert '<p class="big">87.50 %</p>' in text
    assert "standard deviation" not in text


def test_of_nodes_one_seed_has_the_spread_of_its_splits(page):
    one = {"mean": 0.875, "std": 0.0125, "std_over": "splits", "runs": [0.875], "protocol": "p"}
    text = page(result(accuracy=one, seeds=[0], weights=[None]), [epoch(0, 1)])
    assert '<p class="big">87.50 ± 1.25 %</p>' in text
    assert "standard deviation over splits" in text


@pytest.mark.parametrize("Z", [np.zeros((3, 2)), np.ones((1, 4)), np.arange(5.0)[:, None]])
def test_embeddings_of_any_shape_are_drawn(page, Z):
    text = page(result(weights=[None, None]), [epoch(0, 1)], Z=Z)
    plane = unpacked(data(text)["seeds"][0]["plane"])
    assert len(plane) == 2 * len(Z)
    assert np.isfinite(plane).all()


def test_a_folder_without_a_run_is_named(tmp_path):
    with pytest.raises(InputError, match=r"holds no finished run: result\.json is missing"):
        write_report(tmp_path)


@pytest.mark.parametrize("shape", [(6,), (6, 2)])
def test_numbers_to_predict_are_a_scale_of_colours(page, shape):
    y = np.linspace(0, 1, np.prod(shape), dtype=np.float32).reshape(shape)
    text = page(result(), WEIGHTED, y=y, targets=np.array(["logP", "weight"])[: len(shape)])
    found = data(text)["targets"]
    assert [target["name"] for target in found] == ["logP", "weight"][: len(found)]
    for target, values in zip(found, y.reshape(6, -1).T, strict=True):
        assert target["classes"] is None
        assert np.array_equal(unpacked(target["y"]), values)


def test_targets_of_zero_and_one_are_classes_and_blanks_are_unknown(page):
    y = np.array([[0, 1, 0.5], [1, np.nan, 1], [1, 0, 2]] * 2, dtype=np.float32)
    first, second, third = data(page(result(), WEIGHTED, y=y))["targets"]
    assert [one["name"] for one in (first, second, third)] == ["y0", "y1", "y2"]
    assert first["classes"] == second["classes"] == ["class 0", "class 1"]
    assert unpacked(second["y"]).tolist() == [1, -1, 0] * 2
    assert third["classes"] is None


def test_the_interval_of_a_score_ends_at_all(page):
    high = {"mean": 0.97, "std": 0.02, "runs": [0.94, 1.0], "protocol": "tu-svm"}
    assert data(page(result(accuracy=high), WEIGHTED))["score"]["high"] == 1.0
    error = {**high, "scoring": "rmse"}
    assert data(page(result(accuracy=error), WEIGHTED))["score"]["high"] > 1.0


def test_the_page_names_the_command_that_adds_the_floors(page, tmp_path):
    words = data(page(result(), WEIGHTED))["score"]["words"]
    assert f"augcl explore {tmp_path} --floors" in words


def test_of_many_seeds_so_many_are_shown_as_fit_and_the_page_says_so(page, tmp_path):
    count, seeds = 10_000, 25
    rng = np.random.default_rng(0)
    accuracy = {"mean": 0.9, "std": 0.0, "runs": [0.9] * seeds, "protocol": "tu-svm"}
    found = result(accuracy=accuracy, seeds=list(range(seeds)), weights=[None] * seeds)
    arrays = {
        "plane": rng.normal(size=(count, 2)).astype(np.float32),
        "predicted": rng.integers(0, 2, count),
        "wrong": rng.random(count).astype(np.float32),
        "part": rng.integers(0, 10, count).astype(np.int16),
        "loss": rng.random(count).astype(np.float32),
    }
    for seed in range(seeds):
        (tmp_path / f"seed-{seed}").mkdir()
        write_explored(tmp_path / f"seed-{seed}" / FILE, arrays)
    metrics = [epoch(seed, number) for seed in range(seeds) for number in range(1, 1001)]
    text = page(found, metrics, Z=rng.normal(size=(count, 4)), y=arrays["predicted"])
    assert len(text) < 6_000_000
    shown = len(data(text)["seeds"])
    assert 10 < shown < seeds
    assert f"the first {shown} of 25 seeds" in data(text)["notes"][0]
    assert data(text)["curves"][0]["lines"][0]["points"][-1][0] == 1000


def test_what_cannot_be_drawn_has_its_true_reason(page, tmp_path, monkeypatch):
    found = result(seeds=[0], weights=[None], accuracy=None)
    assert "train it again" in data(page(found, WEIGHTED, level=np.array("node")))["missing"]
    (tmp_path / "seed-0").mkdir()
    file = tmp_path / "seed-0" / FILE
    write_explored(file, {"plane": np.zeros((6, 2))})
    missing = data(page(found, WEIGHTED, level=np.array("node")))["missing"]
    assert "more than 4,000,000 edge entries" in missing
    assert "No graph is drawn" in data(page(found, WEIGHTED))["missing"]
    monkeypatch.setattr("augcl.runs.page.EDGE_ENTRIES", 1)
    write_explored(file, {"plane": np.zeros((6, 2)), "edges": np.array([[0, 1], [1, 0]])})
    missing = data(page(found, WEIGHTED, level=np.array("node")))["missing"]
    assert "more than 1 edge entries among the points" in missing


def test_points_have_the_names_of_the_graphs(page):
    text = page(result(), WEIGHTED, names=np.array([f"drug {i}" for i in range(6)]))
    assert data(text)["names"] == [f"drug {i}" for i in range(6)]


def test_near_points_are_those_of_the_largest_cosine(page):
    Z = np.random.default_rng(1).normal(size=(40, 5)).astype(np.float32)
    near = data(page(result(), WEIGHTED, Z=Z))["near"]
    unit = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    cosines = unit @ unit.T - 9 * np.eye(40)
    expected = np.argsort(-cosines, axis=1)[:, : near["k"]]
    assert np.array_equal(unpacked(near["index"]).reshape(40, -1), expected)


def test_of_many_points_a_sample_is_shown_and_the_page_says_so_and_stays_small(page):
    Z = np.random.default_rng(0).normal(size=(10_050, 8)).astype(np.float32)
    text = page(result(), WEIGHTED, Z=Z, y=np.arange(10_050) % 3)
    assert len(unpacked(data(text)["ids"])) == 10_000
    assert data(text)["sampled"] == "A random sample of 10,000 of 10,050 graphs is shown."
    assert len(text) < 6_000_000


def test_no_name_ends_the_script(page):
    names = np.array(["</script><script>alert(1)</script>"] * 6)
    text = page(result(), WEIGHTED, names=names)
    assert "</script><script>alert" not in text
    assert data(text)["names"] == names.tolist()
