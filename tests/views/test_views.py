"""Every view of a random batch, checked graph by graph against what it promises."""

import collections

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import references
from augcl.errors import InputError
from augcl.views import AttributeMask, EdgePerturb, Identity, NodeDrop, OneOf, Subgraph, named_view
from references import NamedGraphs

MODES = [
    "identity",
    "node-drop",
    "edge-perturb",
    "subgraph",
    "attribute-mask",
    "random2",
    "random3",
    "random4",
]
SEEDS = st.integers(0, 10**6)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@st.composite
def batches(draw, max_nodes=32):
    sizes = draw(st.lists(st.integers(1, max_nodes), min_size=1, max_size=5))
    graphs = references.random_graphs(sizes, draw(st.sampled_from([0.0, 0.1, 0.3, 1.0])), 0)
    return NamedGraphs(graphs)


def check(view, batch, seed, claim):
    """Make a view of the batch and hand `claim` each graph with its view's nodes and edges."""
    result = view(batch.graphs, generator(seed))
    assert len(result) == len(batch.graphs)
    for g in range(len(result)):
        claim(g, *NamedGraphs.of_view(result, g))


@settings(max_examples=40, deadline=None)
@given(batches(), SEEDS, st.sampled_from([0.1, 0.35, 1.0]))
def test_node_drop_is_an_induced_subgraph_without_a_tenth_of_the_nodes(batch, seed, ratio):
    def claim(g, nodes, edges):
        n = len(batch.nodes(g))
        assert len(nodes) == max(1, n - int(ratio * n))
        assert set(nodes) <= set(batch.nodes(g))
        assert edges == batch.induced(g, nodes)

    check(NodeDrop(ratio), batch, seed, claim)


@settings(max_examples=40, deadline=None)
@given(batches(), SEEDS, st.booleans())
def test_edge_perturb_replaces_a_tenth_of_the_entries_within_the_graph(batch, seed, add):
    def claim(g, nodes, edges):
        before = batch.edges(g)
        changed = len(before) // 10
        assert nodes == batch.nodes(g)
        assert len(edges) == len(before) - (0 if add else changed)
        stayed = collections.Counter(edges) & collections.Counter(before)
        assert stayed.total() >= len(before) - changed
        assert all(u in nodes and v in nodes for u, v in edges)

    check(EdgePerturb(add=add), batch, seed, claim)


def test_edge_perturb_adds_pairs_that_were_no_edges():
    batch = NamedGraphs(references.random_graphs([60, 40], 0.1, 0))
    view = EdgePerturb()(batch.graphs, generator())
    for g in range(2):
        _, edges = NamedGraphs.of_view(view, g)
        new = set(edges) - set(batch.edges(g))
        assert 0.5 < len(new) / (len(batch.edges(g)) // 10) <= 1


@settings(max_examples=40, deadline=None)
@given(batches(), SEEDS)
def test_star_is_one_node_and_some_of_its_neighbours(batch, seed):
    def claim(g, nodes, edges):
        assert 1 <= len(nodes) <= int(0.2 * len(batch.nodes(g))) + 1
        assert any(set(nodes) - {v} <= batch.neighbours(v) for v in nodes)
        loops = [(v, v) for v in nodes]
        assert sorted(edges) == sorted(batch.induced(g, nodes) + loops)

    check(Subgraph(), batch, seed, claim)


@settings(max_examples=40, deadline=None)
@given(batches(), SEEDS)
def test_walk_subgraph_is_connected_and_not_too_large(batch, seed):
    def claim(g, nodes, edges):
        assert 1 <= len(nodes) <= int(0.2 * len(batch.nodes(g))) + 1
        assert references.is_connected(nodes, edges)
        assert edges == batch.induced(g, nodes)

    check(Subgraph(growth="walk", self_loops=False), batch, seed, claim)


def test_walk_goes_farther_than_one_hop():
    path = torch.tensor([list(range(49)), list(range(1, 50))])
    graphs = references.GraphSet.from_arrays(
        pairs=path, graph_of_node=torch.zeros(50, dtype=torch.long), num_graphs=1
    )
    walks = [Subgraph(growth="walk")(graphs, generator(seed)).num_nodes for seed in range(20)]
    stars = [Subgraph()(graphs, generator(seed)).num_nodes for seed in range(20)]
    assert max(stars) == 3
    assert max(walks) > 5


@settings(max_examples=40, deadline=None)
@given(batches(), SEEDS)
def test_attribute_mask_zeroes_a_tenth_of_the_features(batch, seed):
    view = AttributeMask()(batch.graphs, generator(seed))
    assert view.edge_index.equal(batch.graphs.edge_index)
    for g in range(len(view)):
        before = batch.graphs.x[batch.nodes(g), 0].tolist()
        after = view.x[batch.nodes(g), 0].tolist()
        assert after.count(0.0) == len(before) // 10
        assert all(a in (b, 0.0) for a, b in zip(after, before, strict=True))


def test_attribute_mask_can_fill_with_the_mean_of_the_graph():
    batch = NamedGraphs(references.random_graphs([30, 20], 0.1, 0))
    view = AttributeMask(fill="mean")(batch.graphs, generator())
    for g, count in enumerate((3, 2)):
        before = batch.graphs.x[batch.nodes(g), 0]
        after = view.x[batch.nodes(g), 0]
        changed = after[after != before]
        # the mean may be some node's own number, which then does not change
        assert count - 1 <= len(changed) <= count
        assert changed.allclose(before.mean())


def test_attribute_mask_can_fill_with_noise():
    graphs = references.random_graphs([1000], 0.0, 0)
    view = AttributeMask(ratio=0.9, fill="noise")(graphs, generator())
    noise = view.x[(view.x != graphs.x).all(1)]
    assert len(noise) == 900
    assert noise.mean().item() == pytest.approx(0.5, abs=0.05)
    assert noise.std().item() == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("mode", MODES)
def test_a_view_keeps_its_graphs_in_order_and_leaves_the_batch_alone(mode):
    graphs = references.random_graphs([1, 25, 9, 40, 2], 0.2, 0)
    before = {k: v.clone() for k, v in vars(graphs).items() if isinstance(v, torch.Tensor)}
    for seed in range(10):
        view = named_view(mode)(graphs, generator(seed))
        assert len(view) == len(graphs)
        source, target = view.edge_index
        assert (source.diff() >= 0).all()
        graph_of_edge = torch.repeat_interleave(view.edge_ptr.diff())
        assert view.graph_of_node[source].equal(graph_of_edge)
        assert view.graph_of_node[target].equal(graph_of_edge)
        assert int(view.node_ptr[-1]) == view.num_nodes == len(view.graph_of_node)
        assert int(view.edge_ptr[-1]) == view.num_edges
    assert all(getattr(graphs, name).equal(value) for name, value in before.items())


@pytest.mark.parametrize("mode", MODES)
def test_a_view_that_calls_itself_symmetric_is(mode):
    graphs = references.random_graphs([30, 25, 12], 0.2, 0)
    for seed in range(10):
        view = named_view(mode)(graphs, generator(seed))
        entries = collections.Counter(map(tuple, view.edge_index.t().tolist()))
        mirrored = collections.Counter((v, u) for u, v in entries.elements())
        assert not view.symmetric or entries == mirrored


@pytest.mark.parametrize("mode", ["node-drop", "attribute-mask"])
@settings(max_examples=20, deadline=None)
@given(batches(max_nodes=9), SEEDS)
def test_graphs_below_ten_nodes_are_not_touched(mode, batch, seed):
    view = named_view(mode)(batch.graphs, generator(seed))
    assert view.x.equal(batch.graphs.x)
    assert view.edge_index.equal(batch.graphs.edge_index)
    assert view.node_ptr.equal(batch.graphs.node_ptr)


def test_graphs_below_ten_edge_entries_are_not_perturbed():
    graphs = references.random_graphs([4, 4], 0.5, 0)
    assert EdgePerturb()(graphs, generator()).edge_index.equal(graphs.edge_index)


@pytest.mark.parametrize("mode", MODES)
def test_same_seed_same_view(mode):
    graphs = references.random_graphs([30, 25, 12], 0.2, 0)
    one, again, other = (named_view(mode)(graphs, generator(seed)) for seed in (0, 0, 1))
    assert one.x.equal(again.x)
    assert one.edge_index.equal(again.edge_index)
    if mode != "identity":
        same = one.x.equal(other.x) and one.edge_index.equal(other.edge_index)
        assert not same


def kind_of_view(batch, g, nodes, edges, masked):
    """Which of the four views this is, told from its look."""
    if masked:
        return "mask"
    if (nodes[0], nodes[0]) in edges and len(nodes) <= len(batch.nodes(g)) // 5 + 1:
        return "subgraph"
    return "drop" if len(nodes) < len(batch.nodes(g)) else "edges"


@pytest.mark.parametrize(
    ("mode", "kinds"),
    [
        ("random2", {"drop", "subgraph"}),
        ("random3", {"drop", "subgraph", "edges"}),
        ("random4", {"drop", "subgraph", "edges", "mask"}),
    ],
)
def test_random_modes_use_one_of_their_views_per_graph_equally_often(mode, kinds):
    count = 800
    batch = NamedGraphs(references.random_graphs([20] * count, 0.3, 0))
    view = named_view(mode)(batch.graphs, generator())
    seen = collections.Counter()
    for g in range(count):
        first, last = view.node_ptr[g : g + 2].tolist()
        masked = bool((view.x[first:last] == 0).any())
        nodes, edges = NamedGraphs.of_view(view, g)
        kind = kind_of_view(batch, g, nodes, edges, masked)
        if kind == "drop":
            assert len(nodes) == 18
            assert edges == batch.induced(g, nodes)
        if kind == "mask":
            assert view.edge_ptr.diff()[g] == len(batch.edges(g))
        seen[kind] += 1
    assert set(seen) == kinds
    expected = count / len(kinds)
    assert sum((n - expected) ** 2 / expected for n in seen.values()) < 20


def test_one_of_changes_no_graph_that_drew_the_identity():
    batch = NamedGraphs(references.random_graphs([20] * 200, 0.2, 0))
    view = OneOf(Identity(), NodeDrop(0.5), AttributeMask(0.5, fill="noise"))
    result = view(batch.graphs, generator())
    untouched = 0
    for g in range(200):
        first, last = result.node_ptr[g : g + 2].tolist()
        if result.x[first:last].equal(batch.graphs.x[batch.nodes(g)]):
            assert NamedGraphs.of_view(result, g)[1] == batch.edges(g)
            untouched += 1
    assert 45 < untouched < 90


def test_one_of_inside_one_of_keeps_the_frequencies():
    batch = references.random_graphs([20] * 400, 0.2, 0)
    view = OneOf(Identity(), OneOf(Identity(), NodeDrop(0.5)))
    dropped = (view(batch, generator()).node_ptr.diff() == 10).sum().item()
    assert 70 < dropped < 130


def test_a_view_of_a_view_works():
    graphs = references.random_graphs([30, 12], 0.3, 0)
    once = named_view("edge-perturb")(graphs, generator())
    twice = named_view("subgraph")(once, generator())
    assert not twice.symmetric
    assert len(twice) == 2


def test_wrong_names_are_told_with_the_choices():
    graphs = references.random_graphs([3], 0.5, 0)
    with pytest.raises(InputError, match="did you mean random2"):
        named_view("random22")
    with pytest.raises(InputError, match="star, walk"):
        named_view("subgraph", growth="tree")(graphs, generator())
    with pytest.raises(InputError, match="zero, mean, noise"):
        AttributeMask(fill="ones")(graphs, generator())
    for ratio in (-0.1, 1.5, float("nan")):
        with pytest.raises(InputError, match=r"ratio of a view is .* between 0 and 1"):
            NodeDrop(ratio)(graphs, generator())


@pytest.mark.parametrize("add", [True, False])
def test_a_view_that_removes_one_direction_of_edges_does_not_call_itself_symmetric(add):
    graphs = references.random_graphs([30, 25, 12], 0.2, 0)
    assert graphs.symmetric
    view = EdgePerturb(ratio=0.3, add=add)(graphs, generator())
    entries = collections.Counter(map(tuple, view.edge_index.t().tolist()))
    assert entries != collections.Counter((v, u) for u, v in entries.elements())
    assert not view.symmetric


def test_graphs_with_one_direction_of_edges_stay_so_in_every_view():
    graphs = references.random_graphs([30, 25, 12], 0.2, 0)
    directed = EdgePerturb(ratio=0.3, add=False)(graphs, generator())
    for mode in MODES:
        assert not named_view(mode)(directed, generator(1)).symmetric
