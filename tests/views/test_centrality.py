import networkx as nx
import pytest
import torch

from augcl.data import NodeGraph
from augcl.ops.csr import Adjacency
from augcl.views.nodes import NodeViews, degree, eigenvector, lazy_walk, pagerank

CENTRALITY = {"degree": degree, "pagerank": pagerank, "eigenvector": eigenvector}


def adjacency(graph):
    pairs = torch.tensor(list(graph.edges())).t()
    both = torch.cat([pairs, pairs.flip(0)], dim=1)
    return Adjacency.from_edges(both, len(graph))


KARATE = nx.karate_club_graph()
CONNECTED = [
    KARATE,
    nx.star_graph(6),  # bipartite: the adjacency alone has two leading eigenvalues
    nx.cycle_graph(5),
    nx.lollipop_graph(5, 4),
    nx.path_graph(3),
]


def of_networkx(name, graph):
    if name == "degree":
        return dict(graph.degree())
    if name == "pagerank":
        shares = nx.pagerank(graph, weight=None, tol=1e-10, max_iter=1000)
        return {node: len(graph) * share for node, share in shares.items()}
    return nx.eigenvector_centrality_numpy(graph)


@pytest.mark.parametrize("graph", CONNECTED, ids=len)
@pytest.mark.parametrize("name", CENTRALITY)
def test_they_are_those_of_networkx(name, graph):
    theirs = of_networkx(name, graph)
    expected = torch.tensor([float(theirs[n]) for n in range(len(graph))])
    assert torch.allclose(CENTRALITY[name](adjacency(graph)), expected, atol=2e-4)


@pytest.mark.parametrize("name", CENTRALITY)
def test_a_graph_without_edges_has_finite_centralities(name):
    found = CENTRALITY[name](Adjacency.from_edges(torch.empty(2, 0, dtype=torch.long), 4))
    assert found.isfinite().all()
    assert len(found.unique()) == 1


def test_the_walk_without_restart_tends_to_the_degree():
    edges = adjacency(KARATE)
    assert torch.allclose(lazy_walk(edges), degree(edges) / degree(edges).mean(), atol=1e-4)


def test_an_eigenvector_of_a_graph_in_pieces_lives_on_the_densest():
    pieces = nx.disjoint_union(nx.complete_graph(6), nx.path_graph(4))
    pieces.add_node(10)
    found = eigenvector(adjacency(pieces))
    assert torch.allclose(found[:6], torch.full((6,), 6**-0.5), atol=1e-4)
    assert found[6:].abs().max() < 1e-3


def test_an_isolated_node_fades_without_restart_and_stays_with_it():
    pieces = nx.path_graph(3)
    pieces.add_node(3)
    assert lazy_walk(adjacency(pieces), 10)[3] == pytest.approx(0.15**10)
    assert pagerank(adjacency(pieces))[3] > 0.1


@pytest.mark.parametrize("name", [*CENTRALITY, "walk"])
def test_weighted_ones_are_those_of_networkx(name):
    graph = nx.convert_node_labels_to_integers(nx.les_miserables_graph())
    pairs, weight = zip(*(((u, v), w / 7) for u, v, w in graph.edges(data="weight")), strict=True)
    whole = NodeGraph.from_arrays(
        pairs=torch.tensor(pairs).t().contiguous(),
        num_nodes=len(graph),
        edge_weight=torch.tensor(weight),
    )
    edges = NodeViews(whole).clean.edges
    strength = dict(graph.degree(weight="weight"))
    if name == "degree":
        theirs = {node: of_node / 7 for node, of_node in strength.items()}
    elif name == "pagerank":
        shares = nx.pagerank(graph, tol=1e-10, max_iter=1000)
        theirs = {node: len(graph) * share for node, share in shares.items()}
    elif name == "walk":  # tends to the strength over its mean
        mean = sum(strength.values()) / len(graph)
        theirs = {node: of_node / mean for node, of_node in strength.items()}
    else:
        theirs = nx.eigenvector_centrality_numpy(graph, weight="weight")
    expected = torch.tensor([float(theirs[n]) for n in range(len(graph))])
    found = (CENTRALITY | {"walk": lambda e: lazy_walk(e, 2000)})[name](edges)
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-3)
