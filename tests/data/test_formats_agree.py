"""The same graphs are the same GraphSet or NodeGraph, in whatever format they come."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

import augcl
from augcl.data import as_graphset, as_node_graph, load_graph, load_graphs
from augcl.data.targets import Reading

ELEMENTS, BONDS = ["Br", "C", "O"], ["double", "single"]


@st.composite
def little_graphs(draw):
    """A few graphs with words, numbers and booleans on nodes and edges, and two targets each."""
    graphs = []
    for number in range(draw(st.integers(1, 4))):
        graph = nx.Graph(name=f"g{number}")
        for node in range(draw(st.integers(1, 4))):
            graph.add_node(
                f"n{node}",
                element=draw(st.sampled_from(ELEMENTS)),
                charge=draw(st.integers(-2, 2)) / 2,
                aromatic=draw(st.booleans()),
            )
        nodes = list(graph)
        for i, node in enumerate(nodes[1:], 1):
            order = draw(st.sampled_from(BONDS))
            graph.add_edge(nodes[draw(st.integers(0, i - 1))], node, order=order, weight=i / 4)
        graph.graph["y"] = draw(st.integers(0, 1))
        graphs.append(graph)
    return graphs


def frames(graphs, class_name="label"):
    """Return the tables of edges, nodes and graphs."""
    edges = [
        {"graph": g.graph["name"], "source": a, "target": b} | values
        for g in graphs
        for a, b, values in g.edges(data=True)
    ]
    nodes = [
        {"graph": g.graph["name"], "node": node} | values
        for g in graphs
        for node, values in g.nodes(data=True)
    ]
    rows = [{"graph": g.graph["name"], class_name: g.graph["y"]} for g in graphs]
    columns = ["graph", "source", "target", "order", "weight"]
    columns = columns if any("weight" in edge for edge in edges) else columns[:-1]
    return pd.DataFrame(edges, columns=columns), pd.DataFrame(nodes), pd.DataFrame(rows)


def written(folder, tables, ending):
    folder.mkdir(exist_ok=True)
    for name, table in zip(("edges", "nodes", "graphs"), tables, strict=False):
        if ending == "csv":
            table.to_csv(folder / f"{name}.csv", index=False)
        else:
            table.to_parquet(folder / f"{name}.parquet", index=False)
    return folder


def same(a, b, *, names=True):
    for key in ("x", "edge_index", "node_ptr", "edge_ptr", "y", "edge_attr", "edge_weight"):
        one, other = getattr(a, key, None), getattr(b, key, None)
        assert (one is None) == (other is None), key
        assert one is None or torch.equal(one, other), key
    for key in ("columns", "edge_columns", "names", "classes", "targets", "task") if names else ():
        assert getattr(a, key) == getattr(b, key), key


def as_data(graph, columns, edge_columns):
    """Write a networkx graph as PyG Data by hand: one-hot columns in the given order."""

    def row(values, names):
        return [
            float(str(values[n.split("=")[0]]) == n.split("=")[1]) if "=" in n else values[n]
            for n in names
        ]

    index = {node: i for i, node in enumerate(graph)}
    ends = [(index[a], index[b]) for a, b in graph.edges()]
    return Data(
        x=torch.tensor([row(v, columns) for _, v in graph.nodes(data=True)]),
        edge_index=torch.tensor(ends, dtype=torch.long).reshape(-1, 2).t(),
        edge_attr=torch.tensor([row(v, edge_columns) for *_, v in graph.edges(data=True)]).reshape(
            len(ends), len(edge_columns)
        ),
        y=graph.graph["y"],
    )


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(graphs=little_graphs())
def test_sets_of_graphs_agree(tmp_path_factory, graphs):
    if not any(graph.number_of_edges() for graph in graphs):
        return  # an empty column has no words: there is nothing to compare
    folder = tmp_path_factory.mktemp("formats")
    tables = frames(graphs)
    expected = load_graphs(written(folder / "csv", tables, "csv"))
    labels = sorted({graph.graph["y"] for graph in graphs})
    assert expected.y.tolist() == [labels.index(graph.graph["y"]) for graph in graphs]
    same(as_graphset(graphs), expected)
    same(augcl.from_pandas(*tables), expected)
    same(load_graphs(written(folder / "parquet", tables, "parquet")), expected)
    (folder / "xml").mkdir()
    for graph in graphs:
        nx.write_graphml(graph, folder / "xml" / f"{graph.graph['name']}.graphml")
    same(load_graphs(folder / "xml"), expected)
    if len(labels) == 2:  # a Data keeps the numbers of its classes
        datas = [as_data(graph, expected.columns, expected.edge_columns) for graph in graphs]
        same(as_graphset(datas), expected, names=False)
    found = expected.edge_attr[:, expected.edge_columns.index("weight")]
    assert set(found.tolist()) <= {0.25, 0.5, 0.75}


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(graphs=little_graphs())
def test_single_graphs_agree(tmp_path_factory, graphs):
    graph = max(graphs, key=len)
    if not graph.number_of_edges():
        return
    for i, node in enumerate(graph):
        graph.nodes[node]["label"] = "ab"[i % 2] if i != 1 else "a"
    folder = tmp_path_factory.mktemp("formats")
    edges, nodes, _ = frames([graph])
    edges, nodes = edges.drop(columns="graph"), nodes.drop(columns="graph")
    expected = load_graph(written(folder / "csv", (edges, nodes), "csv"))
    assert expected.edge_weight is not None
    assert expected.columns[0].startswith("element=")
    same(as_node_graph(graph), expected)
    same(augcl.from_pandas(edges, nodes), expected)
    same(load_graph(written(folder / "parquet", (edges, nodes), "parquet")), expected)
    nx.write_graphml(graph, folder / "one.graphml")
    same(load_graph(folder / "one.graphml"), expected)
    nx.write_gml(nx.relabel_nodes(graph, str), folder / "one.gml")
    assert torch.equal(load_graph(folder / "one.gml").edge_weight, expected.edge_weight)
    same(as_node_graph(expected.to_data()), expected)


def test_tu_files_agree_where_they_can_say_the_same(tmp_path):
    (tmp_path / "T_A.txt").write_text("1,2\n2,3\n4,5\n")
    (tmp_path / "T_graph_indicator.txt").write_text("1\n1\n1\n2\n2\n")
    (tmp_path / "T_graph_labels.txt").write_text("-1\n1\n")
    (tmp_path / "T_node_labels.txt").write_text("0\n1\n0\n1\n1\n")
    (tmp_path / "T_edge_labels.txt").write_text("0\n1\n1\n")
    (tmp_path / "T_edge_attributes.txt").write_text("0.5\n1.5\n2.5\n")
    first, second = nx.Graph(y=-1), nx.Graph(y=1)
    first.add_nodes_from([(1, {"label": "0"}), (2, {"label": "1"}), (3, {"label": "0"})])
    second.add_nodes_from([(4, {"label": "1"}), (5, {"label": "1"})])
    first.add_edge(1, 2, attribute0=0.5, label="0")
    first.add_edge(2, 3, attribute0=1.5, label="1")
    second.add_edge(4, 5, attribute0=2.5, label="1")
    expected = load_graphs(tmp_path)
    assert expected.edge_columns == ["attribute0", "label=0", "label=1"]
    same(as_graphset([first, second]), expected)


MOLECULES = {"BrC1CC1": "Br", "ClC1CC1": "Cl", "FC1CC1": "F", "OC1CC1": "O"}


def ring(element):
    """Return cyclopropane with one substituent, as networkx users build it."""
    graph = nx.Graph([(0, 1), (1, 2), (2, 3), (3, 1)])
    for node in graph:
        atom = element if node == 0 else "C"
        graph.nodes[node].update(element=atom, charge=0, aromatic=False)
    nx.set_edge_attributes(graph, "single", "order")
    return graph


def test_molecules_by_networkx_are_those_by_csv_and_differ(tmp_path):
    graphs = [ring(element) for element in MOLECULES.values()]
    for graph, name in zip(graphs, MOLECULES, strict=True):
        graph.graph.update(name=name, y=0)
    by_csv = load_graphs(written(tmp_path / "csv", frames(graphs)[:2], "csv"))
    by_networkx = as_graphset(graphs)
    elements = [f"element={symbol}" for symbol in ("Br", "C", "Cl", "F", "O")]
    assert by_networkx.columns == [*elements, "charge", "aromatic=False"]
    assert torch.equal(by_csv.x, by_networkx.x)
    model = augcl.GraphCL(epochs=1, width=8, random_state=0, progress=False)
    Z = model.fit(by_networkx).transform(graphs)
    assert np.array_equal(Z, model.fit(by_csv).transform(by_csv))
    assert len(np.unique(Z.round(4), axis=0)) == 4


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_missing_value_is_named_or_flagged_in_every_format(tmp_path, missing):
    graph = nx.Graph([("a", "b")], name="g")
    graph.nodes["a"].update(age=3.0, kind="x")
    graph.nodes["b"].update(age=missing, kind=None)
    nodes = pd.DataFrame({"node": ["a", "b"], "age": [3.0, missing], "kind": ["x", None]})
    edges = pd.DataFrame({"source": ["a"], "target": ["b"]})
    folder = written(tmp_path / "csv", (edges, nodes), "csv")
    ways = {
        r"node 'b': column 'age' is empty": lambda m: as_node_graph(graph, missing=m),
        r"nodes, row 2: column 'age' is empty": lambda m: augcl.from_pandas(
            edges, nodes, missing=m
        ),
        r"nodes.csv, line 3: column 'age' is empty": lambda m: load_graph(
            folder, how=Reading(missing=m)
        ),
    }
    for message, read in ways.items():
        with pytest.raises(augcl.InputError, match=message):
            read("error")
        found = read("zero")
        assert found.columns == ["age", "age missing", "kind=x", "kind missing"]
        assert found.x.tolist() == [[3, 0, 1, 0], [0, 1, 0, 1]]
