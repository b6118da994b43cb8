import pytest

from augcl.data import GraphSet, as_node_graph, load, load_graph, load_graphs
from augcl.data.csv_folder import is_one_csv_graph, read_csv_graph
from augcl.errors import InputError

EDGES = "source,target,since\nann,bob,1999\nbob,cem,now\nbob,ann,2001\ncem,cem,now\n"
NODES = "id,age,city,label\ncem,3,Rome,b\nbob,2,Oslo,a\nann,1,Rome,\n007,9,Oslo,b\n"


@pytest.fixture
def write(tmp_path):
    def write(edges, nodes=None, graphs=None):
        folder = tmp_path / "friends"
        folder.mkdir()
        for name, text in (("edges", edges), ("nodes", nodes), ("graphs", graphs)):
            if text is not None:
                (folder / f"{name}.csv").write_text(text)
        return folder

    return write


def test_names_features_and_classes_come_back(write):
    graph = read_csv_graph(write(EDGES, NODES))
    assert graph.names == ["cem", "bob", "ann", "007"]
    assert graph.y.tolist() == [1, 0, -1, 1]
    # age, then the cities one-hot in sorted order: Oslo, Rome
    assert graph.x.tolist() == [[3, 0, 1], [2, 1, 0], [1, 0, 1], [9, 1, 0]]
    assert graph.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert graph.edge_columns == ["since=1999", "since=2001", "since=now"]
    assert graph.name == "friends"
    assert graph.classes == as_node_graph(graph.to_data()).classes == ["a", "b"]


def test_edges_alone_make_a_graph(write):
    graph = read_csv_graph(write("source,target\nann,bob\nbob,cem\n"))
    assert graph.names == ["ann", "bob", "cem"]
    assert graph.x.tolist() == [[1]] * 3
    assert graph.y is None


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("y\n3\n1\n", [1, 0]),
        ("label\n10\n9\n", [1, 0]),
        ("label\n1\n-1\n", [0, -1]),
        ("label\nyes\n \n", [0, -1]),
        ("label\n4\n\n", [0, -1]),
        ("label\ntrue\nfalse\n", [1, 0]),
        ("label\n-1\n-1\n", None),
    ],
)
def test_classes_are_numbered_and_may_be_missing(write, column, expected):
    header, first, second = column.split("\n")[:3]
    nodes = f"node,size,{header}\na,5,{first}\nb,6,{second}\n"
    graph = read_csv_graph(write("source,target\na,b\n", nodes))
    assert (graph.y if graph.y is None else graph.y.tolist()) == expected
    assert graph.columns == ["size"]


def test_a_folder_is_one_graph_unless_it_speaks_of_several(write, tmp_path):
    folder = write(EDGES, NODES)
    assert is_one_csv_graph(folder)
    data = load(folder)
    assert data.node_names == ["cem", "bob", "ann", "007"]
    assert as_node_graph(data).y.tolist() == [1, 0, -1, 1]
    (folder / "graphs.csv").write_text("graph,label\ng,1\n")
    assert not is_one_csv_graph(folder)
    assert not is_one_csv_graph(tmp_path)


@pytest.mark.parametrize(
    ("edges", "nodes"),
    [
        ("graph,source,target\ng,a,b\nh,a,b\n", None),
        ("source,target\na,b\nc,d\n", "graph,node,label\ng,a,5\ng,b,5\nh,c,6\nh,d,6\n"),
    ],
)
def test_with_a_column_graph_it_is_a_set(write, edges, nodes):
    folder = write(edges, nodes)
    graphs = load(folder)
    assert isinstance(graphs, GraphSet)
    assert len(graphs) == 2
    if nodes is not None:
        assert graphs.x.tolist() == [[5], [5], [6], [6]]  # there a label of nodes is a feature
    with pytest.raises(InputError, match=r"friends: expected one graph, got a set of 2"):
        load_graph(folder)


def test_who_needs_a_set_gets_the_graph_as_a_set_of_one(write):
    graphs = load_graphs(write("source,target\na,b\n", "node,label\na,1\nb,2\n"))
    assert (len(graphs), graphs.y, graphs.x.tolist()) == (1, None, [[1], [2]])


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (("source,target\na,b\nb,z\n", "node\na\nb\n"), r"edges.csv, line 3: node 'z' is not in"),
        (("source,target\na,b\n", "node\na\nb\na\n"), r"nodes.csv, line 4: node 'a' is listed"),
        (("from,to\na,b\n",), r"edges.csv, line 1: no column source"),
        (("source,target\na,b\n", "who\na\n"), r"nodes.csv, line 1: no column node or id"),
        (("source,target\na,b\n", "node,v\na,1\nb,nan\n"), r"nodes.csv, line 3: column 'v'"),
        (("source,target\na,b\n", "node,v\na,1\nb,\n"), r"nodes.csv, line 3: column 'v' is empty"),
        (("source,target\n",), r"edges.csv has a header but no lines"),
    ],
)
def test_a_mistake_is_told_with_its_place(write, files, message):
    with pytest.raises(InputError, match=message) as caught:
        read_csv_graph(write(*files))
    assert "\n" not in str(caught.value)


def test_a_folder_without_edges_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"edges.csv does not exist"):
        read_csv_graph(tmp_path)


@pytest.mark.parametrize("name", ["class", "Target", "labels"])
def test_a_feature_called_like_a_class_is_refused(write, name):
    nodes = f"node,size,{name}\na,1,0\nb,2,1\n"
    with pytest.raises(
        InputError, match=rf"(?i)nodes.csv, line 1: column '{name}' .* rename it to label"
    ):
        read_csv_graph(write("source,target\na,b\n", nodes))


def test_a_second_class_is_no_feature(write):
    nodes = "node,label,y\na,0,1\nb,1,0\n"
    with pytest.raises(InputError, match=r"column 'y' looks like the class.* remove it"):
        read_csv_graph(write("source,target\na,b\n", nodes))


def test_a_class_in_capitals_is_the_class(write):
    graph = read_csv_graph(write("Source,Target\na,b\n", "Node,Size,Label\na,1,x\nb,2,y\n"))
    assert graph.y.tolist() == [0, 1]
    assert graph.x.tolist() == [[1], [2]]
