import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.datasets import FakeDataset

from augcl.data import NodeGraph, as_graphset, as_node_graph, components
from augcl.errors import InputError

EDGES = torch.tensor([[0, 1, 1, 2, 2], [1, 0, 0, 1, 2]])  # a duplicate, a loop, one way only


def data(**parts):
    return Data(**({"x": torch.eye(4, 2), "edge_index": EDGES} | parts))


def refuses(graph, message):
    with pytest.raises(InputError, match=message) as caught:
        as_node_graph(graph)
    assert "\n" not in str(caught.value)


def test_a_node_graph_stays_itself():
    graph = as_node_graph(data())
    assert as_node_graph(graph) is graph
    assert as_node_graph(graph, features="degree").num_features == 65


def test_data_are_cleaned():
    graph = as_node_graph(data(y=torch.tensor([0, 1, 0, -1])))
    assert graph.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert graph.x.tolist() == [[1, 0], [0, 1], [0, 0], [0, 0]]
    assert graph.y.tolist() == [0, 1, 0, -1]
    assert (graph.splits, graph.names, graph.name) == (None, None, "graph")


def test_data_may_lack_nearly_everything():
    assert as_node_graph(Data(edge_index=EDGES)).num_nodes == 3
    assert as_node_graph(Data(num_nodes=5)).num_edges == 0
    assert as_node_graph(Data(edge_index=EDGES, num_nodes=5)).x.tolist() == [[1]] * 5


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
def test_sparse_features_are_taken():
    wide = torch.eye(4, 300)
    for x in (wide, wide.to_sparse(), wide.to_sparse_csr()):
        graph = as_node_graph(data(x=x))
        assert graph.x.layout == torch.sparse_csr
        assert torch.equal(graph.x.to_dense(), wide)
    assert as_graphset([as_node_graph(data(x=wide)).to_data()]).x.shape == (4, 300)


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        (torch.tensor([[1], [0], [2], [0]]), [1, 0, 2, 0]),
        (torch.tensor([1.0, float("nan"), 0, 0]), [1, -1, 0, 0]),
        (np.array([3, 3, 0, 1]), [3, 3, 0, 1]),
        (["a", "b", "", "a"], [0, 1, -1, 0]),
        (torch.full((4,), -1), None),
    ],
)
def test_classes_are_whole_numbers_or_words(y, expected):
    found = as_node_graph(data(y=y)).y
    assert (found if found is None else found.tolist()) == expected


@pytest.mark.parametrize(
    ("y", "task"),
    [(torch.eye(4), "multilabel"), (torch.tensor([0.5, 1, float("nan"), 1]), "regression")],
)
def test_other_targets_are_kept_also_on_the_way_back(y, task):
    found = as_node_graph(data(y=y))
    again = as_node_graph(found.to_data())
    for graph in (found, again):
        assert graph.task == task
        assert torch.equal(graph.y.nan_to_num(-9), y.nan_to_num(-9))
        assert len(graph.targets) == (4 if task == "multilabel" else 1)


def test_masks_become_splits():
    train = torch.tensor([1, 0, 0, 0], dtype=torch.uint8)
    test = torch.tensor([0, 0, 0, 1]).bool()
    one = as_node_graph(data(train_mask=train, test_mask=test)).splits
    assert one.train.tolist() == [[True, False, False, False]]
    assert not one.val.any()
    many = as_node_graph(
        data(train_mask=torch.eye(4, 3).bool(), val_mask=torch.eye(4, 3).bool(), test_mask=test)
    ).splits
    assert many.train.tolist() == torch.eye(3, 4).bool().tolist()
    assert many.test.tolist() == [[False, False, False, True]] * 3
    assert as_node_graph(data(train_mask=train)).splits is None  # nothing to judge by


def test_networkx_graphs_keep_names_features_and_classes():
    graph = nx.MultiDiGraph([("b", "a"), ("b", "a"), ("a", "a"), ("a", ("c", 1))], name="mine")
    nx.set_node_attributes(graph, {"b": [1, 2], "a": [3, 4], ("c", 1): [5, 6]}, "x")
    nx.set_node_attributes(graph, {"b": "red", "a": "blue"}, "label")
    found = as_node_graph(graph)
    assert found.names == ["b", "a", "('c', 1)"]
    assert found.x.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert found.y.tolist() == [1, 0, -1]
    assert found.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert found.name == "mine"


def test_networkx_attributes_have_a_second_name():
    graph = nx.path_graph(3)
    nx.set_node_attributes(graph, {0: 1.5, 1: 2, 2: 3}, "feat")
    nx.set_node_attributes(graph, {0: 4, 1: 0, 2: 4}, "y")
    nx.set_node_attributes(graph, {0: "a", 1: "b", 2: "c"}, "label")
    found = as_node_graph(graph)
    assert found.x.tolist() == [[1.5], [2], [3]]
    assert found.y.tolist() == [1, 0, 1]  # numbered as everywhere
    assert as_node_graph(nx.empty_graph(2)).x.tolist() == [[1], [1]]


def test_a_label_beside_y_is_told_of():
    graph = nx.path_graph(3)
    nx.set_node_attributes(graph, {0: 4, 1: 0, 2: 4}, "y")
    nx.set_node_attributes(graph, {0: "a", 1: "b", 2: "a"}, "label")
    with pytest.warns(UserWarning, match="nodes of the graph: column label not used: y is the"):
        found = as_node_graph(graph)
    assert (found.y.tolist(), found.columns) == ([1, 0, 1], ["constant"])


def test_a_set_of_one_graph_is_that_graph():
    few = components(1, classes=1)
    assert torch.equal(as_node_graph(few).edge_index, few.edge_index)
    assert as_node_graph(few).y is None  # the class was the graph's
    for one in ([data()], Batch.from_data_list([data()]), FakeDataset(1, task="node")):
        assert isinstance(as_node_graph(one), NodeGraph)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (components(2), r"got a set of 6.*GraphCL"),
        ([data(), data()], r"got a set of 2"),
        ([nx.path_graph(2)] * 3, r"got a set of 3"),
        (Batch.from_data_list([data(), data()]), r"got a set of 2"),
        (FakeDataset(4), r"got a set of 4"),
        ([], r"got a set of 0"),
        ("Cora", "cannot make a graph from a str.*augcl.load"),
        (None, "cannot make a graph from a NoneType"),
        (HeteroData(), "cannot make a graph from a HeteroData"),
        (data(x=torch.full((4, 2), float("inf"))), "node 0, counted from 0: column 'x0' is inf"),
        (data(x=torch.ones(2, 2)), "points at node 2 .*the 2 nodes are 0 to 1"),
        (data(num_nodes=7), "4 rows of node features for 7 nodes"),
        (data(y=torch.tensor([0, 1])), "y has length 2 for 4 nodes"),
        (data(y=1), "y has length 1 for 4 nodes"),
        (data(y=torch.tensor([0, 1, -7, 0])), "class of node 2, counted from 0, is -7"),
        (data(edge_index=torch.tensor([0, 1])), "not \\(2, E\\)"),
        (data(train_mask=torch.ones(3), test_mask=torch.ones(4)), r"train_mask has shape \(3,\)"),
        (
            data(train_mask=torch.ones(4, 2), test_mask=torch.ones(4, 3)),
            "masks of the nodes have 2 and 3 splits",
        ),
        (data(node_names=["a"]), "1 node names for 4 nodes"),
        (Data(x=torch.empty(0, 3)), "the graph has no nodes"),
        (Data(x=torch.ones(2, 1), adj_t=torch.eye(2)), "edges of a Data are in adj_t"),
        (nx.Graph(), "the graph has no nodes"),
    ],
)
def test_what_cannot_be_one_graph_is_told(graph, message):
    refuses(graph, message)


def test_networkx_features_must_be_complete_vectors_of_numbers():
    graph = nx.path_graph(2)
    graph.nodes[0]["x"] = [1.0]
    refuses(graph, "node 1: column 'x0' is empty or NaN")
    graph.nodes[1]["x"] = [1.0, 2.0]
    refuses(graph, "attribute 'x' must be numbers, the same count")
    graph.nodes[1]["x"] = [float("nan")]
    refuses(graph, "node 1: column 'x0' is empty or NaN")
