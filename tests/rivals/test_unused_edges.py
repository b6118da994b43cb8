"""Every method uses the features of edges, or says once that it does not."""

import warnings

import networkx as nx
import numpy as np
import pytest

import augcl
from augcl.data import as_graphset, as_node_graph
from augcl.runs.data_check import look_at_unused_edges

SMALL = {
    "DeepGraphKernel": {"dimension": 4, "passes": 1},
    "GraphletKernel": {},
    "MVGRLGraphs": {"epochs": 1, "width": 4},
    "Node2VecGraphs": {"dimensions": 4, "walks": 1, "length": 5},
    "Sub2Vec": {"dimensions": 4, "walk_length": 20, "passes": 1},
}


def rings(weight=None):
    graphs = []
    for size in (5, 6, 7, 8):
        graph = nx.circular_ladder_graph(size)
        for i, (_, _, values) in enumerate(graph.edges(data=True)):
            values["order"] = "ab"[i % 2]
            if weight is not None:
                values["weight"] = weight(i)
        graphs.append(graph)
    return as_graphset(graphs)


def model(name):
    return getattr(augcl, name)(random_state=0, progress=False, **SMALL[name])


@pytest.mark.parametrize("name", SMALL)
def test_unused_features_of_edges_are_named_at_the_fit_only(name):
    graphs = rings()
    with pytest.warns(UserWarning, match="edges of graphs: columns order=a, order=b not used: "):
        fitted = model(name).fit(graphs)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted.transform(graphs)
    assert not [w for w in caught if "not used" in str(w.message)]


@pytest.mark.parametrize("name", ["Node2VecGraphs", "Sub2Vec"])
def test_walks_in_graphs_follow_weights(name):
    with pytest.warns(UserWarning, match="columns order=a, order=b not used: random walks use"):
        plain = model(name).fit_transform(rings(lambda i: 1.0))
    uneven = model(name).fit_transform(rings(lambda i: float(i % 3)))
    assert not np.allclose(plain, uneven)
    with pytest.raises(augcl.InputError, match=r"edge entry .* has the weight -1: random walks"):
        model(name).fit(rings(lambda i: -1.0))


def test_labels_that_are_no_labels_are_named():
    graphs = [nx.path_graph(4) for _ in range(2)]
    for graph in graphs:
        nx.set_edge_attributes(graph, 0.5, "length")
    with pytest.warns(UserWarning, match="column length not used: edge labels are whole numbers"):
        augcl.WLKernel().fit(graphs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        augcl.WLKernel(edge_labels=False).fit(graphs)  # the user knows


def test_methods_for_nodes_name_what_is_no_weight():
    graph = nx.karate_club_graph()
    nx.set_edge_attributes(graph, "friend", "kind")
    graph = as_node_graph(graph)
    with pytest.warns(UserWarning, match="column kind=friend not used: methods for nodes use only"):
        augcl.GCA(epochs=1, progress=False).fit(graph)


def test_doctor_names_the_same_columns():
    found = look_at_unused_edges(rings(lambda i: 1.0), model("Sub2Vec"))
    assert [finding.what for finding in found] == [
        "2 edge columns not used by Sub2Vec: order=a, order=b"
    ]
