"""Mini-batches of one large graph: parts, the edges among them, exact embeddings, resume."""

import importlib.util
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import random_array
from sklearn.base import clone

import augcl
from augcl.data.generators import planted
from augcl.data.node_graph import NodeGraph
from augcl.encoders.blocks import embed_in_blocks
from augcl.errors import InputError
from augcl.training import parts
from augcl.training.batches import NodeBatch
from augcl.training.parts import NodeParts, grown_parts, nodes_per_step, partition
from quick_nodes import QUICK, uncertainty


def drawn(nodes, degree=6, **more):
    return planted(nodes, classes=4, degree=degree, features=more.pop("features", 8), **more)


def weighted(graph):
    """The same graph with an edge weight that is the same in both directions."""
    source, target = graph.edge_index
    return NodeGraph.from_arrays(
        pairs=graph.edge_index,
        num_nodes=graph.num_nodes,
        x=graph.x,
        y=graph.y,
        edge_weight=1.0 + (source * target) % 3,
    )


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 40), st.floats(0, 5), st.randoms(use_true_random=False))
def test_a_subgraph_has_exactly_the_edges_among_its_nodes(nodes, degree, random):
    graph = weighted(drawn(max(nodes, 4), degree))
    ids = sorted(random.sample(range(graph.num_nodes), random.randint(1, graph.num_nodes)))
    some = graph.among(torch.tensor(ids))
    place = {node: number for number, node in enumerate(ids)}
    slow = [
        (place[u], place[v], w)
        for (u, v), w in zip(graph.edge_index.t().tolist(), graph.edge_weight.tolist(), strict=True)
        if u in place and v in place
    ]
    found = zip(*some.edge_index.tolist(), some.edge_weight.tolist(), strict=True)
    assert list(found) == slow
    assert torch.equal(some.x, graph.x[ids])
    assert torch.equal(some.y, graph.y[ids])


def test_a_subgraph_keeps_sparse_features_sparse():
    x = random_array((300, 200), density=0.02, rng=np.random.default_rng(0), dtype=np.float32)
    graph = NodeGraph.from_arrays(pairs=torch.tensor([[0], [1]]), num_nodes=300, x=x)
    ids = torch.arange(5, 300, 7)
    some = graph.among(ids)
    assert some.x.layout == torch.sparse_csr
    assert torch.equal(some.x.to_dense(), graph.x.to_dense()[ids])


@settings(max_examples=30, deadline=None)
@given(st.integers(4, 300), st.integers(1, 20), st.floats(0, 8))
def test_grown_parts_are_even_and_complete(nodes, count, degree):
    graph = drawn(nodes, degree)
    found = grown_parts(graph.ptr.numpy(), graph.edge_index[1].numpy(), count)
    sizes = np.bincount(found, minlength=count)
    assert found.min() >= 0
    assert sizes.sum() == nodes
    assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize("cut", [partition, grown_parts])
def test_parts_keep_more_edges_inside_than_random_ones(cut):
    side = 40  # a grid, where neighbours are near
    here = torch.arange(side * side).view(side, side)
    pairs = torch.cat(
        [
            torch.stack([here[:, :-1].flatten(), here[:, 1:].flatten()]),
            torch.stack([here[:-1].flatten(), here[1:].flatten()]),
        ],
        dim=1,
    )
    graph = NodeGraph.from_arrays(pairs=pairs, num_nodes=side * side)
    part = cut(graph.ptr.numpy(), graph.edge_index[1].numpy(), 16)
    source, target = graph.edge_index.numpy()
    assert (part[source] == part[target]).mean() > 0.7


def test_every_pass_has_each_node_once_and_other_batches():
    graph = drawn(1000)
    numbered = NodeGraph(x=torch.arange(1000.0)[:, None], edge_index=graph.edge_index)
    batches = NodeParts(numbered, 300, torch.Generator().manual_seed(0))
    passes = [[batch.graph.x[:, 0].long() for batch in batches] for _ in range(2)]
    assert len(batches) == 4
    for one in passes:
        assert torch.cat(one).sort().values.equal(torch.arange(1000))
        assert all(100 <= len(ids) <= 400 for ids in one)
    assert not torch.equal(passes[0][0], passes[1][0])
    assert torch.equal(batches[0].graph.x, batches[0].graph.x)  # the same whenever asked
    assert sum(len(batch) for batch in batches[:]) == 1000


def test_a_step_takes_all_nodes_up_to_a_size():
    assert nodes_per_step(parts.AUTOMATIC, None) is None
    assert nodes_per_step(parts.AUTOMATIC + 1, None) == parts.USUAL
    assert nodes_per_step(1000, 1000) is None
    assert nodes_per_step(1001, 1000) == 1000


def test_without_pymetis_it_is_said_once(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    parts._say_once.cache_clear()
    graph = drawn(100)
    with pytest.warns(UserWarning, match="pymetis is not installed"):
        found = partition(graph.ptr.numpy(), graph.edge_index[1].numpy(), 4)
    assert np.bincount(found).tolist() == [25, 25, 25, 25]
    partition(graph.ptr.numpy(), graph.edge_index[1].numpy(), 4)  # a warning would be an error


METHODS = {
    "GRACE": augcl.GRACE(**QUICK),
    "GCA": augcl.GCA(**QUICK, norm="batch", activation="prelu", candidates=50),
    "GCA+augcl": augcl.GCA(**QUICK, norm="layer", hardness=uncertainty(), candidates=50),
    "GRACE+progcl": augcl.GRACE(**QUICK, hardness="progcl", warmup=2),
    "BGRL": augcl.BGRL(epochs=3, width=8, predictor=8),
    "DGI": augcl.DGI(epochs=3, width=12),
    "CCASSG": augcl.CCASSG(epochs=3, width=12, layers=3),
    "CCASSG without edges": augcl.CCASSG(epochs=3, width=12, uses_edges=False),
}


@pytest.mark.parametrize("name", METHODS)
def test_embeddings_are_those_of_the_whole_graph(name):
    graph = weighted(drawn(600))
    model = clone(METHODS[name])
    model.set_params(batch_nodes=200, progress=False).fit(graph)
    assert len(model.history_) == model.settings()["epochs"]
    blocks = model.transform(graph)
    model.batch_nodes = None
    assert np.allclose(blocks, model.transform(graph), atol=1e-5)
    assert blocks.std(0).max() > 0


def test_blocks_of_any_size_and_sparse_features_agree():
    x = random_array((400, 300), density=0.02, rng=np.random.default_rng(0), dtype=np.float32)
    edges = drawn(400).edge_index
    sparse = NodeGraph.from_arrays(pairs=edges, num_nodes=400, x=x)
    dense = NodeGraph(sparse.x.to_dense(), sparse.edge_index)
    model = augcl.GRACE(**QUICK, progress=False).fit(sparse)
    layers, whole = model.network_.layer_list(), model.transform(sparse)
    scales = 1 / dense.x.sum(1).clamp_min(1)
    for graph in (sparse, dense):
        for rows in (1, 7, 400):
            found = embed_in_blocks(layers, graph, scales=scales, rows=rows)
            assert np.allclose(found, whole, atol=1e-5)


def test_batches_of_one_graph_reach_the_accuracy_of_whole_steps():
    graph = planted(1200, classes=5, features=16)
    found = {}
    for size in (None, 300):
        model = augcl.GCA(epochs=5 if size else 20, width=16, batch_nodes=size, progress=False)
        z = model.fit(graph).transform(graph)
        found[size] = augcl.evaluate(z, graph, protocol="logistic-10-10-80", repeats=2).mean
    assert found[300] > found[None] - 0.03
    assert found[300] > 0.6


@pytest.mark.parametrize("name", ["GCA+augcl", "BGRL"])
def test_a_resumed_training_ends_in_the_same_bits(name, tmp_path):
    graph = drawn(500)
    make = lambda **more: METHODS[name].__class__(  # noqa: E731
        **{**METHODS[name].get_params(deep=False), "batch_nodes": 128, "progress": False, **more}
    )
    longer = {"warmup": 2} if "GCA" in name else {}
    make(epochs=4, **longer).fit(graph, folder=tmp_path / "whole")
    whole = make(epochs=4, **longer).fit(graph)

    class Stop(augcl.callbacks.Callback):
        def on_epoch_end(self, estimator, metrics):
            return metrics["epoch"] == 3

    make(epochs=4, callbacks=[Stop()], **longer).fit(graph, folder=tmp_path / "run")
    again = make(epochs=4, **longer).fit(graph, folder=tmp_path / "run", resume=True)
    assert np.array_equal(whole.transform(graph), again.transform(graph))
    again.save(tmp_path / "model")
    read = augcl.load_model(tmp_path / "model")
    assert np.array_equal(read.transform(graph), again.transform(graph))


def test_the_weights_of_a_batch_are_observed():
    graph = drawn(600)
    model = augcl.GCA(**QUICK, hardness=uncertainty(), batch_nodes=150, warmup=2, progress=False)
    history = model.fit(graph).history_
    assert "weight_std" not in history[1]
    assert {"weight_std", "false_mass", "false_mass_weighted"} <= history[2].keys()
    assert model.weights_ is None


def test_the_settings_of_a_whole_step_are_what_they_were():
    assert "batch_nodes" not in augcl.GCA().settings()
    assert augcl.GCA(batch_nodes=512).settings()["batch_nodes"] == 512
    with pytest.raises(InputError, match="batch_nodes"):
        augcl.GCA(batch_nodes=3).check()


def test_an_encoder_of_the_user_gets_batches_too():
    from torch_geometric.nn import GCNConv

    graph = drawn(400)
    model = augcl.GRACE(**QUICK, encoder=GCNConv(8, 8), batch_nodes=100, progress=False)
    assert model.fit(graph).transform(graph).shape == (400, 8)


def test_a_batch_is_a_graph_like_any_other():
    graph = drawn(300)
    (batch, *_) = NodeParts(graph, 100, torch.Generator().manual_seed(0))
    assert isinstance(batch, NodeBatch)
    source, target = batch.graph.edge_index
    keys = (source * len(batch) + target).tolist()
    assert all(a < b for a, b in pairwise(keys))  # sorted, no duplicates
    assert set(keys) == set((target * len(batch) + source).tolist())  # both directions
