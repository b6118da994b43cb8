import numpy as np
import pytest

from augcl.runs.run_check import (
    look_at_accuracy,
    look_at_embeddings,
    look_at_loss,
    look_at_seeds,
    look_at_training,
    look_at_weights,
)

ALIVE = {
    "weight_std": 0.7,
    "near_one": 0.02,
    "fit_state": "alive",
    "fit_agreement": 0.95,
    "fit_majority": 0.6,
    "weight_true_negatives": 1.1,
    "weight_false_negatives": 0.9,
}


def levels(findings):
    return {finding.about: finding.level for finding in findings}


def test_weights_that_live_and_know_the_classes_are_fine():
    found = levels(look_at_weights("augcl", [ALIVE, ALIVE]))
    assert found == {"weights": "ok", "partition": "ok", "false negatives": "ok"}


@pytest.mark.parametrize(
    ("change", "about", "level"),
    [
        ({"weight_std": 0.001}, "weights", "warning"),
        ({"near_one": 0.97}, "weights", "warning"),
        ({"fit_state": "collapsed"}, "weights", "warning"),
        ({"fit_state": "unlearned"}, "weights", "warning"),
        ({"fit_agreement": 0.6}, "partition", "warning"),
        ({"weight_false_negatives": 1.2}, "false negatives", "warning"),
        ({"weight_false_negatives": 1.099}, "false negatives", "note"),
    ],
)
def test_weights_that_fail_are_told(change, about, level):
    (finding,) = [f for f in look_at_weights("augcl", [ALIVE | change]) if f.about == about]
    assert finding.level == level
    assert finding.cure


@pytest.mark.parametrize("weights", [[None], [{}], [{"fit_tau": 0.1}]])
def test_a_hardness_without_weights_is_no_defect(weights):
    assert levels(look_at_weights("hcl", weights)) == {"weights": "ok"}
    assert levels(look_at_weights("none", weights)) == {"weights": "ok"}
    assert levels(look_at_weights("augcl", weights)) == {"weights": "note"}


@pytest.mark.parametrize(
    ("weighted", "level"), [(0.3, "ok"), (0.4, "note"), (0.5, "warning"), (None, "ok")]
)
def test_the_mass_of_false_negatives_should_fall(weighted, level):
    found = {"false_mass": 0.4} | ({} if weighted is None else {"false_mass_weighted": weighted})
    (finding,) = [f for f in look_at_weights("augcl", [ALIVE | found]) if f.about == "mass"]
    assert finding.level == level
    assert "40.0 %" in finding.what
    assert levels(look_at_weights("none", [{"false_mass": 0.4}]))["mass"] == "ok"


def test_few_negatives_left_out_are_no_collapse():
    weights = {"fit_left_out": 0.05, "weight_std": 0.2, "near_one": 0.95}
    assert levels(look_at_weights("nearest", [weights]))["weights"] == "ok"


def test_weights_without_a_fit_or_labels_are_looked_at_as_far_as_they_go():
    assert levels(look_at_weights("progcl", [{"weight_std": 0.3}])) == {"weights": "ok"}


def curve(losses, fit_at=None, seed=0):
    lines = [{"seed": seed, "epoch": i + 1, "loss": float(v)} for i, v in enumerate(losses)]
    if fit_at is not None:
        lines[fit_at]["hardness"] = {}
    return lines


T = np.arange(40)
NOISE = 0.02 * np.random.default_rng(0).normal(size=40)


@pytest.mark.parametrize(
    ("losses", "level", "words"),
    [
        (1 + np.exp(-T / 4) + NOISE, "ok", "settled"),
        (3 - T / 20 + NOISE, "note", "still falls in the last 10 epochs"),
        (2 - 0.9 * np.sin(T / 14) + NOISE, "warning", "rises at the end"),
        (np.full(40, 3.0), "warning", "never fell"),
        ([3.0, 2.0], "note", "2 epochs are too few"),
    ],
)
def test_the_end_of_the_loss_is_read(losses, level, words):
    (finding,) = look_at_loss(curve(losses))
    assert finding.level == level
    assert words in finding.what


def test_the_jump_when_the_weights_set_in_is_no_trend():
    losses = np.concatenate([3 - 2 * np.arange(32) / 32, np.full(8, 2.5)]) + NOISE
    (finding,) = look_at_loss(curve(losses, fit_at=32))
    assert finding.level == "ok"


def test_the_seeds_whose_loss_still_falls_are_named():
    settled, falling = 1 + np.exp(-T / 4) + NOISE, 3 - T / 20 + NOISE
    (finding,) = look_at_loss(curve(settled) + curve(falling, seed=1))
    assert "for seed 1" in finding.what


def test_a_run_without_epochs_is_called_untrained():
    (finding,) = look_at_loss([])
    assert "nothing was trained" in finding.what


def test_a_seed_far_out_is_named():
    runs = np.array([0.88, 0.87, 0.89, 0.88, 0.71])
    (finding,) = look_at_seeds([0, 1, 2, 3, 4], runs)
    assert finding.level == "warning"
    assert "seed 4 has 71.0 %" in finding.what
    assert levels(look_at_seeds([0, 1, 2, 3], runs[:4])) == {"seeds": "ok"}
    assert levels(look_at_seeds([0], runs[:1])) == {"seeds": "note"}


def test_an_accuracy_no_better_than_a_guess_is_told():
    y = np.array([0, 0, 0, 1, -1])
    runs = {"runs": [0.75, 0.75, 0.75]}
    assert levels(look_at_accuracy([0, 1, 2], runs, y))["accuracy"] == "warning"
    assert levels(look_at_accuracy([0, 1, 2], {"runs": [0.9] * 3}, y))["accuracy"] == "ok"
    assert levels(look_at_accuracy([0], None)) == {"accuracy": "note"}


def test_embeddings_that_are_all_alike_are_told():
    assert levels(look_at_embeddings(np.ones((5, 3), np.float32))) == {"embeddings": "warning"}
    assert look_at_embeddings(np.eye(5, 3, dtype=np.float32)) == []


def test_seeds_that_learned_nothing_are_told():
    (finding,) = look_at_training({3: "everything gets the same embedding"})
    assert (finding.level, finding.about) == ("warning", "training")
    assert "seed 3 learned nothing: everything gets the same" in finding.what
    assert "--lr" in finding.cure
    assert look_at_training({}) == []


def test_a_score_that_is_no_accuracy_is_shown_as_it_is():
    found = {"runs": [-0.4, 0.1], "mean": -0.15, "floor": -0.5, "scoring": "r2"}
    (finding,) = look_at_accuracy([0, 1], found)
    assert finding.what == "R² -0.150; floor (mean of the training part): R² -0.500"
