"""The recommendation of `augcl compare`: which row, how sure, at which cost."""

import importlib.util
import shlex
from dataclasses import replace

import numpy as np
import pytest
import torch

from augcl.errors import InputError
from augcl.evaluation import paired_difference
from augcl.runs import recommend
from augcl.runs.recommend import Costs, LeftOut, Scores
from augcl.runs.run import Spec

random = np.random.default_rng


def scores(outer, inner=None, **more):
    return Scores(np.array(outer), None if inner is None else np.array(inner), **more)


def around(mean, seed=0, shape=(3, 10), spread=0.02, **more):
    return scores(random(seed).normal(mean, spread, shape), **more)


def test_a_cheap_row_within_noise_of_the_best_is_recommended():
    rows = {"dear": around(0.805, 1, training=9.0), "cheap": around(0.800, 0, training=1.0)}
    assert recommend.best_row(rows) == "dear"
    assert recommend.recommended_row(rows) == "cheap"
    first, second = recommend.recommendation(rows)
    assert "the cheapest row (1.0 s to train) that is not worse than the best one, dear" in first
    assert second.startswith("dear (9.0 s to train) may do better")


def test_measured_seconds_decide_what_is_cheap_not_the_order():
    rows = {"first": around(0.80, 0, training=60.0), "second": around(0.80, 0, training=2.0)}
    assert recommend.best_row(rows) == recommend.recommended_row(rows) == "second"
    slow = replace(rows["second"], embedding=100.0)  # what it takes to embed counts too
    assert recommend.recommended_row({**rows, "second": slow}) == "first"


def test_of_rows_that_cost_alike_the_better_one_is_recommended():
    rows = {
        "quick": around(0.800, 0, training=0.01),
        "better": around(0.805, 1, training=0.05),
        "best": around(0.810, 2, training=50.0),
    }
    assert recommend.recommended_row(rows) == "better"
    assert recommend.nested_choice(rows).chosen["best"] == 0


def test_a_row_that_is_clearly_better_is_recommended_at_any_cost():
    means = {"cheap": 0.80, "middle": 0.81, "dear": 0.90}
    rows = {n: around(m, i, training=10.0**i) for i, (n, m) in enumerate(means.items())}
    assert recommend.recommended_row(rows) == "dear"
    first, second = recommend.recommendation(rows)
    assert "every cheaper row is worse beyond noise" in first
    assert "No row that was run does better" in second


def test_one_training_of_nodes_recommends_the_best_and_asks_for_more():
    rows = {
        name: around(mean, shape=(1, 20), level="node") for name, mean in (("a", 0.7), ("b", 0.8))
    }
    assert recommend.recommended_row(rows) == "b"
    first, second = recommend.recommendation(rows)
    assert "beyond noise" not in first
    assert "--seeds 3" in second


def test_equal_scores_of_several_trainings_are_not_called_one_training():
    rows = {"A": scores(np.ones((3, 10)), level="node"), "B": around(0.6, level="node")}
    _, second = recommend.recommendation(rows, things="nodes")
    assert second == (
        "All trainings of A have the same score, so that noise cannot be measured: more labelled "
        "nodes could tell the rows apart."
    )


def test_rows_without_a_draw_on_one_fixed_split_show_no_noise():
    fixed = {"level": "node", "protocol": "public-split"}
    low, high = scores([[0.70]] * 3, **fixed), scores([[0.71]] * 3, **fixed)
    assert high.minus(low) is None  # not: a difference that is sure, as it is always the same
    assert recommend.recommended_row({"low": low, "high": high}) == "high"
    assert high.minus(high).p == 1


def test_differences_are_tested_as_their_splits_allow():
    a, b = random(0).uniform(size=(2, 3, 10))
    assert scores(a).minus(scores(b)) == paired_difference(a, b)
    node = scores(a, level="node").minus(scores(b, level="node"))
    assert node.mean == pytest.approx((a - b).mean())
    assert node.p == pytest.approx(paired_difference(a.mean(1), b.mean(1), test_to_train=0).p)
    of_data = {"level": "node", "protocol": "wikics-20"}
    fixed = scores(a, **of_data).minus(scores(b, **of_data))
    assert fixed.p == pytest.approx(paired_difference(a.mean(0), b.mean(0), test_to_train=0).p)


def test_a_split_without_a_score_does_not_count():
    row = scores([[0.5, np.nan, 0.7]])
    assert row.mean == pytest.approx(0.6)
    assert row.minus(scores([[0.4, 0.1, 0.7]])).mean == pytest.approx(0.05)
    rows = {"a": row, "b": scores([[0.4, np.nan, 0.7]])}
    assert recommend.nested_choice(rows).scores.mean == pytest.approx(0.6)


def slow_choice(rows):
    """Choose in each split, one after the other."""
    best = rows[max(rows, key=lambda name: rows[name].mean)]
    found = np.empty_like(best.outer)
    for s, k in np.ndindex(found.shape):
        if best.inner is not None:
            inside = {name: row.inner[s, k] for name, row in rows.items()}
        else:
            inside = {name: np.delete(row.outer[s], k).mean() for name, row in rows.items()}
        good = dict(rows)
        for name, row in rows.items():
            lost = best.minus(row)
            noise = lost.high - lost.mean
            if inside[name] < max(inside.values()) - noise:
                del good[name]
        least = min(row.cost for row in good.values())
        cheap = [name for name, row in good.items() if row.cost <= least + recommend.ALIKE]
        found[s, k] = rows[max(cheap, key=inside.get)].outer[s, k]
    return found


@pytest.mark.parametrize("inner", [True, False])
def test_the_choice_inside_every_split_is_the_slow_one(inner):
    draw = random(3)
    seconds = {"a": 3.0, "b": 0.1, "c": 0.2, "d": 1.0}
    rows = {
        name: scores(
            draw.uniform(size=(2, 10)), draw.uniform(size=(2, 10)) if inner else None, training=t
        )
        for name, t in seconds.items()
    }
    found = recommend.nested_choice(rows)
    np.testing.assert_array_equal(found.scores.outer, slow_choice(rows))
    assert sum(found.chosen.values()) == 20


def test_the_score_of_the_recommendation_is_not_optimistic():
    """Twenty rows that are all alike: the best of them looks better than it is, by luck."""
    draw, best, nested = random(0), [], []
    for _ in range(40):
        rows = {
            str(i): scores(draw.normal(0.8, 0.05, (1, 10)), draw.normal(0.8, 0.05, (1, 10)))
            for i in range(20)
        }
        best.append(rows[recommend.best_row(rows)].mean)
        nested.append(recommend.nested_choice(rows).scores.mean)
    assert np.mean(best) > 0.82
    assert np.mean(nested) == pytest.approx(0.8, abs=0.01)


def test_one_split_without_inner_scores_offers_no_choice():
    one = scores([[0.7], [0.8]], level="node", protocol="public-split")
    assert recommend.nested_choice({"a": one, "b": one}) is None


def test_rows_that_did_not_fit_are_what_it_takes_to_do_better():
    rows = {"free": around(0.9, 0), "dear": around(0.8, 1)}
    waiting = [LeftOut("GCA", 1500.0, "25 min"), LeftOut("WLKernel", None, "real features")]
    _, second = recommend.recommendation(rows, waiting)
    assert "larger --budget: GCA did not fit (GCA takes about 25 min)" in second


@pytest.mark.parametrize(
    ("scoring", "floor"), [("accuracy", "the largest class"), ("r2", "the mean")]
)
def test_a_row_no_better_than_the_floor_is_told(scoring, floor):
    row = around(0.6, scoring=scoring, floor=0.6)
    *_, last = recommend.recommendation({"a": row})
    assert f"does not beat predicting {floor}" in last
    assert len(recommend.recommendation({"a": replace(row, floor=0.3)})) == 2


def test_records_become_scores():
    accuracy = {"folds": [0.5, None], "inner": [0.6, 0.7], "floor": 0.4, "protocol": "ridge-10fold"}
    accuracy |= {"scoring": "r2"}
    record = {"accuracy": accuracy, "seconds": {"training": 2.0}}
    used = {**record, "use": {"embedding": 0.1, "memory": 5e8}, "seconds": {"training": 4.0}}
    found = Scores.of([record, used], "graph")
    assert found.outer.shape == found.inner.shape == (2, 2)
    assert (found.mean, found.floor, found.training) == (0.5, 0.4, 3.0)
    assert (found.embedding, found.memory) == (0.1, 5e8)


def test_rows_suit_the_data(mutag, graph):
    names = recommend.usual_rows(mutag, "GraphCL")
    assert names == sorted(names, key=recommend.cost_rank)
    assert {"untrained", "WLKernel", "GraphCL", "GraphCL+augcl"} <= set(names)
    assert "MorganFingerprints" not in names
    labels = torch.randint(0, 2, (len(mutag), 3)).float()
    assert "WLKernel" not in recommend.usual_rows(replace(mutag, y=labels), "GraphCL")
    with_features = recommend.usual_rows(graph, "GRACE")
    assert with_features[:2] == ["RawFeatures", "Propagation"]
    assert "GRACE+hcl" in with_features
    assert "Node2Vec" not in with_features
    plain = replace(graph, x=torch.ones(graph.num_nodes, 1))
    assert "RawFeatures" not in recommend.usual_rows(plain, "GCA")
    walks = importlib.util.find_spec("gensim") is not None
    assert ("Node2Vec" in recommend.usual_rows(plain, "GCA")) == walks


def test_molecules_have_fingerprints_as_a_floor(drugs):
    assert "MorganFingerprints" in recommend.usual_rows(drugs, "GraphCL")


@pytest.mark.parametrize(
    ("text", "level", "cure"),
    [
        ("GraphCL", "node", "GraphCL embeds graphs"),
        ("GraphCL+dlc", "graph", "did you mean dcl"),
        ("GraphC", "graph", "did you mean GraphCL"),
        ("GCA+dcl+hcl", "node", "one of dcl and hcl, not both"),
    ],
)
def test_a_wrong_row_is_told(text, level, cure):
    with pytest.raises(InputError, match=cure):
        recommend.row_name(text, level)


@pytest.mark.parametrize("text", ["", "ten", "10x", "-5m", "0", "5 m 3"])
def test_a_budget_that_is_no_time_is_told(text):
    with pytest.raises(InputError, match="such as 90s, 10m or 2h"):
        recommend.read_budget(text)


def test_the_command_holds_every_setting():
    spec = Spec(
        "my data.csv",
        hardness="augcl",
        epochs=7,
        options={"tau": 0.5, "edge_drop": (0.1, 0.2)},
        features="degree",
        target="log P",
        skip_bad=True,
    )
    words = shlex.split(recommend.train_command(spec, "runs/x", data_dir="d"))
    assert words == [
        *("augcl", "train", "my data.csv", "--method", "GraphCL", "--hardness", "augcl"),
        *("--epochs", "7", "--set", "method.tau=0.5", "--set", "method.edge_drop=0.1,0.2"),
        *("--features", "degree", "--target", "log P", "--skip-bad", "--data-dir", "d"),
        *("--out", "runs/x"),
    ]
    beside = recommend.train_command(recommend.spec_of("GCA+dcl+propagation", spec), "runs/x")
    assert "--hardness dcl --beside Propagation --epochs 7" in beside
    kernel = recommend.train_command(recommend.spec_of("WLKernel", spec), "runs/x")
    assert not {"--hardness", "--epochs", "--set"} & set(shlex.split(kernel))


def test_estimates_follow_what_was_measured(molecules):
    costs = Costs(molecules)
    plain = Spec("mine", hardness="none", epochs=10)
    before = costs.seconds("GraphCL", plain)
    costs.measured("untrained", replace(plain, epochs=0), {"training": 100.0, "evaluation": 3.0})
    after = costs.seconds("GraphCL", plain)
    assert abs(after - before) < 10  # an untrained encoder tells nothing of an epoch
    costs.measured("GraphCL", plain, {"training": 50.0, "evaluation": 3.0})
    assert costs.seconds("GraphCL", plain) == pytest.approx(53.0)
    assert costs.seconds("longer", replace(plain, epochs=20)) == pytest.approx(103.0)
    weighted = replace(plain, hardness="augcl")
    assert costs.seconds("GraphCL+augcl", weighted) > 55
    costs.measured("GraphCL+augcl", weighted, {"training": 51.0, "evaluation": 3.0})
    assert costs.seconds("GraphCL+augcl", weighted) == pytest.approx(54.0)
    kernel = Spec("mine", method="WLKernel", hardness="none")
    assert costs.seconds("WLKernel", kernel) == pytest.approx(3.0)


def test_the_fixed_seconds_of_a_step_do_not_price_the_weights_of_a_small_graph(graph):
    costs = Costs(graph)
    plain = Spec("mine", method="GCA", hardness="none", epochs=50)
    costs.measured("GCA", plain, {"training": 0.8, "evaluation": 0.2})
    assert costs.seconds("GCA+progcl", replace(plain, hardness="progcl")) < 10  # it takes one


def test_a_row_beside_another_takes_what_both_take(molecules):
    costs = Costs(molecules)
    plain = Spec("mine", hardness="none", epochs=10)
    free = Spec("mine", method="WLFeatures", hardness="none")
    costs.measured("GraphCL", plain, {"training": 50.0, "evaluation": 3.0})
    costs.measured("WLFeatures", free, {"training": 7.0, "evaluation": 11.0})
    assert costs.seconds("GraphCL", plain) == pytest.approx(53.0)  # wide rows are slower to judge
    beside = recommend.spec_of("GraphCL+wl", plain)
    assert costs.seconds("GraphCL+wl", beside) == pytest.approx(71.0)


def test_a_short_run_is_tried_only_where_the_budget_is_tight(molecules, monkeypatch):
    tried = []
    real = recommend.short_run
    monkeypatch.setattr(recommend, "short_run", lambda *a, **k: tried.append(1) or real(*a, **k))
    costs, plain = Costs(molecules), Spec("mine", hardness="none", epochs=10)
    costs.try_if_tight("GraphCL", plain, 2, 1e6)
    assert not tried
    costs.try_if_tight("GraphCL", plain, 2, 0.1)
    costs.try_if_tight("GraphCL", plain, 2, 0.1)
    assert len(tried) == 1
    assert costs.seconds("GraphCL", plain) == costs.tried["GraphCL"] > 0
    costs.measured("GraphCL", plain, {"training": 50.0, "evaluation": 3.0})
    weighted = replace(plain, hardness="dcl")
    costs.try_if_tight("GraphCL+dcl", weighted, 2, 1.0)  # it is known not to fit
    costs.try_if_tight("GraphCL+dcl", weighted, 2, 1e3)  # it is known to fit
    assert len(tried) == 1
    costs.try_if_tight("GraphCL+dcl", weighted, 2, 100.0)
    assert len(tried) == 2


@pytest.mark.parametrize("method", ["InfoGraph", "WLKernel", "Graph2Vec", "WLFeatures"])
def test_methods_without_negatives_are_tried_too(molecules, method):
    if method == "Graph2Vec":
        pytest.importorskip("gensim")
    costs, spec = Costs(molecules), Spec("mine", method=method, hardness="none", epochs=10)
    costs.try_if_tight(method, spec, 1, 0.1)
    assert 0 < costs.tried[method] < 60


@pytest.mark.parametrize("method", ["DGI", "CCASSG", "BGRL", "GAE", "DeepWalk", "Propagation"])
def test_methods_of_nodes_without_negatives_are_tried_too(graph, method):
    if method == "DeepWalk":
        pytest.importorskip("gensim")
    costs, spec = Costs(graph), Spec("mine", method=method, hardness="none", epochs=10)
    costs.try_if_tight(method, spec, 1, 0.1)
    assert 0 < costs.tried[method] < 60
