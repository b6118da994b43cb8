import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.datasets import FakeDataset

from augcl.data import as_graphset, components
from augcl.errors import InputError


def data(nodes=2, width=1, **more):
    edges = torch.tensor([[0, 1], [1, 0]])
    return Data(x=torch.ones(nodes, width), edge_index=edges, **more)


def refuses(graphs, message):
    with pytest.raises(InputError, match=message) as caught:
        as_graphset(graphs)
    assert "\n" not in str(caught.value)


def test_a_graph_set_stays_itself():
    graphs = components(2)
    assert as_graphset(graphs) is graphs
    assert as_graphset(graphs, features="degree").num_features == 65


def test_a_set_to_pyg_and_back_is_the_same():
    graphs = components(5, seed=1)
    again = as_graphset(list(graphs))
    for key in ("x", "edge_index", "node_ptr", "edge_ptr", "y"):
        assert torch.equal(getattr(again, key), getattr(graphs, key))
    batched = as_graphset(Batch.from_data_list(list(graphs)))
    assert torch.equal(batched.edge_index, graphs.edge_index)


def test_a_pyg_dataset_is_taken():
    dataset = FakeDataset(num_graphs=6, avg_num_nodes=10, edge_dim=2)
    graphs = as_graphset(dataset)
    assert len(graphs) == 6
    assert torch.equal(graphs.x, torch.cat([one.x for one in dataset]))
    assert torch.equal(graphs.y, torch.cat([one.y.reshape(1) for one in dataset]))
    assert graphs.edge_attr.shape == (graphs.num_edges, 2)
    assert len(as_graphset(dataset[:2])) == 2


def test_data_without_features_get_the_constant_one():
    edges = torch.tensor([[0], [2]])
    graphs = as_graphset([Data(edge_index=edges), Data(edge_index=edges, num_nodes=5)])
    assert graphs.node_ptr.tolist() == [0, 3, 8]
    assert torch.equal(graphs.x, torch.ones(8, 1))
    assert as_graphset([Data(num_nodes=3)]).num_edges == 0


def test_networkx_graphs_keep_names_features_and_classes():
    one = nx.Graph([("a", "b")], y=1)
    nx.set_node_attributes(one, {"a": [1.0, 2.0], "b": [3.0, 4.0]}, "x")
    two = nx.MultiDiGraph([(5, 9), (5, 9), (9, 9)], label=0)
    nx.set_node_attributes(two, {5: (0, 0), 9: (1, 1)}, "x")
    graphs = as_graphset([one, two])
    assert graphs.x.tolist() == [[1, 2], [3, 4], [0, 0], [1, 1]]
    assert graphs.edge_index.tolist() == [[0, 1, 2, 3], [1, 0, 3, 2]]
    assert graphs.y.tolist() == [1, 0]


def test_node_labels_count_as_features_only_when_they_are_numbers():
    number, word = nx.path_graph(2), nx.path_graph(2)
    nx.set_node_attributes(number, {0: 4, 1: 5}, "label")
    nx.set_node_attributes(word, {0: "C", 1: "N"}, "label")
    assert as_graphset([number]).x.tolist() == [[4], [5]]
    with pytest.warns(UserWarning, match="column label not used: it differs from node to node"):
        assert as_graphset([word]).x.tolist() == [[1], [1]]
    nx.set_node_attributes(word, {0: "C", 1: "C"}, "label")
    assert as_graphset([word]).columns == ["label=C"]


@pytest.mark.parametrize(
    ("targets", "expected"),
    [
        ([0, 2], [0, 2]),
        ([torch.tensor([1]), torch.tensor(0)], [1, 0]),
        ([np.int64(3), 1.0], [3, 1]),
        ([-1, 1], [0, 1]),
        (["yes", "no"], [1, 0]),
        ([1, None], [1, -1]),
        ([None, None], None),
    ],
)
def test_classes_are_whole_numbers_or_words(targets, expected):
    graphs = [data() for _ in targets]
    for graph, target in zip(graphs, targets, strict=True):
        graph.y = target
    y = as_graphset(graphs).y
    assert (y if y is None else y.tolist()) == expected
    assert y is None or y.dtype == torch.int64


@pytest.mark.parametrize(
    ("targets", "task", "expected"),
    [
        ([0.5, 1.0], "regression", [0.5, 1]),
        ([torch.tensor([1, 2]), torch.tensor([[3, 4]])], "regression", [[1, 2], [3, 4]]),
        ([torch.tensor([1, 0]), torch.tensor([1, 1])], "multilabel", [[1, 0], [1, 1]]),
    ],
)
def test_fractions_and_several_columns_are_kept_as_numbers(targets, task, expected):
    found = as_graphset([data(y=target) for target in targets])
    assert (found.task, found.y.tolist(), found.y.dtype) == (task, expected, torch.float32)


@pytest.mark.parametrize(
    ("graphs", "message"),
    [
        ([], "empty"),
        (data(), r"expected a list of graphs, got one graph \(a Data\)"),
        (nx.path_graph(3), r"list of graphs, got one graph \(a Graph\)"),
        ("MUTAG", "cannot make graphs from a str.*augcl.load"),
        (3, "cannot make graphs from a int"),
        ([data(), 5], "graph number 2 is a int"),
        ([data(), Batch.from_data_list([data()])], "graph number 2 is a .*Batch"),
        ([data(), data(), data(width=3)], "graph number 3 has 3 node features but .* 1 has 1"),
        ([data(), Data(num_nodes=2)], "graph number 2 has 0 node features"),
        (
            [data(), Data(x=torch.tensor([[float("nan")]]))],
            "graph number 2, node 0, counted from 0: column 'x0' is empty or NaN",
        ),
        ([data(nodes=1)], "graph number 1: edge_index points at node 1 .*, but the 1 nodes"),
        ([Data(x=torch.ones(2, 1), edge_index=torch.tensor([[-1], [0]]))], "a node below 0"),
        ([Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0, 1, 1]]))], r"shape \(1, 3\)"),
        ([data(), Data(x=torch.ones(0, 1))], "graph number 2 has no nodes"),
        ([Data(x=torch.ones(2, 1, 3))], r"node features have shape \(2, 1, 3\): expected \(nodes"),
        ([data(edge_attr=torch.ones(3))], "3 rows of edge attributes for 2 edges"),
    ],
)
def test_what_cannot_be_a_set_of_graphs_is_told(graphs, message):
    refuses(graphs, message)


def test_a_label_beside_y_is_told_of():
    both, one, none = map(nx.path_graph, (2, 3, 1))
    both.graph |= {"y": 0, "label": "no"}
    one.graph["label"] = 7
    with pytest.warns(UserWarning, match="graphs: column label not used: target= "):
        found = as_graphset([both, one, none])
    assert (found.y.tolist(), found.targets) == ([0, 1, -1], ["y"])
    assert as_graphset([one, none]).y.tolist() == [0, -1]  # the only one: nothing to tell


def test_networkx_features_must_be_complete_vectors_of_numbers():
    graph = nx.path_graph(2)
    graph.nodes[0]["x"] = [1.0]
    refuses([graph], "graph number 1, node 1: column 'x0' is empty or NaN")
    graph.nodes[1]["x"] = [1.0, 2.0]
    refuses([graph], "attribute 'x' must be numbers, the same count")
    graph.nodes[1]["x"] = ["red"]
    refuses([graph], "attribute 'x' must be numbers")
