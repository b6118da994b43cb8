"""What GRACE and GCA take: encoders, graphs and options of all kinds, and what they refuse."""

import networkx as nx
import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch_geometric import nn as pyg
from torch_geometric.data import Data
from torch_geometric.utils import to_networkx

from augcl import GCA, GRACE, InputError, load_model
from augcl.data import NodeGraph
from quick_nodes import losses, quick, same, uncertainty

# scikit-learn


def test_clone_copies_all_parameters_and_nothing_learned(graph):
    model = quick(GCA, hardness=uncertainty(reward=1.7, temper=0), centrality="pagerank").fit(graph)
    copy = clone(model)
    assert copy.get_params().keys() == model.get_params().keys()
    assert (copy.centrality, copy.get_params()["hardness__reward"]) == ("pagerank", 1.7)
    assert not hasattr(copy, "network_")
    assert model.epochs == 4
    assert model.activation is None


# Encoders of others


class Stack(torch.nn.Module):
    def __init__(self, features, width):
        super().__init__()
        self.first, self.second = pyg.GCNConv(features, 16), pyg.GCNConv(16, width)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)


@pytest.mark.parametrize("hardness", [None, "augcl"])
@pytest.mark.parametrize("width", [8, 5])
def test_an_encoder_of_pyg_works_however_wide_it_is(graph, hardness, width, tmp_path):
    encoder = Stack(24, width)
    before = [p.clone() for p in encoder.parameters()]
    model = quick(encoder=encoder, hardness=hardness).fit(graph)
    assert model.transform(graph).shape == (90, width)
    assert all(a.equal(b) for a, b in zip(before, encoder.parameters(), strict=True))
    trained = model.network_.encoder.parameters()
    assert not any(a.equal(b) for a, b in zip(before, trained, strict=True))
    model.save(tmp_path)
    with pytest.raises(InputError, match=r"encoder of its own \(Stack\)"):
        load_model(tmp_path)
    assert same(load_model(tmp_path, encoder=Stack(24, width)), model, graph)


def test_an_encoder_for_other_features_is_named(graph):
    with pytest.raises(InputError, match="encoder Stack cannot read nodes with 24 features"):
        quick(encoder=Stack(3, 8)).fit(graph)


# What graphs may be like


def test_every_way_to_give_the_graph_gives_the_same_embeddings(graph):
    data = graph.to_data()
    net = to_networkx(data, node_attrs=["x", "y"], to_undirected=True)
    one_way = Data(
        x=graph.x, edge_index=graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]]
    )
    loops = Data(
        x=graph.x,
        edge_index=torch.cat([graph.edge_index, torch.arange(90).repeat(2, 1)], dim=1),
    )
    expected = quick().fit(graph).transform(graph)
    for given in (data, net, one_way, loops, [data]):
        assert np.array_equal(quick().fit(given).transform(given), expected)


@pytest.mark.parametrize("kind", [GRACE, GCA])
@pytest.mark.parametrize("hardness", [None, "augcl"])
def test_isolated_nodes_and_no_features_are_no_trouble(kind, hardness):
    net = nx.Graph(nx.karate_club_graph().edges)
    net.add_nodes_from(range(34, 40))
    model = quick(kind, hardness=hardness, warmup=2).fit(net)
    assert np.isfinite(model.transform(net)).all()
    assert np.isfinite(losses(model)).all()


@pytest.mark.parametrize("kind", [GRACE, GCA])
def test_a_graph_without_edges_is_trained(graph, kind):
    model = quick(kind).fit(NodeGraph(graph.x, torch.empty(2, 0, dtype=torch.long)))
    assert np.isfinite(losses(model)).all()


@pytest.mark.parametrize("kind", [GRACE, GCA])
def test_sparse_features_train_as_dense_ones(dense_and_sparse, kind):
    one, other = (quick(kind).fit(graph) for graph in dense_and_sparse)
    assert losses(one) == pytest.approx(losses(other), rel=1e-4)
    dense, sparse = dense_and_sparse
    assert np.allclose(one.transform(dense), other.transform(sparse), atol=1e-3)


# What cannot be


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"activation": "rellu"}, "did you mean relu"),
        ({"preset": "Corra"}, "did you mean Cora"),
        ({"weights": "froze"}, "did you mean frozen"),
        ({"recipe": "author"}, "did you mean authors"),
        ({"hardness": "augl"}, "did you mean augcl"),
        ({"edge_drop": (0.2, 1.0)}, r"edge_drop\[1\] is 1.0: give a finite number, "),
        ({"feature_drop": (-0.1, 0.2)}, r"feature_drop\[0\] is -0.1: give a finite number, "),
        ({"feature_drop": (float("nan"), 0.2)}, r"feature_drop\[0\] is nan: give a finite"),
        ({"edge_drop": (0.2,)}, "give two shares"),
        ({"edge_drop": 0.3}, "edge_drop is 0.3: give two shares"),
        ({"tau": 0.01}, "tau is 0.01: give a finite number, at least 0.02"),
        ({"tau": float("inf")}, "tau is inf: give a finite number"),
        ({"lr": 0.0}, "lr is 0.0"),
        ({"epochs": -1}, "epochs is -1"),
        ({"epochs": 2.5}, "epochs is 2.5"),
        ({"warmup": 9}, "warmup is 9: it must lie between 0 and 4"),
        ({"warmup": 1.5}, "warmup is 1.5"),
        ({"width": 0}, "width is 0"),
        ({"projection": 0}, "projection is 0"),
        ({"sample": 1}, "sample is 1: it must be a whole number, 2 or more"),
        ({"weights_every": 0}, "weights_every is 0"),
        ({"candidates": 1}, "candidates is 1: it must be a whole number, 2 or more"),
        ({"device": "nonsense"}, "device 'nonsense' cannot be used here"),
    ],
    ids=str,
)
def test_a_wrong_option_is_named_with_what_would_be_right(graph, option, message):
    with pytest.raises(InputError, match=message):
        quick(**option).fit(graph)


def test_features_of_another_length_are_told(graph):
    model = quick().fit(graph)
    other = NodeGraph(torch.ones(90, 3), graph.edge_index)
    with pytest.raises(InputError, match=r"3 node features.* 24"):
        model.transform(other)


def test_features_that_are_no_numbers_are_told(graph):
    x = graph.x.clone()
    x[7, 2] = float("nan")
    with pytest.raises(InputError, match="node 7, counted from 0: column 'x2' is empty or NaN"):
        quick().fit(Data(x=x, edge_index=graph.edge_index))


def test_one_node_and_a_set_of_graphs_are_refused(mutag, graph):
    with pytest.raises(InputError, match="has one node"):
        quick().fit(NodeGraph.from_arrays(pairs=torch.empty(2, 0).long(), num_nodes=1))
    for several in (mutag, [graph.to_data()] * 2):
        with pytest.raises(InputError, match=r"got a set of .* use GraphCL"):
            quick().fit(several)


def test_only_a_run_with_a_seed_is_resumed(graph, tmp_path):
    with pytest.raises(InputError, match="random_state is None"):
        quick(random_state=None).fit(graph, folder=tmp_path, resume=True)


def test_a_learning_rate_too_high_is_named(graph, monkeypatch):
    loss = GRACE._loss
    monkeypatch.setattr(GRACE, "_loss", lambda *given: loss(*given) * float("nan"))
    with pytest.raises(InputError, match=r"diverged in epoch 1 .*lr"):
        quick().fit(graph)
