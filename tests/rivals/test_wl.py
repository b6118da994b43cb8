"""The Weisfeiler–Lehman kernel is grakel's, to the last bit of single precision."""

from collections import Counter

import networkx as nx
import numpy as np
import pytest
import torch

from augcl import InputError, WLKernel
from augcl.data import GraphSet, as_graphset, node_features
from augcl.data.wl import wl_labels
from grakel_kernels import grakel_graphs, same, weisfeiler_lehman


@pytest.mark.parametrize("height", [1, 2, 5])
def test_without_edge_labels_the_kernel_is_that_of_grakel(mutag, height):
    theirs = weisfeiler_lehman(height).fit_transform(grakel_graphs(mutag))
    same(WLKernel(height=height, edge_labels=False).fit_transform(mutag), theirs)


def test_rows_of_new_graphs_are_those_of_grakel(mutag):
    old, new = mutag.select(range(0, 188, 2)), mutag.select(range(1, 188, 2))
    oracle = weisfeiler_lehman(3)
    oracle.fit(grakel_graphs(old))
    same(
        WLKernel(height=3, edge_labels=False).fit(old).transform(new),
        oracle.transform(grakel_graphs(new)),
    )


def test_without_node_labels_only_the_structure_counts(mutag):
    plain = node_features(mutag, "constant")
    theirs = weisfeiler_lehman(2).fit_transform(grakel_graphs(plain))
    same(WLKernel(height=2, edge_labels=False).fit_transform(plain), theirs)


def test_height_0_compares_the_node_labels(molecules):
    counts = np.stack([data.x.sum(0).numpy() for data in molecules])
    counts /= np.linalg.norm(counts, axis=1, keepdims=True)
    same(WLKernel(height=0).fit_transform(molecules), counts @ counts.T)


def test_graphs_that_are_not_normalised_count_pairs_of_nodes(molecules):
    K = WLKernel(height=0, normalize=False).fit_transform(molecules)
    counts = np.stack([data.x.sum(0).numpy() for data in molecules])
    assert np.array_equal(K, counts @ counts.T)


def test_the_order_of_the_nodes_does_not_count():
    graph = nx.gnp_random_graph(12, 0.3, seed=1)
    order = np.random.default_rng(0).permutation(12)
    other = nx.Graph([(order[u], order[v]) for u, v in graph.edges])
    other.add_nodes_from(range(12))
    assert WLKernel().fit_transform([graph, other])[0, 1] == 1


def test_a_hexagon_is_two_triangles_to_it():
    triangles = nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))
    path = nx.path_graph(6)
    K = WLKernel().fit_transform([nx.cycle_graph(6), triangles, path])
    assert K[0, 1] == 1
    assert K[0, 2] < 1


def test_isolated_nodes_and_a_graph_of_one_node_have_labels(molecules):
    edges = torch.tensor([[0, 1], [1, 2]])
    graphs = GraphSet.from_arrays(
        pairs=edges, graph_of_node=torch.tensor([0, 0, 0, 0, 1]), num_graphs=2
    )
    same(
        WLKernel(height=2).fit_transform(graphs),
        weisfeiler_lehman(2).fit_transform(grakel_graphs(graphs)),
    )
    none, once = wl_labels(graphs, 1)
    assert len(np.unique(none)) == 1
    assert len(np.unique(once)) == 3


def test_whole_numbers_as_labels_are_told_apart():
    graphs = [nx.path_graph(2), nx.path_graph(2)]
    for number, graph in enumerate(graphs):
        nx.set_node_attributes(graph, 6 + number, "label")
    K = WLKernel(height=1).fit_transform(graphs)
    assert np.array_equal(K, np.eye(2))


def test_continuous_features_are_refused_with_the_cure():
    graphs = [nx.path_graph(3), nx.path_graph(2)]
    for graph in graphs:
        nx.set_node_attributes(graph, 0.5, "x")
    with pytest.raises(InputError, match="constant or degree features"):
        WLKernel().fit(graphs)
    assert WLKernel().fit_transform(as_graphset(graphs, features="degree")).shape == (2, 2)


@pytest.mark.parametrize("height", [-1, 2.5])
def test_a_height_that_is_none_is_refused(molecules, height):
    with pytest.raises(InputError, match="height is"):
        WLKernel(height=height).fit(molecules)


def slow_kernel(graphs, height):
    """Counts of colours, by dictionaries of tuples with the labels of edges."""
    every = []
    for data in graphs:
        around = [[] for _ in range(data.num_nodes)]
        ends = zip(*data.edge_index.tolist(), data.edge_attr.tolist(), strict=True)
        for u, v, label in ends:
            around[u].append((tuple(label), v))
        colours = [tuple(row) for row in data.x.tolist()]
        found = Counter((0, colour) for colour in colours)
        for number in range(1, height + 1):
            colours = [
                (own, tuple(sorted(((label, colours[v]) for label, v in near), key=repr)))
                for own, near in zip(colours, around, strict=True)
            ]
            found.update((number, colour) for colour in colours)
        every.append(found)
    K = np.array([[sum(a[c] * b[c] for c in a) for b in every] for a in every], dtype=float)
    length = np.sqrt(K.diagonal())
    return K / length[:, None] / length


@pytest.mark.parametrize("height", [0, 1, 3])
def test_edge_labels_are_part_of_the_colours(molecules, height):
    same(WLKernel(height=height).fit_transform(molecules), slow_kernel(molecules, height))


def test_only_the_bonds_differ():
    pairs, kinds = torch.tensor([[0, 1], [1, 2]]), torch.eye(2)
    graphs = GraphSet.from_arrays(
        pairs=torch.cat([pairs, pairs + 3], 1),
        graph_of_node=torch.tensor([0, 0, 0, 1, 1, 1]),
        num_graphs=2,
        edge_attr=kinds[[0, 0, 0, 1]],
    )
    assert WLKernel(height=1).fit_transform(graphs)[0, 1] < 1
    assert WLKernel(height=1, edge_labels=False).fit_transform(graphs)[0, 1] == 1
    assert WLKernel(height=0).fit_transform(graphs)[0, 1] == 1
