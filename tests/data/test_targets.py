"""Targets beside classes: numbers, several columns and blanks, chosen by name."""

import networkx as nx
import pandas as pd
import pytest
import torch
from torch_geometric.data import Data

import augcl
from augcl.data import as_graphset, as_node_graph, load_graphs
from augcl.data.targets import Reading
from augcl.errors import InputError

EDGES = pd.DataFrame({"graph": ["f", "g", "h"], "source": ["a"] * 3, "target": ["b"] * 3})
GRAPHS = pd.DataFrame(
    {
        "graph": ["f", "g", "h"],
        "logP": [0.5, None, 2.0],
        "count": [3, 1, 3],
        "group_a": [1, 0, None],
        "group_b": [0, 0, 1],
        "kind": ["x", "", "y"],
    }
)


@pytest.fixture
def folder(tmp_path):
    EDGES.to_csv(tmp_path / "edges.csv", index=False)
    GRAPHS.to_csv(tmp_path / "graphs.csv", index=False)
    return tmp_path


def plain(y):
    return y.nan_to_num(-99).tolist() if y.is_floating_point() else y.tolist()


@pytest.mark.filterwarnings("ignore:.*not used")
@pytest.mark.parametrize(
    ("target", "task", "expected", "found"),
    [
        ("logP", "auto", [0.5, -99, 2], "regression"),
        ("count", "auto", [1, 0, 1], "classification"),
        ("count", "regression", [3, 1, 3], "regression"),
        ("logP", "classification", [0, -1, 1], "classification"),
        ("group_*", "auto", [[1, 0], [0, 0], [-99, 1]], "multilabel"),
        (["logP", "count"], "auto", [[0.5, 3], [-99, 1], [2, 3]], "regression"),
        ("group_a", "multilabel", [[1], [0], [-99]], "multilabel"),
        ("kind", "auto", [0, -1, 1], "classification"),
    ],
)
def test_targets_are_chosen_by_name(folder, target, task, expected, found):
    graphs = augcl.load(folder, target=target, task=task)
    assert (plain(graphs.y), graphs.task) == (expected, found)
    same = augcl.from_pandas(EDGES, graphs=GRAPHS, target=target, task=task)
    assert (plain(same.y), same.targets) == (expected, graphs.targets)
    assert graphs.num_classes == (2 if found == "classification" else 0)
    assert (graphs.labels is None) == (found != "classification")


@pytest.mark.filterwarnings("ignore:.*not used")
@pytest.mark.parametrize(
    ("target", "task", "message"),
    [
        ("logp", "auto", "no column 'logp' to predict: did you mean logP"),
        ("kind", "regression", r"graphs.csv, line 2: column 'kind' is 'x', but a number is needed"),
        ("count", "multilabel", r"graphs.csv, line 2: column 'count' is 3: a multi-label target"),
        ("group_*", "classification", "2 columns .* for a classification"),
        ("logP", "ranking", "unknown task 'ranking'"),
    ],
)
def test_a_target_that_does_not_fit_is_told(folder, target, task, message):
    with pytest.raises(augcl.InputError, match=message):
        augcl.load(folder, target=target, task=task)


def test_a_label_with_fractions_is_no_class(folder):
    GRAPHS[["graph", "logP"]].rename(columns={"logP": "label"}).to_csv(
        folder / "graphs.csv", index=False
    )
    graphs = load_graphs(folder)
    assert (graphs.task, graphs.targets, graphs.num_classes) == ("regression", ["label"], 0)


def test_what_is_not_chosen_is_named_once(folder):
    with pytest.warns(UserWarning, match="columns count, group_a, group_b, kind not used") as told:
        augcl.load(folder, target="logP")
    assert len(told) == 1


def test_attributes_of_networkx_graphs_and_nodes_are_targets():
    one, two = nx.path_graph(2), nx.path_graph(3)
    one.graph["logP"], two.graph["logP"] = 0.5, None
    assert plain(as_graphset([one, two], target="logP").y) == [0.5, -99]
    three = nx.path_graph(3)
    nx.set_node_attributes(three, {0: 1.5, 1: 2.5}, "age")
    found = as_node_graph(three, target="age")
    assert (plain(found.y), found.columns) == ([1.5, 2.5, -99], ["constant"])
    one.graph["y"], two.graph["y"] = [0, 1], [1, 1]
    with pytest.warns(UserWarning, match="logP not used"):
        found = as_graphset([one, two])
    assert (found.y.tolist(), found.task) == ([[0, 1], [1, 1]], "multilabel")


def test_attributes_of_data_are_targets_and_others_are_named():
    edges = torch.tensor([[0], [1]])
    graphs = [
        Data(edge_index=edges, logP=torch.tensor([v]), mass=torch.ones(1)) for v in (0.5, 2.5)
    ]
    with pytest.warns(UserWarning, match="Data: column mass not used"):
        found = as_graphset(graphs, target="logP")
    assert (found.y.tolist(), found.targets) == ([0.5, 2.5], ["logP"])
    assert found.columns == ["constant"]


def test_a_node_target_is_no_feature(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,c\n")
    (tmp_path / "nodes.csv").write_text("node,age,income,label\na,1,0.5,x\nb,2,,y\nc,3,2.5,x\n")
    with pytest.warns(UserWarning, match="nodes.csv: column label not used: another target"):
        graph = as_node_graph(augcl.load(tmp_path, target="income"))
    assert (graph.columns, plain(graph.y), graph.task) == (["age"], [0.5, -99, 2.5], "regression")


def test_whole_numbers_for_a_regression_stay_numbers_on_the_way_through_data(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\na,b\n")
    (tmp_path / "nodes.csv").write_text("node,age\na,1\nb,2\n")
    data = augcl.load(tmp_path, target="age", task="regression")
    assert as_node_graph(data).task == "regression"


def test_graph_attributes_of_tu_files_are_targets(tmp_path):
    (tmp_path / "T_A.txt").write_text("1,2\n3,4\n")
    (tmp_path / "T_graph_indicator.txt").write_text("1\n1\n2\n2\n")
    (tmp_path / "T_graph_attributes.txt").write_text("0.5, 1\n1.5, 2\n")
    assert load_graphs(tmp_path).y.tolist() == [[0.5, 1], [1.5, 2]]
    how = Reading(target="attribute1", task="regression")
    assert load_graphs(tmp_path, how=how).y.tolist() == [1, 2]
    (tmp_path / "T_graph_labels.txt").write_text("1\n2\n")
    with pytest.warns(UserWarning, match="columns attribute0, attribute1 not used"):
        assert load_graphs(tmp_path).y.tolist() == [0, 1]


def test_sets_with_nothing_but_classes_can_be_read_as_numbers():
    assert augcl.load("MUTAG", task="regression").task == "regression"
    assert augcl.load("digits-knn", task="regression").y.dtype == torch.float32
    with pytest.raises(augcl.InputError, match="digits-knn has only its own classes"):
        augcl.load("digits-knn", target="age")


def test_training_never_takes_numbers_for_classes():
    graphs = [Data(edge_index=torch.tensor([[0, 1], [1, 2]]), y=v / 3) for v in range(4)]
    model = augcl.GraphCL(epochs=2, width=4, progress=False, hardness="augcl").fit(graphs)
    assert not any("weight_false_negatives" in epoch for epoch in model.history_)
    with pytest.raises(augcl.InputError, match="these data have none"):
        augcl.GraphCL(epochs=1, width=4, progress=False, hardness=augcl.Oracle()).fit(graphs)


@pytest.mark.filterwarnings("ignore:.*not used")
@pytest.mark.parametrize("text", ["inf", "-1e39", "4e38"])
def test_a_target_beyond_single_precision_is_refused(folder, text):
    file = folder / "graphs.csv"
    file.write_text(file.read_text().replace("2.0", text))
    with pytest.raises(InputError, match=r"line 4: column 'logP' is .*: scale the column"):
        load_graphs(folder, how=Reading(target=("logP",), task="regression"))
