import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.data.published_files import write_npz

from augcl.data import load, statistics
from augcl.data.npz import read_npz
from augcl.errors import InputError

PAPER = Path(__file__).resolve().parents[3] / "shared" / "paper_numbers.json"

# Features, class sizes, isolated nodes, components.
EXPECTED = {
    "Amazon-Photo": (745, [369, 1686, 703, 915, 882, 823, 1941, 331], 115, 136),
    "Amazon-Computers": (767, [436, 2142, 1414, 542, 5158, 308, 487, 818, 2156, 291], 281, 314),
    "Cora": (1433, [351, 217, 418, 818, 426, 298, 180], 0, 78),
}


def refuses(path, message):
    with pytest.raises(InputError, match=message) as caught:
        read_npz(path)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_edges_become_undirected_and_counts_stay_counts(tmp_path):
    graph = read_npz(write_npz(tmp_path / "mine.npz"))
    assert graph.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert graph.x.tolist() == [[1, 0], [0, 3], [0, 0], [1, 1]]
    assert graph.y.tolist() == [0, 1, 2, 1]
    assert graph.name == "mine"


def test_dense_matrices_are_taken_and_labels_may_be_absent(tmp_path):
    np.savez(tmp_path / "dense.npz", adj_matrix=np.eye(3, k=1), attr_matrix=np.eye(3, dtype=">f8"))
    graph = read_npz(tmp_path / "dense.npz")
    assert graph.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert torch.equal(graph.x, torch.eye(3))
    assert graph.y is None
    words = write_npz(tmp_path / "words.npz", labels=np.array(["b", "a", "", "b"]))
    assert read_npz(words).y.tolist() == [1, 0, -1, 1]
    assert read_npz(write_npz(tmp_path / "bare.npz", attr_data=None)).x.tolist() == [[1]] * 4


def test_objects_beside_the_arrays_are_not_touched(tmp_path):
    names = np.array({0: "camera"}, dtype=object)
    graph = read_npz(write_npz(tmp_path / "published.npz", idx_to_attr=names, idx_to_node=names))
    assert graph.num_nodes == 4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"adj_data": None}, "contains no graph: it needs the arrays adj_data"),
        ({"adj_indptr": None}, "the array adj_indptr is missing"),
        ({"attr_shape": None}, "the array attr_shape is missing"),
        ({"adj_indices": np.array([1, 2, 9])}, "adj_data … is a damaged sparse matrix"),
        ({"adj_shape": np.array([5, 5])}, "adj_data … is a damaged sparse matrix"),
        ({"adj_shape": np.array([4, 9])}, r"adjacency has shape \(4, 9\): expected \(N, N\)"),
        ({"labels": np.array([0, 1])}, "y has length 2 for 4 nodes"),
        ({"labels": np.array([0, 1, 2, {}], dtype=object)}, "labels holds Python objects"),
        ({"labels": np.array([0, 1, -4, 1])}, "class of node 2"),
        ({"attr_data": np.array([1, 1, np.nan, 1])}, "NaN or infinity, first at node 3"),
        (
            {"attr_data": None, "attr_matrix": np.ones((3, 2))},
            "3 rows of node features for 4 nodes",
        ),
        ({"attr_data": None, "attr_matrix": np.array([["a"]] * 4)}, "must be numbers"),
    ],
)
def test_a_mistake_is_told_with_its_array(tmp_path, changes, message):
    refuses(write_npz(tmp_path / "wrong.npz", **changes), message)


def test_a_file_cut_short_or_of_another_kind_is_told(tmp_path):
    path = write_npz(tmp_path / "cut.npz")
    content = path.read_bytes()
    for length in (0, 10, len(content) // 2, len(content) - 10):
        path.write_bytes(content[:length])
        refuses(path, "damaged|not an npz file")
    path.write_bytes(content.replace(b"\x93NUMPY", b"\x93NOMPY"))
    refuses(path, "damaged|not an npz file")
    path.write_bytes(pickle.dumps({"adj_data": [1]}))
    refuses(path, "not an npz file")
    with path.open("wb") as file:
        np.save(file, np.eye(2))
    refuses(path, "contains a single array")
    refuses(tmp_path / "nowhere.npz", "cannot be read")


@pytest.mark.parametrize("name", EXPECTED)
def test_published_files_have_the_published_sizes(name, npz_dir):
    found = statistics(load(name, data_dir=npz_dir.parent))
    features, sizes, isolated, components = EXPECTED[name]
    assert (found["name"], found["features"], found["class_sizes"]) == (name, features, sizes)
    assert (found["isolated_nodes"], found["components"]) == (isolated, components)
    if name == "Cora":
        assert (found["nodes"], found["edges"]) == (2708, 5278)
        return
    if not PAPER.is_file():
        pytest.skip("the paper's numbers are not beside the repository")
    paper = json.loads(PAPER.read_text())["dataset_statistics"]["node_classification"][name]
    assert (found["nodes"], found["edges"]) == (paper["nodes"], paper["edges"])


def test_the_same_graph_as_pyg_reads(npz_dir):
    from torch_geometric.io import read_npz as pyg

    path = npz_dir / "amazon_electronics_photo.npz"
    ours, theirs = read_npz(path), pyg(path)
    assert torch.equal(ours.x, theirs.x)
    assert torch.equal(ours.edge_index, theirs.edge_index)
    assert torch.equal(ours.y, theirs.y)


def test_bags_of_words_stay_sparse(npz_dir):
    graph = read_npz(npz_dir / "cora.npz")
    assert graph.x.layout == torch.sparse_csr
    assert read_npz(npz_dir / "amazon_electronics_photo.npz").x.layout == torch.strided
