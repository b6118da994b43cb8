import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from augcl.data import load, statistics
from augcl.data.edges import Cleaned, simple_undirected
from augcl.data.graph import GraphSet
from augcl.errors import InputError


@st.composite
def edge_lists(draw, max_nodes=7):
    nodes = draw(st.integers(1, max_nodes))
    node = st.integers(0, nodes - 1)
    return nodes, draw(st.lists(st.tuples(node, node), max_size=20))


@st.composite
def graph_sets(draw):
    parts = draw(st.lists(edge_lists(), min_size=1, max_size=6))
    counts = torch.tensor([nodes for nodes, _ in parts])
    starts = (counts.cumsum(0) - counts).tolist()
    pairs = [(u + s, v + s) for (_, edges), s in zip(parts, starts, strict=True) for u, v in edges]
    return GraphSet.from_arrays(
        pairs=as_pairs(pairs),
        graph_of_node=torch.repeat_interleave(counts),
        num_graphs=len(parts),
        x=torch.arange(float(counts.sum())).unsqueeze(1),
        edge_attr=torch.arange(float(len(pairs))).unsqueeze(1),
        y=torch.arange(len(parts)),
        names=[f"g{i}" for i in range(len(parts))],
    )


def as_pairs(edges):
    return torch.tensor(edges, dtype=torch.long).reshape(-1, 2).t()


@given(edge_lists())
def test_simple_undirected_is_the_sorted_set_of_both_directions(case):
    nodes, edges = case
    slow = sorted({(a, b) for u, v in edges for a, b in ((u, v), (v, u)) if a != b})
    edge_index, _, _ = simple_undirected(as_pairs(edges), nodes)
    assert list(zip(*edge_index.tolist(), strict=True)) == slow


@given(edge_lists())
def test_simple_undirected_keeps_the_first_attribute_of_each_direction(case):
    nodes, edges = case
    first = {}
    for direction in (1, -1):  # an edge as written counts before its mirror image
        for i, pair in enumerate(edges):
            first.setdefault(pair[::direction], float(i))
    edge_index, attr, _ = simple_undirected(
        as_pairs(edges), nodes, torch.arange(float(len(edges))).unsqueeze(1)
    )
    found = dict(zip(zip(*edge_index.tolist(), strict=True), attr[:, 0].tolist(), strict=True))
    assert found == {pair: i for pair, i in first.items() if pair[0] != pair[1]}


@given(edge_lists())
def test_simple_undirected_changes_nothing_the_second_time(case):
    nodes, edges = case
    once, _, _ = simple_undirected(as_pairs(edges), nodes)
    twice, _, _ = simple_undirected(once, nodes)
    assert torch.equal(once, twice)


@given(edge_lists(), st.booleans())
def test_what_was_wrong_with_the_edges_is_counted(case, attributes):
    nodes, edges = case
    attr = torch.zeros(len(edges), 1) if attributes else None
    given_once = {(u, v) for u, v in edges if u != v}
    loops = sum(u == v for u, v in edges)
    assert simple_undirected(as_pairs(edges), nodes, attr)[2] == Cleaned(
        edges=len({frozenset(pair) for pair in given_once}),
        loops=loops,
        duplicates=len(edges) - loops - len(given_once),
        one_way=sum((v, u) not in given_once for u, v in given_once),
    )


@given(graph_sets(), st.data())
def test_select_equals_taking_the_graphs_one_by_one(graphs, data):
    ids = data.draw(st.lists(st.integers(0, len(graphs) - 1), min_size=1, max_size=8))
    batch = graphs.select(ids)
    assert len(batch) == len(ids)
    assert batch.names == [f"g{i}" for i in ids]
    for place, i in enumerate(ids):
        one = slice(*batch.node_ptr[place : place + 2].tolist())
        old = slice(*graphs.node_ptr[i : i + 2].tolist())
        edges = slice(*batch.edge_ptr[place : place + 2].tolist())
        old_edges = slice(*graphs.edge_ptr[i : i + 2].tolist())
        assert torch.equal(batch.x[one], graphs.x[old])
        assert torch.equal(
            batch.edge_index[:, edges] - one.start, graphs.edge_index[:, old_edges] - old.start
        )
        assert torch.equal(batch.edge_attr[edges], graphs.edge_attr[old_edges])
        assert batch.y[place] == i


@given(graph_sets())
def test_pointers_agree_with_the_nodes_and_edges(graphs):
    assert torch.equal(graphs.node_ptr.diff(), torch.bincount(graphs.graph_of_node))
    edge_graph = graphs.graph_of_node[graphs.edge_index[0]]
    assert torch.equal(graphs.edge_ptr.diff(), torch.bincount(edge_graph, minlength=len(graphs)))
    assert torch.equal(edge_graph, graphs.graph_of_node[graphs.edge_index[1]])


def test_an_edge_between_two_graphs_is_refused():
    with pytest.raises(InputError, match="edge connects graph number 1 with another"):
        GraphSet.from_arrays(
            pairs=torch.tensor([[0], [1]]), graph_of_node=torch.tensor([0, 1]), num_graphs=2
        )


def test_a_graph_without_nodes_is_refused_by_number():
    with pytest.raises(InputError, match="graph number 2 has no nodes"):
        GraphSet.from_arrays(
            pairs=torch.empty(2, 0).long(), graph_of_node=torch.tensor([0, 2]), num_graphs=3
        )


def test_indexing_gives_pyg_data_and_ends():
    graphs = GraphSet.from_arrays(
        pairs=torch.tensor([[0, 2], [1, 3]]),
        graph_of_node=torch.tensor([0, 0, 1, 1]),
        num_graphs=2,
        y=torch.tensor([1, 0]),
    )
    assert [data.edge_index.tolist() for data in graphs] == [[[0, 1], [1, 0]]] * 2
    assert graphs[-1].y.tolist() == [0]
    with pytest.raises(IndexError, match="graph 2 of 2"):
        graphs[2]
    assert graphs.select(np.array([1])).num_nodes == 2


def test_select_counts_from_the_end_as_lists_do():
    graphs = load("MUTAG")
    for number in (-1, -2, -188):
        found, expected = graphs.select([number]), graphs.select([188 + number])
        assert torch.equal(found.x, expected.x)
        assert torch.equal(found.edge_index, expected.edge_index)


@pytest.mark.parametrize(
    ("index", "ids"),
    [
        (slice(3), [0, 1, 2]),
        (slice(None, None, -60), [187, 127, 67, 7]),
        (slice(500, 600), []),
        ([5, -1, 5], [5, 187, 5]),
        ([], []),
        (range(2, 4), [2, 3]),
        (np.array([4, 2, 0], dtype=np.int32)[::-1], [0, 2, 4]),
        (torch.tensor([7]), [7]),
        (np.arange(188) % 100 == 9, [9, 109]),
        (torch.arange(188) % 100 == 9, [9, 109]),
        ([i == 3 for i in range(188)], [3]),
    ],
    ids=str,
)
def test_an_index_of_several_graphs_gives_a_set_of_them(index, ids):
    graphs = load("MUTAG")
    found = graphs[index]
    assert isinstance(found, GraphSet)
    assert len(found) == len(ids)
    assert torch.equal(found.y, graphs.y[ids])
    sizes = [graphs[i].num_nodes for i in ids]
    assert found.node_ptr.diff().tolist() == sizes


@pytest.mark.parametrize("index", [3, np.int64(3), torch.tensor(3), np.array(3), -185], ids=str)
def test_an_index_of_one_graph_gives_a_pyg_data(index):
    assert load("MUTAG")[index].num_nodes == load("MUTAG").node_ptr.diff()[3]


@pytest.mark.parametrize(
    ("index", "reason"),
    [
        (np.ones(187, dtype=bool), "the mask has 187 entries, the set 188 graphs"),
        (torch.ones(189, dtype=torch.bool), "the mask has 189 entries, the set 188 graphs"),
        ([0.5, 1.0], "whole numbers or by a mask"),
        (np.zeros((2, 2), dtype=int), "one dimension"),
        ([0, 188], "188"),
        (188, "graph 188 of 188"),
    ],
    ids=str,
)
def test_an_index_that_cannot_be_is_refused(index, reason):
    with pytest.raises(IndexError, match=reason):
        load("MUTAG")[index]


def test_classes_are_counted_however_they_are_numbered():
    nodes = torch.arange(3)
    graphs = GraphSet.from_arrays(
        pairs=torch.empty(2, 0).long(),
        graph_of_node=nodes,
        num_graphs=3,
        y=torch.tensor([7, 10**6, 7]),
    )
    found = statistics(graphs)
    assert (found["classes"], found["class_sizes"]) == (2, [2, 1])


def test_select_takes_a_mask():
    graphs = load("MUTAG")
    chosen = graphs.select(graphs.y == 1)
    assert len(chosen) == int((graphs.y == 1).sum())
    assert bool((chosen.y == 1).all())


def test_edges_are_the_same_whether_copied_by_graph_or_by_number(monkeypatch):
    graphs = load("MUTAG")
    ids = [5, 0, 5, 187]
    by_number = graphs.select(ids).edge_index
    monkeypatch.setattr("augcl.data.graph.MANY_EDGES", 1)
    assert torch.equal(graphs.select(ids).edge_index, by_number)
