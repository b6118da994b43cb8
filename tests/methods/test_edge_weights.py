"""Methods for nodes on a graph with weighted edges: Les Misérables."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.nn import GCNConv

import augcl
from augcl import GCA, GRACE, InputError, Node2Vec
from augcl.data import NodeGraph
from augcl.rivals import BGRL, CCASSG, DGI, GAE, GMI, HSAN, MVGRL, DeepWalk, GraphMAE

QUICK = {"epochs": 2, "random_state": 0, "progress": False}
WALKS = {"dimensions": 8, "walks": 2, "length": 10, "random_state": 0, "progress": False}
METHODS = {
    "GRACE": lambda: GRACE(width=8, **QUICK),
    "GCA": lambda: GCA(width=8, **QUICK),
    "GCA by PageRank": lambda: GCA(width=8, centrality="pagerank", **QUICK),
    "GCA by eigenvector": lambda: GCA(width=8, centrality="eigenvector", recipe="paper", **QUICK),
    "DGI": lambda: DGI(width=8, **QUICK),
    "GMI": lambda: GMI(width=8, **QUICK),
    "MVGRL": lambda: MVGRL(width=8, **QUICK),
    "GAE": lambda: GAE(**QUICK),
    "HSAN": lambda: HSAN(**QUICK),
    "CCA-SSG": lambda: CCASSG(width=8, **QUICK),
    "CCA-SSG half-hop": lambda: CCASSG(width=8, half_hop=(0.5, 0.5), **QUICK),
    "BGRL": lambda: BGRL(width=8, **QUICK),
    "GraphMAE": lambda: GraphMAE(width=8, **QUICK),
    "DeepWalk": lambda: DeepWalk(**WALKS),
    "Node2Vec": lambda: Node2Vec(**WALKS),
    "Node2Vec far": lambda: Node2Vec(p=4, q=0.25, **WALKS),
}


@pytest.fixture(scope="module")
def people():
    graph = nx.convert_node_labels_to_integers(nx.les_miserables_graph())
    edges = list(graph.edges(data="weight"))
    return NodeGraph.from_arrays(
        pairs=torch.tensor([(u, v) for u, v, _ in edges]).t().contiguous(),
        num_nodes=len(graph),
        x=torch.eye(len(graph)),
        edge_weight=torch.tensor([float(weight) for _, _, weight in edges]),
    )


@pytest.mark.filterwarnings("ignore:MVGRL .* no epoch had a lower loss")
@pytest.mark.parametrize("name", METHODS)
def test_weights_matter_unless_all_are_1(name, people):
    even = replace(people, edge_weight=torch.ones_like(people.edge_weight))
    none = replace(people, edge_weight=None)
    weighted, of_ones, without = (METHODS[name]().fit_transform(g) for g in (people, even, none))
    assert np.isfinite(weighted).all()
    assert np.array_equal(of_ones, without)
    assert not np.allclose(weighted, without)


@pytest.mark.parametrize("name", ["GCA", "MVGRL", "Node2Vec"])
@pytest.mark.filterwarnings("ignore:MVGRL .* no epoch had a lower loss")
def test_edges_of_weight_0_are_no_trouble(name, people):
    weight = people.edge_weight.clone()
    weight[(people.edge_index == 3).any(0)] = 0  # node 3 has no edge left that counts
    assert np.isfinite(METHODS[name]().fit_transform(replace(people, edge_weight=weight))).all()


def test_a_saved_model_embeds_a_graph_with_other_weights(people, tmp_path):
    model = METHODS["GCA"]().fit(people)
    model.save(tmp_path)
    again = augcl.load_model(tmp_path)
    heavier = replace(people, edge_weight=3 * people.edge_weight)
    assert np.array_equal(again.transform(people), model.transform(people))
    assert not np.allclose(again.transform(heavier), model.transform(people))


def test_walks_know_nothing_of_other_weights(people):
    model = METHODS["Node2Vec"]().fit(people)
    with pytest.raises(InputError, match="is not what this Node2Vec was fitted on"):
        model.transform(replace(people, edge_weight=3 * people.edge_weight))


def test_an_encoder_of_pyg_gets_the_weights(people):
    encoder = GCNConv(people.num_features, 4)
    model = GRACE(encoder=encoder, normalize_features=False, **QUICK | {"epochs": 0}).fit(people)
    expected = encoder(people.x, people.edge_index, people.edge_weight).detach().numpy()
    np.testing.assert_allclose(model.transform(people), expected, atol=1e-6)


def test_edge_features_of_one_graph_change_nothing(people):
    known = replace(people, edge_attr=torch.rand(people.num_edges, 2), edge_columns=["a", "b"])
    one, other = (METHODS["GCA"]().fit_transform(g) for g in (people, known))
    assert np.array_equal(one, other)
