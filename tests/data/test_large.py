"""Files for large graphs: OGB's folders, memory maps, edge lists in pieces, ids of any size."""

import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import torch

import augcl
from augcl.data import large as large_files
from augcl.data import npz as npz_files
from augcl.data import sparse as sparse_features
from augcl.data.formats import read_graph
from augcl.data.generators import planted
from augcl.data.loading import level_of, load_graph
from augcl.data.node_convert import as_node_graph
from augcl.errors import InputError
from augcl.evaluation.inputs import Target
from augcl.evaluation.protocol import protocol_for
from augcl.runs.embedding_file import read_embeddings, write_embeddings

NODES = 60


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("AUGCL_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def graph():
    return planted(NODES, classes=3, degree=5, features=4)


def packed(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt") as file:
        file.writelines(",".join(map(str, row)) + "\n" for row in rows)


def same_graph(found, graph):
    assert torch.equal(found.edge_index, graph.edge_index)
    assert torch.equal(found.x, graph.x)
    assert torch.equal(found.y, graph.y)


def ogb_folder(root, graph):
    raw = root / "raw"
    packed(raw / "edge.csv.gz", graph.edge_index.t().tolist())
    packed(raw / "node-feat.csv.gz", graph.x.tolist())
    packed(raw / "node-label.csv.gz", graph.y[:, None].tolist())
    packed(raw / "num-node-list.csv.gz", [[graph.num_nodes]])
    for part, nodes in (("train", range(30)), ("valid", range(30, 40)), ("test", range(40, 60))):
        packed(root / "split" / "time" / f"{part}.csv.gz", [[i] for i in nodes])
    return root


def test_a_folder_of_ogb(graph, tmp_path):
    found = read_graph(ogb_folder(tmp_path / "ogbn-toy", graph))
    same_graph(found, graph)
    assert found.name == "ogbn-toy"
    assert found.splits.train.sum().item() == 30
    assert found.splits.test[0, 40:].all()
    same_graph(load_graph(tmp_path / "ogbn-toy"), graph)


def test_a_single_split_of_such_a_folder_judges(graph, tmp_path):
    ogb_folder(tmp_path / "ogb", graph)
    folder = arrays_folder(tmp_path / "arrays", graph)
    for part, nodes in (("train", range(30)), ("val", range(30, 40)), ("test", range(40, 60))):
        np.save(folder / f"{part}.npy", np.array(nodes))
    Z = graph.x.numpy()
    for name in ("ogb", "arrays"):
        read = load_graph(tmp_path / name)
        again = as_node_graph(augcl.load(tmp_path / name))
        write_embeddings(tmp_path / "z.npz", Z, read)
        for found in (read, again, read_embeddings(tmp_path / "z.npz").task):
            score = augcl.evaluate(Z, found, progress=False)
            assert (score.protocol, len(score.runs)) == ("public-split", 1)
    masked = replace(read, splits=replace(read.splits, usual=False))  # as of the planetoid files
    assert protocol_for(Target.of(masked)) == "linear-10-10-80"
    assert protocol_for(Target.of(read), grouped=True) == "logistic-10fold"


def test_ogb_labels_may_be_missing_or_several(graph, tmp_path):
    root = ogb_folder(tmp_path / "toy", graph)
    label = root / "raw" / "node-label.csv.gz"
    packed(label, [["nan" if i % 7 == 0 else i % 3] for i in range(NODES)])
    y = read_graph(root).y
    assert y[::7].eq(-1).all()
    assert y[1:7].tolist() == [1, 2, 0, 1, 2, 0]
    packed(label, [[i % 2, 1 - i % 2] for i in range(NODES)])
    assert read_graph(root).task == "multilabel"


def test_a_damaged_file_of_ogb_is_named(graph, tmp_path):
    root = ogb_folder(tmp_path / "toy", graph)
    (root / "raw" / "node-feat.csv.gz").write_bytes(b"no gzip")
    with pytest.raises(InputError, match=r"node-feat\.csv\.gz"):
        read_graph(root)
    packed(root / "raw" / "node-feat.csv.gz", [["a", 1]])
    with pytest.raises(InputError, match=r"node-feat\.csv\.gz"):
        read_graph(root)
    packed(root / "raw" / "edge.csv.gz", [[0, 1], [2, ""]])
    with pytest.raises(InputError, match=r"edge\.csv\.gz has a blank value"):
        read_graph(root)


def arrays_folder(folder, graph, *, edges="npy", ids=None, more=lambda piece: {}):
    folder.mkdir()
    np.save(folder / "features.npy", graph.x.numpy())
    np.save(folder / "labels.npy", graph.y.numpy())
    pairs = graph.edge_index.numpy()
    if ids is not None:
        np.save(folder / "ids.npy", ids)
        pairs = ids[pairs]
    if edges == "npy":
        np.save(folder / "edges.npy", pairs.T)
        return folder
    (folder / "edges").mkdir()
    for number, piece in enumerate(np.array_split(pairs, 3, axis=1)):
        table = pa.table({"source": piece[0], "target": piece[1], **more(piece)})
        pa.parquet.write_table(table, folder / "edges" / f"part-{number}.parquet", row_group_size=7)
    return folder


IDS = {
    "none": None,
    "huge": np.random.default_rng(0).permutation(NODES) * 10**15 + 2**40,
    "text": np.array([f"node-{i}" for i in np.random.default_rng(0).permutation(NODES)]),
}


@pytest.mark.parametrize("edges", ["npy", "parquet"])
@pytest.mark.parametrize("ids", IDS)
def test_a_folder_of_arrays(graph, tmp_path, edges, ids, monkeypatch):
    monkeypatch.setattr(large_files, "PIECE", 11)
    folder = arrays_folder(tmp_path / "big", graph, edges=edges, ids=IDS[ids])
    found = read_graph(folder)
    same_graph(found, graph)
    assert level_of(folder) == "node"


def test_weights_of_edges_are_read_and_other_columns_named(graph, tmp_path, monkeypatch):
    monkeypatch.setattr(large_files, "PIECE", 11)

    def more(piece):
        return {"weight": piece.sum(0) / 2, "since": piece[0]}

    folder = arrays_folder(tmp_path / "big", graph, edges="parquet", more=more)
    with pytest.warns(UserWarning, match=r"part-0\.parquet: column since not used") as said:
        found = read_graph(folder)
    assert len(said) == 1
    assert torch.equal(found.edge_weight, graph.edge_index.sum(0) / 2)
    last = folder / "edges" / "part-2.parquet"
    pa.parquet.write_table(pa.parquet.read_table(last).drop_columns("weight"), last)
    with (
        pytest.raises(InputError, match="some files of edges have a column weight"),
        pytest.warns(),
    ):
        read_graph(folder)


@pytest.mark.parametrize("edges", ["npy", "parquet"])
def test_a_folder_of_arrays_without_features(graph, tmp_path, edges):
    folder = arrays_folder(tmp_path / "big", graph, edges=edges)
    (folder / "features.npy").unlink()
    found = load_graph(folder)
    same_graph(found, replace(graph, x=torch.ones(NODES, 1)))
    (folder / "labels.npy").unlink()
    assert load_graph(folder).num_nodes == int(graph.edge_index.max()) + 1


def memory_maps():
    maps = Path("/proc/self/maps")
    if not maps.exists():
        pytest.skip("only Linux lists memory maps")
    return maps.read_text().splitlines()


def test_features_of_arrays_are_not_copied(graph, tmp_path):
    folder = arrays_folder(tmp_path / "big", graph)
    found = read_graph(folder)
    mapped = [line for line in memory_maps() if str(folder) in line]
    assert any("features.npy" in line for line in mapped)
    found.x[0] = 7.0  # a private copy: the file stays as it is
    assert not np.array_equal(np.load(folder / "features.npy")[0], found.x[0].numpy())


def test_an_npz_with_a_large_matrix_is_a_memory_map(graph, tmp_path, monkeypatch):
    monkeypatch.setattr(npz_files, "MAPPED", 0)
    arrays = {
        "node_features": graph.x.numpy(),
        "edges": graph.edge_index.t().numpy(),
        "node_labels": graph.y.numpy(),
    }
    np.savez(tmp_path / "plain.npz", **arrays)
    np.savez_compressed(tmp_path / "packed.npz", **arrays)
    for name in ("plain", "packed"):
        found = read_graph(tmp_path / f"{name}.npz")
        same_graph(found, graph)
        mapped = any(f"{name}.npz" in line for line in memory_maps())
        assert mapped == (name == "plain")


def test_mistakes_are_named(graph, tmp_path):
    folder = arrays_folder(tmp_path / "big", graph, ids=IDS["huge"])
    np.save(folder / "edges.npy", np.array([[5, 6]]))
    with pytest.raises(InputError, match="names the node 5"):
        read_graph(folder)
    np.save(folder / "ids.npy", np.zeros(NODES, np.int64))
    with pytest.raises(InputError, match="different ids"):
        read_graph(folder)
    (folder / "ids.npy").unlink()
    (folder / "edges.npy").unlink()
    with pytest.raises(InputError, match="no edges"):
        read_graph(folder)
    np.save(folder / "edges.npy", np.array([[0, NODES]]))
    with pytest.raises(InputError, match="points at node 60"):
        read_graph(folder)
    np.save(folder / "edges.npy", np.array([[0, 1]]))
    for part in ("train", "val", "test"):
        np.save(folder / f"{part}.npy", np.array([0]))
    (folder / "train.npy").write_bytes(np.lib.format.magic(2, 0) + b"\xff\xff\xff\xff")
    with pytest.raises(InputError, match=r"train\.npy.* claims 4,294,967,295 bytes"):
        read_graph(folder)
    np.save(folder / "features.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match=r"features\.npy"):
        read_graph(folder)


def test_splits_of_arrays_are_masks_or_places(graph, tmp_path):
    folder = arrays_folder(tmp_path / "big", graph)
    np.save(folder / "train.npy", np.arange(10))
    np.save(folder / "val.npy", np.arange(10, 20))
    np.save(folder / "test.npy", np.arange(NODES) >= 20)
    splits = read_graph(folder).splits
    assert [int(part.sum()) for part in (splits.train, splits.val, splits.test)] == [10, 10, 40]


def test_statistics_of_large_features_take_some_rows(monkeypatch):
    x = torch.zeros(1000, 8)
    x[::2] = 1
    monkeypatch.setattr(sparse_features, "LARGE", 100)
    monkeypatch.setattr(sparse_features, "SOME", 100)
    assert len(sparse_features.some_rows(x)) == 100
    assert 0.2 < sparse_features.share_filled(x) < 0.8
    x[555] = float("nan")
    assert sparse_features.first_bad_row(x) == 555


def test_of_a_large_memory_map_some_rows_are_checked_and_the_training_checks_all(
    tmp_path, monkeypatch
):
    graph = planted(1000, classes=3, degree=5, features=4)
    graph.x[501, 2] = float("nan")
    folder = arrays_folder(tmp_path / "big", graph)
    with pytest.raises(InputError, match="NaN or infinity, first at node 501"):
        load_graph(folder)
    monkeypatch.setattr(sparse_features, "LARGE", 100)
    monkeypatch.setattr(sparse_features, "SOME", 100)
    found = load_graph(folder)
    for batch_nodes in (None, 500):
        with pytest.raises(InputError, match="features of big hold NaN or infinity"):
            augcl.GRACE(epochs=1, batch_nodes=batch_nodes).fit(found)
    with pytest.raises(InputError, match="NaN or infinity"):
        augcl.Propagation().fit(found)
    np.save(folder / "features.npy", np.full((1000, 4), np.inf, np.float32))
    with pytest.raises(InputError, match="NaN or infinity, first at node 0"):
        load_graph(folder)
