import pytest
import torch

from augcl.data.csv_folder import read_csv_folder
from augcl.data.formats import read_graphs
from augcl.errors import InputError


@pytest.fixture
def write(tmp_path):
    def write(edges, nodes=None, graphs=None):
        for name, text in (("edges", edges), ("nodes", nodes), ("graphs", graphs)):
            if text is not None:
                (tmp_path / f"{name}.csv").write_text(text)
        return tmp_path

    return write


def refuses(path, message):
    with pytest.raises(InputError, match=message) as caught:
        read_csv_folder(path)
    assert "\n" not in str(caught.value)


EDGES = "graph,source,target,weight\ng1,a,b,0.5\ng2,b,a,2\ng1,b,c,1\n"
NODES = "graph,node,size,kind\ng2,a,1,red\ng1,a,2,blue\ng1,b,3,red\ng1,c,4,red\ng2,b,5,green\n"


def test_names_features_labels_and_attributes_come_back(write):
    graphs = read_csv_folder(write(EDGES, NODES, "graph,label\ng1,yes\ng2,no\n"))
    assert graphs.edge_columns == ["weight"]
    assert graphs.names == ["g1", "g2"]
    assert graphs.y.tolist() == [1, 0]
    assert graphs.classes == ["no", "yes"]
    assert graphs.node_ptr.tolist() == [0, 3, 5]
    assert graphs.edge_index.tolist() == [[0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]]
    assert graphs.edge_attr[:, 0].tolist() == [0.5, 0.5, 1, 1, 2, 2]
    # size, then the colours one-hot in sorted order: blue, green, red
    assert graphs.x.tolist() == [
        [2, 1, 0, 0], [3, 0, 0, 1], [4, 0, 0, 1], [1, 0, 0, 1], [5, 0, 1, 0],
    ]  # fmt: skip


def test_a_set_written_to_csv_is_read_back(write):
    generator = torch.Generator().manual_seed(0)
    sizes = torch.randint(1, 9, (12,), generator=generator).tolist()
    edges, nodes, expected = ["graph,source,target"], ["graph,id,value"], []
    for g, size in enumerate(sizes):
        adjacency = torch.rand(size, size, generator=generator).triu(1) > 0.5
        adjacency[range(size - 1), range(1, size)] = True
        expected.append((adjacency | adjacency.t()).nonzero().t().tolist())
        edges += [f"graph {g},v{u},v{v}" for u, v in adjacency.nonzero().tolist()]
        nodes += [f"graph {g},v{u},{u * 0.5}" for u in range(size)]
    graphs = read_csv_folder(write("\n".join(edges), "\n".join(nodes)))
    assert [data.edge_index.tolist() for data in graphs] == expected
    assert [len(data.x) for data in graphs] == sizes
    assert graphs.names == [f"graph {g}" for g in range(12)]


def test_edges_alone_make_one_graph(write):
    graphs = read_csv_folder(write("source,target\nann,bob\nbob,cem\nbob,ann\n"))
    assert len(graphs) == 1
    assert graphs.num_nodes == 3
    assert graphs.num_edges == 4
    assert graphs.y is None


def test_nodes_may_tell_the_graph_for_the_edges(write):
    graphs = read_csv_folder(write("source,target\n1,2\n3,4\n", "id,graph\n4,h\n1,g\n2,g\n3,h\n"))
    assert graphs.names == ["h", "g"]
    assert graphs.node_ptr.tolist() == [0, 2, 4]


def test_ids_are_text_and_blanks_around_them_do_not_count(write):
    graphs = read_csv_folder(write("source, target\n007, 7\n7,x\n", "node\n7\n x\n007\n"))
    assert graphs.edge_index.tolist() == [[0, 0, 1, 2], [1, 2, 0, 0]]


def test_a_node_without_edges_is_a_node(write):
    assert read_csv_folder(write("source,target\na,b\n", "node\na\nb\nlonely\n")).num_nodes == 3


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (("source,target\na,b\nb,z\n", "node\na\nb\n"), r"edges.csv, line 3: node 'z' is not in"),
        ((EDGES + "g2,a,c,1\n", NODES), r"edges.csv, line 5: node 'c' is not in .* graph 'g2'"),
        ((EDGES + "g3,a,b,1\n", NODES), r"edges.csv, line 5: node 'a' is not in .* graph 'g3'"),
        ((EDGES, NODES + "g1,a,9,red\n"), r"nodes.csv, line 7: node 'a' is listed twice"),
        (("source,target\na,b\n", NODES), r"nodes.csv, line 3: node 'a' .* no column graph"),
        (
            ("source,target\n1,2\n", "node,graph\n1,g\n2,h\n"),
            r"/.*: an edge connects graph number 1 with another",
        ),
        ((EDGES, "node\na\nb\n"), r"nodes.csv, line 1: no column graph, but edges.csv has one"),
        ((EDGES, NODES, "graph,label\ng1,1\n"), r"nodes.csv, line 2: graph 'g2' is not in"),
        (
            (EDGES, None, "graph,label\ng1,1\ng2,1\ng3,1\n"),
            r"graphs.csv, line 4: graph 'g3' has no",
        ),
        ((EDGES, None, "graph\ng1\ng2\ng1\n"), r"graphs.csv, line 4: graph 'g1' is listed twice"),
        (("source,target\na,b\n", None, "graph\ng\nh\n"), r"graphs.csv lists 2 graphs"),
        (("from,to\na,b\n",), r"no column source; the columns are from, to: name the two ends"),
        (("source,source\na,b\n",), r"edges.csv, line 1: column 'source' occurs twice"),
        (("",), r"edges.csv is empty"),
        (("source,target\n",), r"edges.csv has a header but no lines"),
        (("source,target\na,b\n,c\n",), r"edges.csv, line 3: column 'source' is empty"),
        (
            ("source,target\na,b\n\nc\n",),
            r"edges.csv, line 4: 1 value, but the first line names 2 columns \(source, target\)",
        ),
        (("source,target\na,b\nc,d,e\nf\n",), r"edges.csv, line 3: 3 values, but .* 2 columns"),
        (("source;target\na;b\n",), r"edges.csv, line 1: semicolons .* save .* with commas"),
        (("source\ttarget\na\tb\n",), r"edges.csv, line 1: tabs between the columns"),
        (
            ("source,target\na,b\n", "node,v\na,1\n\nb,\n"),
            r"nodes.csv, line 4: column 'v' is empty",
        ),
        (("source,target\na,b\n", "node,v\na,nan\nb,1\n"), r"nodes.csv, line 2: column 'v' .* NaN"),
        (("source,target,when\na,b,2020-01-01\n",), r"column 'when' holds date32"),
    ],
)
def test_a_mistake_is_told_with_its_place(write, files, message):
    refuses(write(*files), message)


def test_a_folder_without_edges_is_refused(tmp_path):
    refuses(tmp_path, "edges.csv does not exist")


def test_bytes_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "edges.csv").write_bytes(b"source,target\n\xff\xfe,b\n")
    refuses(tmp_path, "edges.csv")


def test_capitals_in_the_names_of_columns_do_not_matter(write):
    nodes = "Graph,ID,Size\ng1,a,1\ng1,b,2\ng2,a,3\n"
    graphs = read_csv_folder(
        write("Graph,Source,TARGET\ng1,a,b\n", nodes, "ID,Label\ng1,x\ng2,y\n")
    )
    assert graphs.y.tolist() == [0, 1]
    assert graphs.columns == ["Size"]


@pytest.mark.parametrize("name", ["class", "Class", "target", "labels", "Y"])
def test_a_feature_called_like_a_class_is_refused(write, name):
    nodes = f"graph,node,{name}\ng1,a,1\ng1,b,1\ng1,c,1\ng2,a,0\ng2,b,0\n"
    refuses(write(EDGES, nodes), rf"(?i)nodes.csv, line 1: column '{name}' looks .* graphs.csv as")


def test_a_coordinate_is_a_feature(write):
    nodes = "graph,node,x,y\ng1,a,1,0.5\ng1,b,1,1\ng1,c,1,1\ng2,a,0,0\ng2,b,0,0\n"
    assert read_csv_folder(write(EDGES, nodes)).columns == ["x", "y"]


def test_a_class_of_graphs_under_another_name_is_refused(write):
    folder = write(EDGES, NODES, "graph,Class\ng1,1\ng2,0\n")
    refuses(folder, r"graphs.csv, line 1: column 'Class' looks like the class: rename it to label")


def test_a_file_with_another_name_than_edges_is_named(tmp_path):
    (tmp_path / "edge.csv").write_text("source,target\na,b\n")
    with pytest.raises(InputError, match=r"edges.csv does not exist: .* The folder has edge.csv"):
        read_csv_folder(tmp_path)


def test_columns_of_graphs_that_are_not_used_are_named(write):
    folder = write(EDGES, NODES, "graph,label,smiles,Class\ng1,1,CC,1\ng2,0,C,0\n")
    with pytest.warns(UserWarning, match=r"graphs.csv: columns smiles, Class not used"):
        assert read_csv_folder(folder).y.tolist() == [1, 0]


@pytest.mark.parametrize("read", [read_csv_folder, read_graphs])
def test_a_folder_without_edges_names_the_files_that_it_needs(write, read):
    folder = write(None, NODES)
    with pytest.raises(
        InputError, match=r"edges.csv does not exist: give edges.csv \(columns source, "
    ):
        read(folder)
