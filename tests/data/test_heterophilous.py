"""Platonov's layout, by file and by name, and its ten splits as the protocol."""

import time

import numpy as np
import pytest
import torch
from tests.conftest import SHARED

from augcl import InputError, evaluate
from augcl.data import load_graph
from augcl.data.npz import read_npz
from augcl.data.planetoid import read_planetoid
from augcl.data.summary import edge_homophily

FOLDER = SHARED / "data" / "heterophilous"
real = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="optional: the heterophilous graphs are not in ../shared/data"
)


def arrays(**change):
    masks = np.arange(6) % 3 == np.arange(3)[:, None]
    return {
        "node_features": np.eye(6, dtype=np.float32),
        "node_labels": np.array([0, 0, 1, 1, 0, 1]),
        "edges": np.array([[0, 1], [1, 2], [2, 3], [4, 5]]),
        "train_masks": masks[[0, 1]],
        "val_masks": masks[[1, 2]],
        "test_masks": masks[[2, 0]],
    } | change


def test_all_arrays_are_read(tmp_path):
    np.savez(tmp_path / "small.npz", **arrays())
    graph = load_graph(tmp_path / "small.npz")
    assert (graph.num_nodes, graph.num_edges, graph.num_classes) == (6, 8, 2)
    assert graph.splits.train.tolist() == arrays()["train_masks"].tolist()
    assert graph.splits.test.tolist() == arrays()["test_masks"].tolist()
    assert edge_homophily(graph) == 0.5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"edges": np.zeros((2, 3), dtype=int)}, r"edges has shape \(2, 3\)"),
        ({"edges": np.array([[0, 9]])}, "9"),
        ({"val_masks": np.zeros((2, 5), dtype=bool)}, r"val_masks has shape \(2, 5\)"),
        ({"node_features": np.zeros(6)}, "node_features has shape"),
    ],
)
def test_mistakes_name_the_array(tmp_path, change, message):
    np.savez(tmp_path / "small.npz", **arrays(**change))
    with pytest.raises(InputError, match=message):
        read_npz(tmp_path / "small.npz")


@real
@pytest.mark.parametrize(
    ("name", "nodes", "edges", "classes"),
    [
        ("Minesweeper", 10_000, 39_402, 2),
        ("actor", 7_600, 26_659, 5),
        ("chameleon-filtered", 890, 8_854, 5),
    ],
)
def test_published_sizes_by_name(name, nodes, edges, classes):
    graph = load_graph(name, data_dir=FOLDER.parent)
    assert (graph.num_nodes, graph.num_edges // 2, graph.num_classes) == (nodes, edges, classes)
    assert graph.splits.train.shape == (10, nodes)


@real
def test_minesweeper_is_judged_by_roc_auc_on_its_ten_splits():
    graph = load_graph("Minesweeper", data_dir=FOLDER.parent)
    score = evaluate(graph.x, graph, repeats=2)
    assert (score.protocol, score.scoring, score.floor) == ("public-split", "roc_auc", 0.5)
    assert score.splits.shape == (2, 10_000)
    assert edge_homophily(graph) == pytest.approx(0.68, abs=0.005)  # as published


def test_cora_has_its_public_split():
    file = SHARED / "data" / "planetoid" / "ind.cora.graph"
    if not file.is_file():
        pytest.skip("optional: the planetoid files are not in ../shared/data/planetoid")
    graph = read_planetoid(file)
    assert [int(getattr(graph.splits, part).sum()) for part in ("train", "val", "test")] == [
        140,
        500,
        1000,
    ]
    x = graph.x.to_dense()
    score = evaluate(x, graph, protocol="public-split")
    assert 0.55 < score.mean < 0.62  # raw words, without the graph
    smooth = x
    for _ in range(2):
        smooth = smooth + torch.zeros_like(x).index_add(
            0, graph.edge_index[0], smooth[graph.edge_index[1]]
        )
    smooth = torch.nn.functional.normalize(smooth)
    assert evaluate(smooth, graph, protocol="public-split").mean > 0.72


@real
def test_raw_features_of_actor_are_judged_in_seconds():
    graph = load_graph(FOLDER / "actor.npz")
    started = time.process_time()
    score = evaluate(graph.x, graph, protocol="public-split", repeats=1)
    assert time.process_time() - started < 20  # one split of ten
    assert score.mean == pytest.approx(0.35, abs=0.02)
