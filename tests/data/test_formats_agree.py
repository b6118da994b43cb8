"""The same graphs are the same GraphSet or NodeGraph, in whatever format they come."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

import augcl
from augcl.data import as_graphset, as_node_graph, load_graph, load_graphs
from augcl.data.features import align_columns
from augcl.data.targets import Reading

ELEMENTS, BONDS = ["Br", "C", "O"], ["double", "single"]
SETTINGS = {"deadline": None, "suppress_health_check": list(HealthCheck)}
TARGETS = {"class": "label", "words": "label", "number": "logP", "several": "t_*"}
"""Kinds of targets, and the column of each."""


@st.composite
def little_graphs(draw):
    """A few graphs with numbers, words, booleans and blanks on nodes and edges."""
    graphs = []
    for number in range(draw(st.integers(1, 4))):
        graph = nx.Graph(name=f"g{number}")
        for node in range(draw(st.integers(1, 4))):
            graph.add_node(
                f"n{node}",
                element=draw(st.sampled_from([*ELEMENTS, None])),
                charge=draw(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0, None])),
                aromatic=draw(st.sampled_from([True, False, None])),
            )
        nodes = list(graph)
        for i, node in enumerate(nodes[1:], 1):
            graph.add_edge(
                nodes[draw(st.integers(0, i - 1))],
                node,
                order=draw(st.sampled_from(BONDS)),
                length=draw(st.sampled_from([0.5, 1.5, None])),
                weight=i / 4,
            )
        graphs.append(graph)
    # A column without any value is a column of no kind: nothing to compare.
    for key in ("element", "charge", "aromatic"):
        assume(any(v is not None for g in graphs for _, v in g.nodes(data=key)))
    assume(any(v is not None for g in graphs for *_, v in g.edges(data="length")))
    return graphs


def drawn_targets(draw, kind, count):
    """Return one dict of targets for each of `count` graphs or nodes."""
    values = {
        "class": st.integers(0, 1),
        "words": st.sampled_from(["acid", "base", None]),
        "number": st.sampled_from([0.5, 1.0, -2.25, None]),
        "several": st.sampled_from([0, 1, None]),
    }[kind]
    names = ["t_a", "t_b"] if kind == "several" else [TARGETS[kind]]
    rows = [{name: draw(values) for name in names} for _ in range(count)]
    for name in names:
        assume(any(row[name] is not None for row in rows))
    if kind == "number":  # whole numbers would be classes
        assume(any(row["logP"] in (0.5, -2.25) for row in rows))
    return rows


def frames(graphs, targets=()):
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
    rows = [{"graph": g.graph["name"]} | row for g, row in zip(graphs, targets, strict=False)]
    return pd.DataFrame(edges), pd.DataFrame(nodes), pd.DataFrame(rows)


def written(folder, tables, ending):
    folder.mkdir(exist_ok=True)
    for name, table in zip(("edges", "nodes", "graphs"), tables, strict=False):
        if ending == "csv":
            table.to_csv(folder / f"{name}.csv", index=False)
        else:
            table.to_parquet(folder / f"{name}.parquet", index=False)
    return folder


def without_blanks(graph):
    """Return a copy without the attributes that are None, which files of networkx cannot hold."""
    copy = graph.copy()
    for values in (copy.graph, *(v for _, v in copy.nodes(data=True))):
        for key in [key for key, value in values.items() if value is None]:
            del values[key]
    for *_, values in copy.edges(data=True):
        for key in [key for key, value in values.items() if value is None]:
            del values[key]
    return copy


def in_order(table, names):
    """Return columns sorted by name: files without blanks name them in the order they occur in."""
    order = sorted(range(len(names)), key=names.__getitem__)
    return table[:, order], [names[i] for i in order]


def same(a, b, *, names=True):
    for key in ("edge_index", "node_ptr", "edge_ptr", "edge_weight"):
        one, other = getattr(a, key, None), getattr(b, key, None)
        assert (one is None) == (other is None), key
        assert one is None or torch.equal(one, other), key
    assert (a.y is None) == (b.y is None)
    if a.y is not None:
        ys = [found.y.double().nan_to_num(-9) for found in (a, b)]
        if ys[0].dim() == 2:
            ys = [in_order(y, found.targets)[0] for y, found in zip(ys, (a, b), strict=True)]
        assert a.y.dtype == b.y.dtype
        assert torch.equal(*ys)
    for values, columns in (("x", "columns"), ("edge_attr", "edge_columns")):
        one = in_order(getattr(a, values), getattr(a, columns))
        other = in_order(getattr(b, values), getattr(b, columns))
        assert one[1] == other[1]
        assert torch.equal(one[0], other[0]), values
    for key in ("names", "classes", "task") if names else ("task",):
        assert getattr(a, key) == getattr(b, key), key
    assert sorted(a.targets or []) == sorted(b.targets or [])


def as_data(graph, edge_columns, **targets):
    """Write a networkx graph as PyG Data: attributes of nodes as lists, of edges as a matrix."""

    def edge(values):
        one_hot = {f"order={kind}": float(values["order"] == kind) for kind in BONDS}
        every = one_hot | {
            k: float("nan" if v is None else v) for k, v in values.items() if v != values["order"]
        }
        return [every[name] for name in edge_columns]

    index = {node: i for i, node in enumerate(graph)}
    ends = [(index[a], index[b]) for a, b in graph.edges()]
    table = [edge(values) for *_, values in graph.edges(data=True)]
    return Data(
        edge_index=torch.tensor(ends, dtype=torch.long).reshape(-1, 2).t(),
        edge_attr=torch.tensor(table).reshape(len(ends), len(edge_columns)),
        edge_column_names=edge_columns,
        num_nodes=len(graph),
        **{key: [v for _, v in graph.nodes(data=key)] for key in ("element", "charge", "aromatic")},
        **targets,
    )


@pytest.mark.parametrize("kind", TARGETS)
@settings(max_examples=8, **SETTINGS)
@given(data=st.data())
def test_sets_of_graphs_agree(tmp_path_factory, kind, data):
    graphs = data.draw(little_graphs())
    targets = drawn_targets(data.draw, kind, len(graphs))
    folder, tables = tmp_path_factory.mktemp("formats"), frames(graphs, targets)
    column = TARGETS[kind] if kind in ("number", "several") else None
    how = Reading(target=column, missing="zero")
    given = {"target": column, "missing": "zero"}

    expected = load_graphs(written(folder / "csv", tables, "csv"), how=how)
    assert expected.task == {"number": "regression", "several": "multilabel"}.get(
        kind, "classification"
    )
    assert {"charge", "length", "weight"} <= {*expected.columns, *expected.edge_columns}
    same(augcl.from_pandas(*tables, **given), expected)
    same(load_graphs(written(folder / "parquet", tables, "parquet"), how=how), expected)
    for graph, row in zip(graphs, targets, strict=True):
        graph.graph |= row
    same(as_graphset(graphs, **given), expected)
    for ending, write in (("graphml", nx.write_graphml), ("gml", nx.write_gml)):
        (folder / ending).mkdir()
        for graph in graphs:
            plain = without_blanks(graph)
            if ending == "gml":  # has no booleans
                spelled = {n: str(v) for n, v in plain.nodes(data="aromatic") if v is not None}
                nx.set_node_attributes(plain, spelled, "aromatic")
            write(plain, folder / ending / f"{graph.graph['name']}.{ending}")
        same(load_graphs(folder / ending, how=how), expected)
    if kind != "class" or {row["label"] for row in targets} == {0, 1}:  # Data keep their numbers
        names = [n for n in expected.edge_columns if not n.endswith(" missing")]
        datas = []
        for graph, row in zip(graphs, targets, strict=True):
            own = {k: float("nan") if v is None and kind != "words" else v for k, v in row.items()}
            own = own if column else {"y": row["label"]}
            datas.append(as_data(graph, names, **own))
        same(as_graphset(datas, **given), expected, names=False)


@pytest.mark.parametrize("kind", TARGETS)
@settings(max_examples=6, **SETTINGS)
@given(data=st.data())
def test_single_graphs_agree(tmp_path_factory, kind, data):
    graphs = data.draw(little_graphs())
    graph = nx.disjoint_union_all(graphs)
    graph = nx.relabel_nodes(graph, {node: f"n{node}" for node in graph})
    targets = drawn_targets(data.draw, kind, len(graph))
    if kind == "words":  # names differ from node to node, classes do not
        assume(len({row["label"] for row in targets}) < len(targets))
    for node, row in zip(graph, targets, strict=True):
        graph.nodes[node].update(row)
    graph.graph["name"] = "one"
    folder, (edges, nodes, _) = tmp_path_factory.mktemp("formats"), frames([graph])
    edges, nodes = edges.drop(columns="graph"), nodes.drop(columns="graph")
    column = TARGETS[kind] if kind in ("number", "several") else None
    how = Reading(target=column, missing="zero")
    given = {"target": column, "missing": "zero"}

    expected = load_graph(written(folder / "csv", (edges, nodes), "csv"), how=how)
    assert expected.edge_weight is not None
    assert not {"t_a", "logP", "label", "weight"} & {*expected.columns, *expected.edge_columns}
    same(augcl.from_pandas(edges, nodes, **given), expected)
    same(load_graph(written(folder / "parquet", (edges, nodes), "parquet"), how=how), expected)
    same(as_node_graph(graph, **given), expected)
    same(as_node_graph(expected.to_data()), expected)
    nx.write_graphml(without_blanks(graph), folder / "one.graphml")
    same(load_graph(folder / "one.graphml", how=how), expected)


@settings(max_examples=15, **SETTINGS)
@given(data=st.data())
def test_tu_files_agree_with_networkx(tmp_path_factory, data):
    """TU files name words by whole numbers, and have no booleans; blanks are written nan."""
    graphs = data.draw(little_graphs())
    graphs = [nx.convert_node_labels_to_integers(graph) for graph in graphs]
    several = data.draw(st.booleans())
    targets = [data.draw(st.sampled_from([0.5, -1.25, 2.0])) for _ in graphs]
    targets[0] = 0.5
    files = {part: [] for part in ("A", "graph_indicator", "node_labels", "node_attributes")}
    files |= {part: [] for part in ("edge_labels", "edge_attributes", "graph_attributes")}
    same_graphs, start = [], 1
    for number, graph in enumerate(graphs, 1):
        twin = nx.Graph(y=targets[number - 1])
        for node, values in graph.nodes(data=True):
            code = ELEMENTS.index(values["element"] or "C")
            twin.add_node(node, kind=str(code), attribute0=values["charge"])
            files["graph_indicator"].append(number)
            files["node_labels"].append(code)
            files["node_attributes"].append(values["charge"])
        for a, b, values in graph.edges(data=True):
            code = BONDS.index(values["order"])
            twin.add_edge(a, b, attribute0=values["length"], label=str(code))
            for ends in [(a, b), (b, a)] if several else [(a, b)]:
                files["A"].append(", ".join(str(start + end) for end in ends))
                files["edge_labels"].append(code)
                files["edge_attributes"].append(values["length"])
        files["graph_attributes"].append(targets[number - 1])
        same_graphs.append(twin)
        start += len(graph)
    folder = tmp_path_factory.mktemp("tu")
    for part, lines in files.items():
        text = "".join(f"{'nan' if line is None else line}\n" for line in lines)
        (folder / f"T_{part}.txt").write_text(text)

    found = load_graphs(folder, features="attributes", how=Reading(missing="zero"))
    expected = as_graphset(same_graphs, missing="zero")
    columns = [name.replace("kind=", "label=") for name in expected.columns]
    there = dict(zip(found.columns, found.x.any(dim=0).tolist(), strict=True))
    labelled = [name for name in found.columns if there[name] or "=" not in name]
    found = align_columns(found, labelled)  # TU sets have a column for labels that do not occur
    assert found.columns == columns
    assert torch.equal(found.x, expected.x)
    assert torch.equal(found.y, expected.y)
    used = [i for i, n in enumerate(found.edge_columns) if n in expected.edge_columns]
    assert [found.edge_columns[i] for i in used] == list(expected.edge_columns)
    assert torch.equal(found.edge_attr[:, used], expected.edge_attr)
    assert torch.equal(found.edge_index, expected.edge_index)


def test_tu_labels_are_words(tmp_path):
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


def test_attributes_of_data_are_features_without_x_and_beside_it_if_asked():
    parts = {"edge_index": torch.tensor([[0], [1]]), "kind": ["a", "b"], "pos": torch.eye(2)}
    graphs = [Data(**parts, weights_of_batch=torch.ones(3)), Data(**parts)]
    names = ["pos0", "pos1", "kind=a", "kind=b"]
    with pytest.warns(UserWarning, match="Data: column weights_of_batch not used: of a Data only"):
        assert as_graphset(graphs).columns == names
    assert as_node_graph(graphs[1]).x.tolist() == [[1, 0, 1, 0], [0, 1, 0, 1]]
    graphs = [Data(**parts, x=torch.full((2,), 7.0))] * 2
    message = "Data: columns pos, kind not used: x has the features"
    bare = Data(x=torch.ones(2, 1), edge_index=parts["edge_index"])
    for convert, own, other in (
        (as_graphset, graphs, [bare]),
        (as_node_graph, graphs[0], bare),
    ):
        with pytest.warns(UserWarning, match=message):
            assert convert(own).columns is None
        both = convert(own, features="attributes")
        assert both.columns == ["x0", *names]
        assert both.x[:2].tolist() == [[7, 1, 0, 1, 0], [7, 0, 1, 0, 1]]
        with pytest.raises(augcl.InputError, match="no attributes of nodes beside x"):
            convert(other, features="attributes")


def test_missing_numbers_of_data_are_named_or_flagged():
    nan = float("nan")
    graph = Data(
        x=torch.tensor([[1.0, 2.0], [3.0, nan]]),
        edge_index=torch.tensor([[0], [1]]),
        edge_attr=torch.tensor([[nan]]),
    )
    for convert, own, place in (
        (as_graphset, [graph, graph], "graph number 1, node 1, counted from 0"),
        (as_node_graph, graph, "node 1, counted from 0"),
    ):
        with pytest.raises(augcl.InputError, match=f"^{place}: column 'x1' is empty or NaN"):
            convert(own)
        found = convert(own, missing="zero")
        assert found.columns == ["x0", "x1", "x1 missing"]
        assert found.x[:2].tolist() == [[1, 2, 0], [3, 0, 1]]
        assert found.edge_columns == ["edge_attr0", "edge_attr0 missing"]
    with pytest.raises(augcl.InputError, match="edge 0, counted from 0: column 'edge_attr0'"):
        as_node_graph(
            Data(x=torch.ones(2, 1), edge_index=graph.edge_index, edge_attr=torch.tensor([nan]))
        )


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
