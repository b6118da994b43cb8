"""Every finding is made where its defect is, and not where all is well."""

import pytest
import torch

from augcl import GCA, GraphCL, Node2Vec
from augcl.data import GraphSet, NodeGraph
from augcl.data.edges import Cleaned
from augcl.runs.data_check import advice, look_at_data, look_at_edges

RING = torch.stack([torch.arange(10), (torch.arange(10) + 1) % 10])


def rings(count=20, x=None, y=None, extra=(), nodes=10, **more):
    """`count` rings of ten nodes (or only the first `nodes` of each) with two clean classes."""
    ring = RING[:, : nodes - 1] if nodes < 10 else RING
    pairs = [ring + nodes * i for i in range(count)]
    pairs.append(torch.tensor(extra, dtype=torch.long).reshape(-1, 2).t())
    x = torch.arange(float(count * nodes)).reshape(-1, 1) + 1 if x is None else x
    return GraphSet.from_arrays(
        pairs=torch.cat(pairs, dim=1),
        graph_of_node=torch.arange(count).repeat_interleave(nodes),
        num_graphs=count,
        x=x,
        y=torch.arange(count) % 2 if y is None else y,
        **more,
    )


def one_graph(pairs=None, nodes=40, x=None, y=None, **more):
    """A ring over all nodes, unless other pairs are given, with two clean classes."""
    ring = [[i, (i + 1) % nodes] for i in range(nodes)]
    return NodeGraph.from_arrays(
        pairs=torch.tensor(pairs or ring).t(),
        num_nodes=nodes,
        x=torch.arange(float(nodes)) + 1 if x is None else x,
        y=torch.arange(nodes) % 2 if y is None else y,
        **more,
    )


def seen(data, level):
    return {f.about: f.what for f in look_at_data(data) if f.level == level}


@pytest.mark.parametrize("data", [rings(), one_graph()], ids=["graphs", "nodes"])
def test_of_clean_data_nothing_is_said(data):
    assert {f.level for f in look_at_data(data)} == {"ok"}


@pytest.mark.parametrize(
    ("data", "level", "about", "words"),
    [
        (rings(extra=[(0, 0), (1, 1)]), "note", "edges", "2 self-loops"),
        (rings(extra=[(0, 1)]), "note", "edges", "1 repeated edge"),
        (rings(extra=[(1, 0)]), "note", "edges", "199 of 200 edges (over 99 %) in one direction"),
        (rings(nodes=9), "warning", "small graphs", "20 of 20 graphs (100 %) below 10 nodes"),
        (rings(x=torch.ones(200, 1)), "note", "features", "none that differ"),
        (rings(node_attr=torch.ones(200, 2)), "note", "features", "2 continuous node attributes"),
        (rings(y=torch.zeros(20).long()), "warning", "classes", "all graphs are of one class"),
        (rings(y=(torch.arange(20) > 4).long()), "warning", "classes", "1 of 2 classes"),
        (rings(200, y=(torch.arange(200) > 10).long()), "note", "majority class", "94.5 % of"),
        (
            rings(y=torch.arange(20) % 15),
            "warning",
            "number of classes",
            "15 classes for 20 graphs",
        ),
        (rings(y=torch.rand(20).round()), "ok", "targets", "1 target for regression"),
        (rings(y=torch.zeros(20)), "warning", "targets", "1 of 1 target (100 %) constant"),
        (one_graph(x=torch.ones(40)), "warning", "features", "none that differ"),
        (one_graph(y=torch.full((40,), -1)), "note", "classes", "none"),
        (one_graph(y=torch.arange(40) % 3 - 1), "note", "classes", "14 of 40 nodes (35 %)"),
        (one_graph(y=torch.arange(40) % 8), "warning", "classes", "smallest class has 5 nodes"),
        (one_graph(y=torch.zeros(40).long()), "warning", "classes", "all nodes are of one class"),
        (one_graph(y=torch.tensor([0, 1] * 4 + [-1] * 32)), "warning", "classes", "8 labelled"),
        (one_graph([[0, 1], [1, 2]]), "warning", "isolated nodes", "37 of 40 nodes (92 %)"),
        (one_graph([[0, 1], [1, 2]]), "note", "components", "38 connected components"),
    ],
)
def test_a_defect_is_found_and_has_a_cure(data, level, about, words):
    assert words in seen(data, level).get(about, "not found")
    assert all(f.cure for f in look_at_data(data) if f.level != "ok")


def test_constant_columns_and_empty_rows_are_named():
    x = torch.ones(200, 3)
    x[:, 1] = torch.arange(200)
    x[:, 2] = 0
    notes = [f.what for f in look_at_data(rings(x=x, columns=["a", "b", "c"])) if f.cure]
    assert notes == ["2 of 3 columns (67 %) constant: a, c"]
    x[:19] = 0
    few = seen(rings(x=x), "note")
    x[:20] = 0
    many = seen(rings(x=x), "warning")
    assert few["features"] == "19 of 200 nodes (10 %) with all features 0"
    assert many["features"] == "20 of 200 nodes (10 %) with all features 0"


def test_sparse_features_are_looked_at_like_dense_ones():
    x = torch.zeros(400, 120)
    x[torch.arange(360), torch.arange(360) % 119] = 1.0
    data = one_graph(nodes=400, x=x)
    assert data.x.layout == torch.sparse_csr
    assert [f.what for f in look_at_data(data) if f.cure] == [
        "1 of 120 columns (under 1 %) constant",
        "40 of 400 nodes (10 %) with all features 0",
    ]


def test_classes_of_one_size_are_not_a_range():
    assert seen(one_graph(y=torch.arange(40) % 2), "ok")["classes"].startswith(
        "2 classes of 20 nodes each; guessing the largest is right in 50.0 %"
    )


def test_unlabelled_graphs_are_fine_for_embeddings():
    graphs = rings(y=torch.arange(20))
    object.__setattr__(graphs, "y", None)
    assert seen(graphs, "note") == {"classes": "none: embeddings cannot be evaluated"}


def test_edges_given_once_are_as_good_as_twice():
    assert [f.level for f in look_at_edges(Cleaned(edges=5, one_way=5))] == ["ok"]
    assert [f.level for f in look_at_edges(Cleaned(edges=5))] == ["ok"]
    assert [f.level for f in look_at_edges(Cleaned(edges=0, loops=3))] == ["warning"]


def test_targets_with_blanks_and_constant_ones_are_named():
    y = torch.tensor([[0.0, 1.0], [1.0, 1.0]]).repeat(10, 1)
    y[:4, 1] = torch.nan
    graphs = rings(y=y, targets=["toxic", "soluble"])
    assert seen(graphs, "ok")["targets"] == "2 targets for multilabel: toxic, soluble"
    assert seen(graphs, "note")["targets"] == "4 of 40 values (10 %) missing"
    assert seen(graphs, "warning")["targets"] == "1 of 2 targets (50 %) constant: soluble"


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (None, "is this regression? --task regression"),
        ([f"{i}.5" for i in range(20)], "is this regression? --task regression"),
        ([f"molecule {i}" for i in range(20)], "is this a name and no class?"),
    ],
)
def test_as_many_classes_as_graphs_are_questioned(names, words):
    (finding,) = advice(rings(y=torch.arange(20), classes=names), GraphCL(), "mine")
    assert finding.what == "20 classes for 20 graphs"
    assert words in finding.cure


def test_a_few_graphs_may_each_have_a_class_of_their_own():
    assert "number of classes" not in seen(rings(4, y=torch.arange(4)), "warning")


def test_a_graph_without_features_is_better_embedded_by_its_walks():
    plain = one_graph(x=torch.ones(40))
    (finding,) = advice(plain, GCA(), "my graph.graphml")
    assert finding.cure.startswith("Node2Vec or degree features usually do better here")
    assert "augcl train 'my graph.graphml' --method Node2Vec" in finding.cure
    assert advice(plain, Node2Vec(), "my graph.graphml") == []
    assert advice(one_graph(), GCA(), "my graph.graphml") == []


def test_edge_columns_that_a_method_does_not_read_are_named():
    columns = {"edge_columns": ["since", "kind=friend"], "edge_attr": torch.ones(40, 2)}
    (finding,) = advice(one_graph(**columns), GCA(), "mine")
    assert finding.what == "2 edge columns not used by GCA: since, kind=friend"
    assert "a column called weight" in finding.cure


class Switched(GraphCL):
    """Reads edge features, unless it is told not to."""

    edge_switch = "edges"

    def __init__(self, *, edges=None):
        super().__init__()
        self.edges = edges


@pytest.mark.parametrize(("edges", "count"), [(None, 0), (True, 0), (False, 1)])
def test_edge_columns_are_used_or_switched_off(edges, count):
    graphs = rings(edge_attr=torch.ones(200, 1), edge_columns=["order"])
    found = [f.cure for f in advice(graphs, Switched(edges=edges), "mine")]
    assert found == ["--set edges=true uses them"] * count
    assert advice(graphs, Switched(edges=edges), "MUTAG") == []  # as published


def test_a_majority_is_said_before_training():
    y = (torch.arange(360) >= 20).long()
    (finding,) = advice(rings(360, y=y), GraphCL(), "mine")
    assert finding.what == "the largest class has 94.4 % of the graphs"
    assert "compare every accuracy with 94.4 %" in finding.cure
