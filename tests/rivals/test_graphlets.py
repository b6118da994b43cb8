"""Graphlets: what is drawn, what is called the same, and the kernel of grakel."""

import itertools

import networkx as nx
import numpy as np
import pytest
from grakel.kernels import GraphletSampling

from augcl import GraphletKernel, InputError
from augcl.data import as_graphset
from augcl.rivals.graphlets import Draws, Isomorphism, draw_graphlets, neighbouring
from grakel_kernels import grakel_graphs


def every_graphlet(graphs, size):
    """All sets of nodes of the one graph there is."""
    nodes = np.array(list(itertools.combinations(range(graphs.num_nodes), size)))
    count = len(nodes)
    return Draws(np.zeros(count, int), np.full(count, size), nodes, np.zeros(count, np.uint64))


@pytest.mark.parametrize(("size", "kinds"), [(3, 4), (4, 11), (5, 34)])
def test_there_are_as_many_names_as_graphs_of_that_size(size, kinds):
    graph = as_graphset([nx.gnp_random_graph(18, 0.5, seed=3)])
    names = Isomorphism().names(every_graphlet(graph, size), graph)
    assert len(np.unique(names)) == kinds


def test_names_are_those_of_networkx_isomorphism():
    whole = nx.gnp_random_graph(9, 0.4, seed=0)
    graphs = as_graphset([whole])
    draws = every_graphlet(graphs, 4)
    names = Isomorphism().names(draws, graphs)
    parts = [whole.subgraph(nodes) for nodes in draws.nodes[::5].tolist()]
    for (a, one), (b, other) in itertools.combinations(zip(names[::5], parts, strict=True), 2):
        assert (a == b) == nx.is_isomorphic(one, other)


def test_sets_of_nodes_are_drawn_uniformly_and_stay_in_their_graph():
    graphs = as_graphset([nx.path_graph(2), nx.path_graph(5)])
    draws = draw_graphlets(graphs, size=3, samples=20_000, seed=1)
    assert np.array_equal(draws.size, np.repeat([2, 3], 20_000))
    assert np.array_equal(np.unique(draws.nodes[:20_000, :2], axis=0), [[0, 1]])
    sets, counts = np.unique(draws.nodes[20_000:], axis=0, return_counts=True)
    assert sets.tolist() == [list(c) for c in itertools.combinations(range(2, 7), 3)]
    assert np.abs(counts - 2000).max() < 200


def test_neighbours_exchange_one_node():
    graphs = as_graphset([nx.path_graph(3), nx.path_graph(9)])
    draws = draw_graphlets(graphs, size=4, samples=500, seed=1)
    others = neighbouring(draws, graphs, 0)
    shared = [len(set(a) & set(b)) for a, b in zip(draws.nodes, others.nodes, strict=True)]
    assert all(len(set(nodes)) == 4 for nodes in others.nodes[500:])
    assert set(shared[500:]) == {3}
    assert others.nodes[500:].min() == 3
    assert others.nodes[500:].max() == 11
    assert np.array_equal(others.nodes[:500, :3], draws.nodes[:500, :3])  # there is no other node


def test_the_kernel_tends_to_that_of_grakel(mutag):
    few = mutag.select([0, 5, 40])
    oracle = GraphletSampling(normalize=True, sampling={"n_samples": 2000}, random_state=0)
    theirs = oracle.fit_transform(grakel_graphs(few))
    ours = GraphletKernel(n_samples=2000).fit_transform(few)
    np.testing.assert_allclose(ours, theirs, atol=0.06)


def test_graphs_too_small_to_draw_from_are_taken_whole():
    graphs = [nx.path_graph(3), nx.cycle_graph(3), nx.path_graph(3), nx.path_graph(2)]
    K = GraphletKernel(n_samples=3).fit_transform(graphs)
    expected = np.eye(4)
    expected[0, 2] = expected[2, 0] = 1
    assert np.array_equal(K, expected)


def test_what_is_drawn_of_a_graph_depends_on_no_other_graph(molecules):
    model = GraphletKernel(n_samples=10).fit(molecules)
    some = [7, 3]
    assert np.array_equal(model.transform(molecules.select(some)), model.transform(molecules)[some])


def test_seeds_and_recipes_draw_other_graphlets(molecules):
    few = molecules.select(range(8))
    first = GraphletKernel(n_samples=10).fit_transform(few)
    assert np.array_equal(first, GraphletKernel(n_samples=10).fit_transform(few))
    assert not np.array_equal(
        first, GraphletKernel(n_samples=10, random_state=1).fit_transform(few)
    )
    authors = GraphletKernel(recipe="authors").fit(few)
    assert authors.settings()["n_samples"] == 5
    assert np.array_equal(authors.counts_.sum(axis=1), np.full(8, 5))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": 2}, "size is 2"),
        ({"size": 10}, "at most 9"),
        ({"n_samples": 0}, "n_samples is 0"),
        ({"recipe": "author"}, "did you mean authors"),
    ],
)
def test_settings_that_make_no_sense_are_refused(molecules, options, message):
    with pytest.raises(InputError, match=message):
        GraphletKernel(**options).fit(molecules)
