import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data

from augcl.data import NodeGraph, Splits, as_node_graph, statistics
from augcl.data.features import structure_features
from augcl.errors import InputError

PATH = torch.tensor([[0, 1], [1, 2]])


def equal(one, two):
    """Whether two graphs are the same in all that they hold."""
    assert one.x.layout == two.x.layout
    assert torch.equal(one.x.to_dense(), two.x.to_dense())
    assert torch.equal(one.edge_index, two.edge_index)
    assert (one.names, one.name) == (two.names, two.name)
    assert (one.y is None) == (two.y is None)
    assert one.y is None or torch.equal(one.y, two.y)
    assert (one.splits is None) == (two.splits is None)
    if one.splits is not None:
        for part, mask in one.splits.masks().items():
            other = getattr(two.splits, part)
            assert (mask is None and other is None) or torch.equal(mask, other)
    return True


@st.composite
def loose_graphs(draw):
    nodes = draw(st.integers(1, 8))
    node = st.integers(0, nodes - 1)
    return nodes, draw(st.lists(st.tuples(node, node), max_size=20))


@given(loose_graphs())
def test_edges_become_undirected_simple_and_sorted(loose):
    nodes, edges = loose
    pairs = torch.tensor(edges, dtype=torch.long).reshape(-1, 2).t()
    graph = NodeGraph.from_arrays(pairs=pairs, num_nodes=nodes)
    expected = sorted({(u, v) for a, b in edges for u, v in ((a, b), (b, a)) if a != b})
    assert list(map(tuple, graph.edge_index.t().tolist())) == expected
    assert graph.edge_index.is_contiguous()
    assert graph.num_nodes == nodes
    again = as_node_graph(Data(edge_index=pairs, num_nodes=nodes))
    assert torch.equal(again.edge_index, graph.edge_index)


@given(loose_graphs(), st.integers(1, 3), st.randoms())
def test_to_pyg_and_back_is_the_same(loose, count, random):
    nodes, edges = loose
    drawn = torch.tensor([random.getrandbits(1) for _ in range(4 * count * nodes)]).bool()
    train, val, test, stopping = drawn.reshape(4, count, nodes)
    for splits in (None, Splits(train, val, test), Splits(train, val, test, stopping)):
        graph = NodeGraph.from_arrays(
            pairs=torch.tensor(edges, dtype=torch.long).reshape(-1, 2).t(),
            num_nodes=nodes,
            x=torch.arange(3.0 * nodes).reshape(nodes, 3),
            y=torch.arange(nodes) - 1 if nodes > 1 else None,
            splits=splits,
            names=[f"n{i}" for i in range(nodes)],
            name="mine",
        )
        assert equal(as_node_graph(graph.to_data()), graph)


def test_one_test_mask_for_all_splits_is_given_once():
    masks = torch.eye(2, 3, dtype=torch.bool)
    splits = Splits(masks, masks, torch.tensor([[0, 0, 1]]).bool().expand(2, -1))
    graph = NodeGraph.from_arrays(pairs=PATH, num_nodes=3, splits=splits)
    data = graph.to_data()
    assert data.train_mask.shape == (3, 2)
    assert data.test_mask.tolist() == [False, False, True]
    assert equal(as_node_graph(data), graph)


def test_what_is_not_known_is_not_in_the_data():
    data = NodeGraph.from_arrays(pairs=PATH, num_nodes=3).to_data()
    assert set(data.keys()) == {"x", "edge_index", "name", "column_names"}


def test_no_features_are_the_constant_one():
    assert NodeGraph.from_arrays(pairs=PATH, num_nodes=3).x.tolist() == [[1], [1], [1]]
    empty = NodeGraph.from_arrays(pairs=PATH, num_nodes=3, x=torch.empty(3, 0))
    assert empty.x.tolist() == [[1], [1], [1]]


def test_features_from_the_degree():
    graph = NodeGraph.from_arrays(pairs=PATH, num_nodes=4)
    assert structure_features(graph, "auto") is graph
    assert structure_features(graph, "degree").x.argmax(1).tolist() == [1, 2, 1, 0]
    expected = torch.log(torch.tensor([[2.0], [3], [2], [1]]))
    torch.testing.assert_close(structure_features(graph, "log-degree").x, expected)
    assert structure_features(graph, "constant").x.shape == (4, 1)
    with pytest.raises(InputError, match=r"unknown features .* 'attributes'"):
        structure_features(graph, "attributes")


def test_moving_keeps_labels_and_splits_where_they_are():
    graph = NodeGraph.from_arrays(pairs=PATH, num_nodes=3, y=torch.tensor([0, 1, 0]))
    moved = graph.to("meta")
    assert (moved.x.device.type, moved.edge_index.device.type) == ("meta", "meta")
    assert moved.y.device.type == "cpu"


def test_statistics_count_what_is_there():
    graph = NodeGraph.from_arrays(
        pairs=torch.tensor([[0, 1, 4], [1, 0, 4]]),
        num_nodes=5,
        x=torch.eye(5, 2),
        y=torch.tensor([2, -1, 0, 2, -1]),
    )
    assert statistics(graph) == statistics(graph.to_data())
    assert statistics(graph) == {
        "name": "graph",
        "level": "nodes",
        "nodes": 5,
        "edges": 1,
        "classes": 2,
        "class_sizes": [1, 0, 2],
        "unlabelled": 2,
        "features": 2,
        "nonzero_features": 0.2,
        "isolated_nodes": 3,
        "components": 4,
        "splits": 0,
    }


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"num_nodes": 0, "pairs": torch.empty(2, 0).long()}, "the graph has no nodes"),
        ({"num_nodes": 2}, r"points at node 2 \(first at edge 1\), but the 2 nodes are 0 to 1"),
        ({"pairs": torch.tensor([[-1], [0]])}, "a node below 0"),
        ({"pairs": torch.tensor([0, 1])}, r"edge_index has shape \(2,\), not \(2, E\)"),
        ({"x": torch.ones(4, 2)}, "4 rows of node features for 3 nodes"),
        ({"x": torch.ones(3, 2, 2)}, r"node features have shape \(3, 2, 2\)"),
        ({"x": [["red"]] * 3}, "node features must be numbers"),
        ({"x": [[1.0], [float("nan")], [1.0]]}, "NaN or infinity, first at node 1, counted from 0"),
        (
            {"x": [[1.0], [1.0], [1e300]], "names": ["ann", "bob", "cem"]},
            r"NaN or infinity, first at node 2 \('cem'\)",
        ),
        ({"y": torch.tensor([0, 1])}, "y has length 2 for 3 nodes"),
        ({"names": ["ann"]}, "1 node names for 3 nodes"),
    ],
)
def test_what_cannot_be_a_graph_is_told(parts, message):
    with pytest.raises(InputError, match=message) as caught:
        NodeGraph.from_arrays(**({"pairs": PATH, "num_nodes": 3} | parts))
    assert "\n" not in str(caught.value)
