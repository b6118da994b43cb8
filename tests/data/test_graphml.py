import networkx as nx
import pytest

from augcl.data.edges import Cleaned
from augcl.data.graphml import read_graphml, read_graphml_graph
from augcl.errors import InputError

WRITERS = pytest.mark.parametrize(
    ("suffix", "writer"), [("graphml", nx.write_graphml), ("gml", nx.write_gml)]
)


def labelled(nodes, **attributes):
    graph = nx.path_graph([f"n{i}" for i in range(nodes)])
    graph.graph.update(attributes)
    for i, node in enumerate(graph):
        graph.nodes[node].update(weight=i * 0.5, age=i, colour="red")
    return graph


@WRITERS
def test_a_folder_of_files_is_a_set(tmp_path, suffix, writer):
    writer(labelled(3, label="yes"), tmp_path / f"b.{suffix}")
    writer(labelled(2, label="no"), tmp_path / f"a.{suffix}")
    (tmp_path / "notes.txt").write_text("not a graph")
    graphs = read_graphml(tmp_path)
    assert graphs.names == ["a", "b"]
    assert graphs.y.tolist() == [0, 1]
    assert graphs.node_ptr.tolist() == [0, 2, 5]
    assert graphs.columns == ["weight", "age", "colour=red"]
    assert graphs[1].x.tolist() == [[0, 0, 1], [0.5, 1, 1], [1, 2, 1]]
    assert graphs[1].edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]


def test_one_file_is_one_graph(tmp_path):
    nx.write_graphml(nx.DiGraph([("a", "b"), ("b", "a"), ("b", "b")]), tmp_path / "one.graphml")
    graphs = read_graphml(tmp_path / "one.graphml")
    assert (len(graphs), graphs.name, graphs.num_edges, graphs.y) == (1, "one", 2, None)
    assert (graphs.x.tolist(), graphs.columns) == ([[1], [1]], ["constant"])
    assert graphs.cleaned == Cleaned(edges=1, loops=1)


def test_a_number_that_is_missing_on_a_node_is_told(tmp_path):
    graph = labelled(3)
    del graph.nodes["n1"]["age"]
    nx.write_graphml(graph, tmp_path / "gap.graphml")
    with pytest.raises(InputError, match=r"gap.graphml, node 'n1': column 'age' is empty"):
        read_graphml(tmp_path)


@pytest.mark.parametrize("suffix", ["graphml", "gml"])
@pytest.mark.parametrize("content", ["", "not a graph", "<graphml>", "graph ["])
def test_a_file_that_is_none_is_named(tmp_path, suffix, content):
    path = tmp_path / f"bad.{suffix}"
    path.write_text(content)
    with pytest.raises(InputError, match=rf"bad.{suffix}"):
        read_graphml(path)


def test_a_graph_without_nodes_and_an_empty_folder_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"no file that ends in .graphml or .gml"):
        read_graphml(tmp_path)
    nx.write_graphml(nx.Graph(), tmp_path / "none.graphml")
    with pytest.raises(InputError, match=r"none.graphml has no nodes"):
        read_graphml(tmp_path)


@WRITERS
def test_one_file_as_a_graph_has_names_features_and_classes_of_nodes(tmp_path, suffix, writer):
    graph = labelled(4)
    nx.set_node_attributes(graph, {"n0": 1, "n1": 0, "n2": 1, "n3": 0}, "y")
    writer(graph, tmp_path / f"one.{suffix}")
    found = read_graphml_graph(tmp_path / f"one.{suffix}")
    assert found.name == "one"
    assert found.names == ["n0", "n1", "n2", "n3"]
    assert found.y.tolist() == [1, 0, 1, 0]
    assert found.columns == ["weight", "age", "colour=red"]
    assert found.x.tolist() == [[0, 0, 1], [0.5, 1, 1], [1, 2, 1], [1.5, 3, 1]]
    assert found.edge_index.tolist() == [[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]]


def test_a_label_is_a_class_if_nodes_share_it_and_a_name_if_not(tmp_path):
    graph = nx.path_graph(3)
    nx.set_node_attributes(graph, {0: "cat", 1: "dog", 2: "cat"}, "label")
    nx.write_graphml(graph, tmp_path / "classes.graphml")
    found = read_graphml_graph(tmp_path / "classes.graphml")
    assert (found.names, found.y.tolist()) == (["0", "1", "2"], [0, 1, 0])
    nx.set_node_attributes(graph, {0: "Ann", 1: "Bob", 2: "Cem"}, "label")
    nx.write_graphml(graph, tmp_path / "names.graphml")
    found = read_graphml_graph(tmp_path / "names.graphml")
    assert (found.names, found.y) == (["Ann", "Bob", "Cem"], None)


def test_a_class_may_be_missing_on_a_node(tmp_path):
    graph = nx.path_graph(3)
    graph.nodes[0]["y"] = 4
    nx.write_graphml(graph, tmp_path / "gap.graphml")
    assert read_graphml_graph(tmp_path / "gap.graphml").y.tolist() == [0, -1, -1]


def test_a_coordinate_called_y_is_a_feature(tmp_path):
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, {0: 0.25, 1: 1.5}, "y")
    nx.write_graphml(graph, tmp_path / "number.graphml")
    found = read_graphml_graph(tmp_path / "number.graphml")
    assert (found.y.tolist(), found.columns) == ([0.25, 1.5], ["constant"])  # nothing says it is
    nx.set_node_attributes(graph, {0: 1.0, 1: 2.0}, "x")
    nx.write_graphml(graph, tmp_path / "drawn.graphml")
    found = read_graphml_graph(tmp_path / "drawn.graphml")
    assert (found.y, found.x.tolist()) == (None, [[0.25, 1.0], [1.5, 2.0]])
