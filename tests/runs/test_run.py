import warnings

import numpy as np
import pytest
import torch

from augcl import InputError, evaluate
from augcl.hardness import Vitals
from augcl.runs.page import write_report
from augcl.runs.run import NODE_RUNS, Spec, check, run, weight_summary
from augcl.runs.seeds import Place, accuracy_text, run_seeds, summarise


@pytest.fixture(scope="module")
def outcome():
    return run(Spec("MUTAG", epochs=2, hardness="none"), 3, progress=False)


def test_a_record_tells_what_was_done_and_what_came_out(outcome):
    record = outcome.record
    assert record["seed"] == record["settings"]["random_state"] == 3
    assert record["spec"]["epochs"] == record["settings"]["epochs"] == 2
    assert record["labelled"]
    assert len(record["accuracy"]["folds"]) == 10
    assert record["accuracy"]["mean"] == pytest.approx(np.mean(record["accuracy"]["folds"]))
    assert list(record["weights"]) == ["false_mass"]
    assert record["weights"]["false_mass"] == outcome.model.history_[-1]["false_mass"]
    assert record["losses"] == [round(m["loss"], 6) for m in outcome.model.history_]
    assert record["seconds"]["training"] == sum(m["seconds"] for m in outcome.model.history_)


def test_the_result_is_the_mean_over_seeds(outcome):
    records = []
    for seed, mean in enumerate((0.8, 0.9)):
        accuracy = {"mean": mean, "protocol": "p", "split_hash": str(seed)}
        records.append({**outcome.record, "seed": seed, "accuracy": accuracy})
    found = summarise(Spec("MUTAG"), records)
    assert found["accuracy"]["mean"] == pytest.approx(0.85)
    assert found["accuracy"]["std"] == pytest.approx(0.05)
    assert found["accuracy"]["split_hashes"] == ["0", "1"]
    assert found["seconds"]["training"] == 2 * outcome.record["seconds"]["training"]
    assert accuracy_text(found["accuracy"]) == "85.00 ± 5.00 %"
    assert found["settings"]["tau"] == 0.05  # what the recipe decides, not None


def test_of_nodes_the_spread_is_over_all_splits_also_of_one_seed(outcome):
    accuracy = {"mean": 0.8, "folds": [0.7, 0.9], "protocol": "p", "split_hash": "0"}
    found = summarise(Spec("Cora", method="GCA"), [{**outcome.record, "accuracy": accuracy}])
    assert accuracy_text(found["accuracy"]) == "80.00 ± 10.00 %"
    assert found["accuracy"]["std_over"] == "splits"


def test_seeds_that_were_not_judged_are_left_out_of_the_accuracy(outcome):
    records = [outcome.record, {**outcome.record, "seed": 1, "accuracy": None}]
    found = summarise(Spec("MUTAG"), records)
    assert found["accuracy"]["runs"] == [outcome.record["accuracy"]["mean"]]
    assert found["seeds"] == [3, 1]


def test_weights_are_summed_up_by_the_last_fit_and_the_last_epoch():
    history = [
        {"loss": 1.0},
        {"loss": 1.0, "hardness": {"state": "collapsed"}, "weight_std": 0.0},
        {"loss": 1.0, "hardness": {"state": "alive"}, "weight_std": 0.5},
        {"loss": 1.0, "weight_std": 0.7},
    ]
    assert weight_summary(history) == {"fit_state": "alive", "weight_std": 0.7}
    assert weight_summary(history[:1]) is None
    assert weight_summary([]) is None


def test_sets_take_the_recommended_augmentation(mutag):
    assert Spec("MUTAG").estimator(mutag, 0).augmentation == "random2"
    spec = Spec("MUTAG", augmentation="subgraph")
    assert spec.estimator(mutag, 0).augmentation == "subgraph"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": "GraphGL"}, "did you mean GraphCL"),
        ({"hardness": "augclx"}, "did you mean augcl"),
        ({"recipe": "paperr"}, "did you mean paper"),
        ({"options": {"tau": 0.0}}, "tau is 0.0"),
    ],
)
def test_a_wrong_setting_is_found_before_any_work(mutag, changes, message):
    with pytest.raises(InputError, match=message):
        check(Spec("MUTAG", **changes), mutag)


def test_labels_that_cannot_be_judged_are_found_before_any_work(mutag):
    few = mutag.select(torch.arange(12))
    with pytest.raises(InputError, match="--no-evaluate"):
        check(Spec("MUTAG"), few)
    check(Spec("MUTAG"), few, judge=False)


def test_a_collapse_is_told_and_kept(mutag, tmp_path, monkeypatch):
    few = mutag.select(torch.arange(30))
    monkeypatch.setattr("augcl.runs.run.load_graphs", lambda *_, **__: few)
    monkeypatch.setattr(Vitals, "state", "collapsed")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        result = run_seeds(Spec("MUTAG", epochs=2), 1, Place(tmp_path, judge=False))
    assert any("the uncertainty model is collapsed" in str(w.message) for w in told)
    assert [w["fit_state"] for w in result["weights"]] == ["collapsed"]


def test_a_run_is_not_resumed_on_other_graphs(tmp_path):
    def graphs(edges: str) -> None:
        (tmp_path / "data").mkdir(exist_ok=True)
        (tmp_path / "data" / "edges.csv").write_text("graph,source,target\n" + edges)

    spec = Spec(str(tmp_path / "data"), hardness="none", epochs=1)
    place = Place(tmp_path / "run", resume=True)
    graphs("a,1,2\na,2,3\nb,1,2\n")
    run_seeds(spec, 1, place)
    graphs("a,1,2\na,2,3\nb,1,2\nb,2,3\n")
    with pytest.raises(InputError, match="have changed since seed 0"):
        run_seeds(spec, 2, place)


def test_two_trainings_of_nodes_are_judged_on_other_splits(monkeypatch):
    judged = []

    def evaluate_few(*args, random_state, repeats, **kwargs):
        score = evaluate(*args, random_state=random_state, repeats=2, **kwargs)
        judged.append((random_state, score.split_hash))
        return score

    monkeypatch.setattr("augcl.evaluation.protocol.evaluate", evaluate_few)
    spec = Spec("digits-knn", "RawFeatures", "none", epochs=None, features="auto")
    for seed in (0, 1):
        run(spec, seed, progress=False)
    (first, one), (second, other) = judged
    assert (first, second) == (0, NODE_RUNS)
    assert one != other


def test_two_splits_of_some_nodes_judge_a_large_graph(monkeypatch, tmp_path):
    monkeypatch.setattr("augcl.runs.run.JUDGED", 800)
    spec = Spec("planted-1200", "RawFeatures", "none", protocol="logistic-10-10-80")
    found = run(spec, 0, progress=False)
    assert found.score.splits.shape == (2, 1200)
    assert (found.score.predictions.values >= 0).sum() <= 800
    run_seeds(spec, 1, Place(tmp_path))  # the page needs a prediction or none of every node
    write_report(tmp_path)
    assert len(found.record["accuracy"]["folds"]) == 2
    assert found.record["accuracy"]["protocol"] == "logistic-10-10-80 on 800 nodes"


def test_a_method_beside_another_is_one_run(mutag):
    found = run(Spec("MUTAG", hardness="none", beside="WLFeatures", epochs=1), 0, progress=False)
    assert found.record["accuracy"]["mean"] > 0.8
    assert found.record["use"]["embedding"] > 0
    without = Spec("MUTAG", hardness="none", options={"edge_features": False})
    beside = Spec("MUTAG", hardness="none", options={"edge_features": False}, beside="WLFeatures")
    assert beside.fingerprint(mutag) != without.fingerprint(mutag)  # WLFeatures reads the bonds
