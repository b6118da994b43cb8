"""Node2vec and DeepWalk, of nodes and of graphs."""

import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

import references
from augcl import DeepWalk, DeepWalkFeatures, InputError, Node2Vec, Node2VecGraphs, load_model
from augcl.data import NodeGraph
from augcl.rivals import deepwalk as skip_gram

QUICK = {"dimensions": 16, "walks": 4, "length": 20, "window": 4, "progress": False}
NODES = [Node2Vec, DeepWalk, DeepWalkFeatures]


def quick(kind=Node2Vec, **options):
    return kind(**{**QUICK, **options})


def accuracy(z, y):
    return cross_val_score(LogisticRegression(max_iter=2000), z, y).mean()


@pytest.fixture(scope="module")
def graph():
    return references.communities()


@pytest.mark.parametrize("kind", NODES)
def test_the_embedding_tells_the_communities(graph, kind):
    z = quick(kind, passes=5).fit_transform(graph)
    assert z.shape == (90, 16 + (24 if kind is DeepWalkFeatures else 0))
    assert z.dtype == np.float32
    assert accuracy(z, graph.y) > 0.8


@pytest.mark.parametrize("options", [{"p": 0.2}, {"q": 0.2}, {"negatives": 0}, {"window": 1}])
def test_every_setting_of_walks_and_words_counts(graph, options):
    plain = quick().fit_transform(graph)
    other = quick(**options).fit_transform(graph)
    assert np.isfinite(other).all()
    assert not np.array_equal(plain, other)


def test_deepwalk_with_negatives_is_node2vec_without_bias(graph):
    one, other = quick(DeepWalk, negatives=5), quick(Node2Vec)
    assert np.array_equal(one.fit_transform(graph), other.fit_transform(graph))


def test_features_stand_behind_the_walks_and_neither_outweighs_the_other(graph):
    z = quick(DeepWalkFeatures).fit_transform(graph)
    walks, features = z[:, :16], z[:, 16:]
    for part in (walks, features):
        assert np.square(part).sum(1).mean() == pytest.approx(1, abs=1e-5)
    raw = (graph.x / graph.x.sum(1, keepdim=True).clamp_min(1)).numpy()
    assert np.allclose(features / np.linalg.norm(features), raw / np.linalg.norm(raw), atol=1e-6)
    plain = quick(DeepWalkFeatures, normalize_features=False).fit_transform(graph)[:, 16:]
    assert np.allclose(plain / plain.max(), graph.x)


@pytest.mark.parametrize("kind", [Node2Vec, DeepWalk])
def test_every_pass_goes_through_the_same_walks_in_another_order(graph, kind, monkeypatch):
    """Blocks bound the memory."""
    seen = []
    monkeypatch.setattr(skip_gram, "BLOCK", 20 * 32)
    kept = skip_gram._WalkSentences.batches

    def watched(self):
        blocks = list(kept(self))
        seen.append(torch.cat(blocks))
        assert max(map(len, blocks)) <= 32
        return iter(blocks)

    monkeypatch.setattr(skip_gram._WalkSentences, "batches", watched)
    quick(kind, passes=2).fit(graph)
    counted, first, second = seen
    assert counted.shape == (4 * 90, 20)
    for one, other in ((counted, first), (first, second)):
        assert sorted(one.tolist()) == sorted(other.tolist())
        assert (one == other).all(1).float().mean() < 0.1
    assert torch.bincount(counted[:, 0]).tolist() == [4] * 90


def test_a_node_without_neighbours_has_an_embedding_too():
    pairs = torch.tensor([[0, 1], [1, 2]])
    graph = NodeGraph.from_arrays(pairs=pairs, num_nodes=5)
    for kind in NODES:
        assert np.isfinite(quick(kind).fit_transform(graph)).all()


# Seeds


PROGRAM = """
import hashlib
import references
from augcl import DeepGraphKernel, DeepWalk, Graph2Vec, Node2Vec, Sub2Vec
from augcl.data.features import node_features
nodes, graphs = references.communities(), references.random_graphs([6, 9], density=0.4, seed=0)
parts = [
    Node2Vec(dimensions=8, walks=2, length=8).fit_transform(nodes),
    DeepWalk(dimensions=8, walks=2, length=8).fit_transform(nodes),
    DeepGraphKernel(dimension=8).fit_transform(node_features(graphs, "constant")),
    Sub2Vec(dimensions=8, walk_length=20, passes=2).fit_transform(graphs),
    (model := Graph2Vec(dimensions=8, passes=2).fit(graphs)).transform(graphs),
    model.transform(graphs.select([1])),
]
digest = hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()
"""


def test_the_bits_do_not_depend_on_how_python_hashes_text():
    here = {}
    exec(PROGRAM, here)
    elsewhere = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", f"{PROGRAM}print(digest)"],
        env={**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert elsewhere.stdout.strip() == here["digest"]


# Other graphs


@pytest.mark.parametrize("kind", NODES)
def test_another_graph_is_refused_in_one_line(graph, kind):
    model = quick(kind).fit(graph)
    for other in (references.communities(40), references.communities(seed=1)):
        with pytest.raises(InputError, match="communities is not what this") as caught:
            model.transform(other)
        assert "\n" not in str(caught.value)
    wider = NodeGraph(torch.ones(90, 3), graph.edge_index, name="wider")
    with pytest.raises(InputError, match="wider is not what this"):
        model.transform(wider)
    assert model.fit(other).transform(other).shape[0] == 90


def test_graphs_are_the_means_of_their_nodes(molecules):
    graphs = quick(Node2VecGraphs).fit(molecules)
    nodes = NodeGraph(molecules.x, molecules.edge_index)
    z = torch.from_numpy(quick(Node2Vec).fit_transform(nodes))
    means = torch.stack([part.mean(0) for part in z.split(molecules.node_ptr.diff().tolist())])
    assert np.allclose(graphs.transform(molecules), means, atol=1e-6)


def test_graphs_of_the_fit_are_embedded_and_no_others(mutag, molecules, tmp_path):
    quick(Node2VecGraphs).fit(molecules).save(tmp_path)
    model = load_model(tmp_path)
    assert model.transform(molecules).shape == (40, 16)
    with pytest.raises(InputError, match="fit it on all graphs together"):
        model.transform(mutag)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"p": 0}, "p is 0: give a finite number, above 0"),
        ({"q": float("inf")}, "q is inf"),
        ({"walks": 0}, "walks is 0"),
        ({"length": 1}, "length is 1"),
        ({"passes": 1.5}, "passes is 1.5"),
        ({"negatives": -1}, "negatives is -1"),
    ],
)
def test_a_wrong_setting_is_named(graph, options, message):
    with pytest.raises(InputError, match=message):
        quick(**options).fit(graph)
