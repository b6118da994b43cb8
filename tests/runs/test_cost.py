from dataclasses import replace

import pytest
import torch

from augcl.data import load_graph, load_graphs
from augcl.data.generators import planted
from augcl.runs import cost as doctor_cost
from augcl.runs import cost as short_run
from augcl.runs.cost import (
    Cost,
    Plan,
    Price,
    estimate,
    look_at_price,
    look_at_steps,
    part_of_data,
    scaled,
)
from augcl.runs.run import Spec

PLAN = Plan(epochs=40, warmup=20, width=32)


def test_the_plan_is_that_of_the_method():
    assert Plan.of(Spec("MUTAG"), load_graphs("MUTAG")) == PLAN
    nodes = Spec("digits-knn", method="GCA", epochs=None)
    assert Plan.of(nodes, load_graph("digits-knn")) == Plan(50, 25, 128, candidates=512)


@pytest.mark.parametrize("load", [lambda: load_graphs("digits"), lambda: load_graph("digits-knn")])
def test_less_data_cost_less_of_everything(load, monkeypatch):
    monkeypatch.setattr(short_run, "NODES", 300)
    data = load()
    some = part_of_data(data)
    assert some.num_nodes < data.num_nodes
    assert part_of_data(some) is some
    assert some.num_features == data.num_features
    all_cost, part_cost = vars(estimate(data, PLAN)), vars(estimate(some, PLAN))
    parts = set(all_cost) - {"once"}  # is only measured
    assert all(all_cost[part] > part_cost[part] > 0 for part in parts)


def test_a_measured_part_grows_as_the_model_does():
    expected, of_all = Cost(1, 1, 1, 1, memory=10), Cost(2, 3, 4, 5, memory=100)
    measured = Cost(0.5, 0.5, 0.5, 0.5, memory=40)
    assert scaled(measured, expected, of_all) == Cost(1, 1.5, 2, 2.5, memory=130)
    assert scaled(measured, expected, expected) == replace(measured, memory=40)


def test_a_short_run_measures_every_part(monkeypatch):
    monkeypatch.setattr(short_run, "GRAPHS", 60)
    found = short_run.short_run(Spec("MUTAG"), load_graphs("MUTAG"))
    assert (found.tried, found.of) == (60, 188)
    assert min(found.cost.plain_epoch, found.cost.weighted_epoch, found.cost.evaluation) > 0
    assert 0.5 < found.cost.seconds(PLAN) < 500


def test_unlabelled_graphs_are_not_judged(monkeypatch):
    monkeypatch.setattr(short_run, "GRAPHS", 60)
    graphs = replace(load_graphs("MUTAG"), y=None)
    assert short_run.short_run(Spec("MUTAG"), graphs).cost.evaluation == 0
    few = replace(graphs, y=torch.arange(188) // 4)  # too few of each class for ten folds
    assert short_run.short_run(Spec("MUTAG"), few).cost.evaluation > 0


def test_what_is_long_or_too_much_has_a_cure(monkeypatch):
    monkeypatch.setattr(doctor_cost, "memory_of_machine", lambda: 8e9)
    short, long = Price(60, 1e8, 1e9), Price(90_000, 1e10, 2e10)
    fine = look_at_price("train", short, None, None, of_nodes=True)
    assert [f.level for f in fine] == ["ok", "ok"]
    time, memory = look_at_price("train", long, None, None, of_nodes=True)
    assert (time.level, memory.level) == ("note", "warning")
    assert "--epochs" in time.cure
    assert "this machine has 8.0 GB" in memory.what
    assert "--hardness none" in memory.cure


def test_a_large_graph_costs_as_its_batches_do():
    spec = Spec("planted-3000", method="GCA", hardness="augcl", options={"batch_nodes": 500})
    small, large = (planted(n) for n in (3000, 12_000))
    plan = Plan.of(spec, small)
    assert plan.batch_nodes == 500
    costs = [vars(estimate(graph, plan)) for graph in (small, large)]
    for part in ("plain_epoch", "weighted_epoch"):
        assert costs[1][part] / costs[0][part] == pytest.approx(4, rel=0.1)  # not the square
    assert costs[1]["memory"] < 4.4 * costs[0]["memory"]
    assert costs[1]["fit"] == costs[0]["fit"]
    whole = replace(plan, batch_nodes=None)
    assert vars(estimate(large, whole))["memory"] > costs[1]["memory"]


def test_the_doctor_says_what_a_step_takes():
    graph = planted(1000)
    said = {
        batch: look_at_steps(graph, replace(Plan(4, 2, 32, candidates=100), batch_nodes=batch))
        for batch in (None, 500)
    }
    assert said[None][0].what == (
        "all 1,000 nodes, with 100 sampled negatives; weights of all pairs in 1 MB"
    )
    assert "about 500 of 1,000 nodes" in said[500][0].what


def test_propagation_beside_and_the_data_are_priced():
    graph = planted(20_000, features=200)
    alone = Spec("planted-20000", method="GCA", hardness="augcl", options={"batch_nodes": 500})
    both = replace(alone, beside="Propagation")
    plans = [Plan.of(spec, graph) for spec in (alone, both)]
    assert [plan.beside for plan in plans] == [0, 512]
    first, second = (estimate(graph, plan).memory for plan in plans)
    assert second > first + 4 * 20_000 * 512
    assert first > graph.x.numel() * 4 + graph.edge_index.numel() * 8
    unlabelled = replace(graph, y=None)  # nothing to judge
    assert estimate(unlabelled, plans[1]).memory < second


def test_the_doctor_says_what_fits_where():
    for plan in (Plan(4, 2, 32), Plan(4, 2, 32, batch_nodes=500)):
        said = {finding.about: finding.what for finding in look_at_steps(planted(1000), plan)}
        assert "one step up to 100,000 nodes" in said["what fits where"]
