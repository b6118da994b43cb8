"""Components and bridges of many graphs at once are networkx's of each."""

import networkx as nx
import pytest
import torch

from augcl.ops.components import bridges, component_of_node
from references import random_graphs


def as_networkx(graphs):
    graph = nx.Graph()
    graph.add_nodes_from(range(graphs.num_nodes))
    graph.add_edges_from(graphs.edge_index.t().tolist())
    return graph


@pytest.mark.parametrize("density", [0.0, 0.08, 0.2, 0.6])
def test_components_are_those_of_networkx(density):
    graphs = random_graphs([7, 1, 12, 9, 20], density, seed=1)
    component = component_of_node(graphs.edge_index, graphs.num_nodes)
    expected = {frozenset(c) for c in nx.connected_components(as_networkx(graphs))}
    found = {}
    for node, number in enumerate(component.tolist()):
        found.setdefault(number, set()).add(node)
    assert {frozenset(c) for c in found.values()} == expected


def test_the_order_of_the_edges_does_not_matter():
    graphs = random_graphs([12, 9], 0.15, seed=2)
    shuffled = graphs.edge_index[:, torch.randperm(graphs.num_edges)]
    ordered = component_of_node(graphs.edge_index, graphs.num_nodes)
    assert torch.equal(component_of_node(shuffled, graphs.num_nodes), ordered)


@pytest.mark.parametrize("density", [0.0, 0.08, 0.15, 0.3, 1.0])
def test_bridges_are_those_of_networkx(density):
    graphs = random_graphs([5, 30, 14, 1, 22], density, seed=3)
    edges = graphs.edge_index[:, graphs.edge_index[0] < graphs.edge_index[1]]
    found = {tuple(e) for e in edges[:, bridges(edges, graphs.num_nodes)].t().tolist()}
    assert found == {tuple(sorted(e)) for e in nx.bridges(as_networkx(graphs))}


def test_every_edge_of_a_long_path_is_a_bridge_until_it_is_closed():
    path = torch.stack([torch.arange(299), torch.arange(1, 300)])
    assert bridges(path, 300).all()
    ring = torch.cat([path, torch.tensor([[0], [299]])], 1)
    assert not bridges(ring, 300).any()
