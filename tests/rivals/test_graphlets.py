"""Graphlets: what is drawn, what is called the same, and the kernel of grakel."""

import itertools

import networkx as nx
import numpy as np
import pytest
from sklearn.utils import check_random_state

from augcl import GraphletKernel, InputError
from augcl.data import as_graphset
from augcl.ops.hashing import combined
from augcl.rivals.graphlets import (
    Draws,
    canonical_bits,
    draw_graphlets,
    graph_hashes,
    neighbouring,
    shape_names,
)
from grakel_kernels import grakel


def every_graphlet(graphs, size):
    """All sets of nodes of the one graph there is."""
    nodes = np.array(list(itertools.combinations(range(graphs.num_nodes), size)))
    count = len(nodes)
    return Draws(np.zeros(count, int), np.full(count, size), nodes, np.zeros(count, np.uint64))


@pytest.mark.parametrize(("size", "kinds"), [(3, 4), (4, 11), (5, 34)])
def test_there_are_as_many_names_as_graphs_of_that_size(size, kinds):
    graph = as_graphset([nx.gnp_random_graph(18, 0.5, seed=3)])
    names = shape_names(every_graphlet(graph, size), graph)
    assert len(np.unique(names)) == kinds


def test_names_are_those_of_networkx_isomorphism():
    whole = nx.gnp_random_graph(9, 0.4, seed=0)
    graphs = as_graphset([whole])
    draws = every_graphlet(graphs, 4)
    names = shape_names(draws, graphs)
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


def matrices(codes, size):
    """The adjacency matrix that each code stands for, a bit per pair of nodes."""
    u, v = np.triu_indices(size, 1)
    adjacent = np.zeros((len(codes), size, size), dtype=bool)
    adjacent[:, u, v] = adjacent[:, v, u] = codes[:, None] >> np.arange(len(u)) & 1
    return adjacent


def smallest_codes(adjacent):
    """The smallest code over all orders of the nodes: slow, and surely the same for isomorphs."""
    size = adjacent.shape[1]
    u, v = np.triu_indices(size, 1)
    best = np.full(len(adjacent), 1 << 40)
    for order in itertools.permutations(range(size)):
        bits = adjacent[:, order][:, :, order][:, u, v]
        best = np.minimum(best, bits @ (1 << np.arange(len(u))))
    return best


@pytest.mark.parametrize(("size", "shapes"), [(2, 2), (3, 4), (4, 11), (5, 34), (6, 156)])
def test_every_adjacency_pattern_has_the_name_of_its_shape(size, shapes):
    adjacent = matrices(np.arange(1 << size * (size - 1) // 2), size)
    ours, slow = canonical_bits(adjacent), smallest_codes(adjacent)
    assert len(np.unique(ours)) == len(np.unique(slow)) == shapes
    assert len(np.unique(np.stack([ours, slow]), axis=1).T) == shapes  # one name, one shape


REGULAR = [
    nx.complete_graph(9),
    nx.empty_graph(9),
    nx.cycle_graph(9),
    nx.disjoint_union(nx.cycle_graph(4), nx.cycle_graph(5)),
    nx.disjoint_union_all([nx.cycle_graph(3)] * 3),
    nx.paley_graph(9),
    nx.disjoint_union(nx.path_graph(1), nx.cubical_graph()),
    nx.disjoint_union(nx.path_graph(1), nx.complete_bipartite_graph(4, 4)),
    nx.disjoint_union(nx.path_graph(1), nx.circulant_graph(8, [1, 4])),
]


def test_large_graphs_whose_nodes_look_alike_have_names_of_their_own():
    random = np.random.default_rng(0)
    whole = [nx.to_numpy_array(g) for g in [*REGULAR, *(nx.complement(g) for g in REGULAR[2:6])]]
    whole = whole[:-1]  # the graph of Paley is its own complement
    rows = np.stack([a[p][:, p] for a in whole for p in (random.permutation(9) for _ in range(9))])
    names = canonical_bits(rows.astype(bool)).reshape(len(whole), 9)
    assert (names == names[:, :1]).all()
    assert len(np.unique(names[:, 0])) == len(whole)


@pytest.mark.parametrize("size", [3, 5, 9])
def test_the_kernel_draws_and_names_as_grakel_does(mutag, size):
    sampling = grakel("grakel.kernels.graphlet_sampling")
    few = mutag.select([0, 5, 40])
    model = GraphletKernel(size=size, n_samples=200).fit(few)
    bins, counts = [], np.zeros((3, 1000))
    hashes = combined(np.array([model.seed_]), graph_hashes(few)) >> np.uint64(32)
    for row, (graph, seed) in enumerate(zip(few, hashes.tolist(), strict=True)):
        matrix = np.zeros((graph.num_nodes, graph.num_nodes), dtype=int)
        matrix[tuple(graph.edge_index)] = 1
        state = check_random_state(seed)
        for drawn in sampling.sample_graphlets_probabilistic(matrix, size, 200, state):
            same = [i for i, other in enumerate(bins) if other.isomorphic(drawn)]
            if not same:
                same = [len(bins)]
                bins.append(drawn)
            counts[row, same[0]] += 1
    lengths = np.linalg.norm(counts, axis=1)
    theirs = counts @ counts.T / np.outer(lengths, lengths)
    np.testing.assert_allclose(model.transform(few), theirs, rtol=1e-6)
    assert len(model.vocabulary_) == len(bins)


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


def test_a_graph_with_one_node_more_than_the_graphlet_gives_all_sets_and_exchanges():
    graphs = as_graphset([nx.path_graph(3), nx.path_graph(5), nx.path_graph(4)])
    draws = draw_graphlets(graphs, size=4, samples=200, seed=0)
    start = graphs.node_ptr[1].item()
    second = draws.nodes[draws.graph == 1] - start
    found = {tuple(sorted(row)) for row in second.tolist()}
    assert found == set(itertools.combinations(range(5), 4))
    other = neighbouring(draws, graphs, 0)
    for graph, left_out in ((0, 0), (1, 1), (2, 0)):  # only the second has a node to exchange
        rows = draws.graph == graph
        size = draws.size[rows][0]
        for one, two in zip(draws.nodes[rows], other.nodes[rows], strict=True):
            assert len(set(two[:size].tolist())) == size
            assert len(set(one[:size].tolist()) - set(two[:size].tolist())) == left_out


def test_the_kernel_is_the_cosine_of_counts_of_shapes():
    whole = [nx.gnp_random_graph(8, 0.4, seed=s) for s in range(3)] + [nx.path_graph(3)]
    graphs = as_graphset(whole)
    model = GraphletKernel(size=5, n_samples=40).fit(graphs)
    draws, starts = model._draws(graphs), [0, 8, 16, 24]
    shapes, counts = [], np.zeros((4, 200))
    for graph, size, nodes in zip(draws.graph, draws.size, draws.nodes, strict=True):
        own = [int(node) - starts[graph] for node in nodes[:size]]
        assert len(set(own)) == size
        part = whole[graph].subgraph(own)
        same = [i for i, other in enumerate(shapes) if nx.is_isomorphic(part, other)]
        if not same:
            same = [len(shapes)]
            shapes.append(part)
        counts[graph, same[0]] += 1
    assert (counts.sum(axis=1) == 40).all()
    for normalize in (True, False):
        lengths = np.linalg.norm(counts, axis=1) if normalize else np.ones(4)
        found = GraphletKernel(size=5, n_samples=40, normalize=normalize).fit_transform(graphs)
        expected = counts @ counts.T / np.outer(lengths, lengths)
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_the_kernel_draws_sizes_and_nodes_uniformly():
    graphs = as_graphset([nx.path_graph(6), nx.path_graph(4)])
    model = GraphletKernel(size=5, n_samples=6000).fit(graphs)
    draws = model._draws(graphs)
    for graph, sizes, start, nodes in ((0, (3, 4, 5), 0, 6), (1, (3, 4), 6, 4)):
        rows = draws.graph == graph
        found, counts = np.unique(draws.size[rows], return_counts=True)
        assert tuple(found) == sizes
        assert np.abs(counts - 6000 / len(sizes)).max() < 250
        used = np.arange(5) < draws.size[rows][:, None]
        chosen = np.bincount(draws.nodes[rows][used] - start, minlength=nodes)
        assert len(chosen) == nodes
        assert np.abs(chosen - chosen.mean()).max() < 0.05 * chosen.mean()
