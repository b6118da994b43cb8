import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.data.published_files import write_npz

from augcl.data import load, load_graph, statistics
from augcl.data.npz import read_npz
from augcl.data.targets import Reading
from augcl.errors import InputError

PAPER = Path(__file__).resolve().parents[3] / "shared" / "paper_numbers.json"

# Features, class sizes, isolated nodes, components.
EXPECTED = {
    "Amazon-Photo": (745, [369, 1686, 703, 915, 882, 823, 1941, 331], 115, 136),
    "Amazon-Computers": (767, [436, 2142, 1414, 542, 5158, 308, 487, 818, 2156, 291], 281, 314),
    "Cora": (1433, [351, 217, 418, 818, 426, 298, 180], 0, 78),
}

NO_FEATURES = dict.fromkeys(f"attr_{part}" for part in ("data", "indices", "indptr", "shape"))


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
    assert read_npz(words).classes == ["a", "b"]
    assert read_npz(write_npz(tmp_path / "bare.npz", **NO_FEATURES)).x.tolist() == [[1]] * 4


def test_names_and_weights_are_read_and_other_arrays_are_named(tmp_path):
    names = {"attr_names": ["red", "blue"], "node_names": list("abcd"), "class_names": list("xyz")}
    path = write_npz(
        tmp_path / "named.npz",
        adj_data=np.array([0.5, 2, 7]),
        taste=np.ones(4),
        **{key: np.array(value) for key, value in names.items()},
    )
    message = "named.npz: column taste not used: a graph has features, edges, labels and masks"
    with pytest.warns(UserWarning, match=message):
        graph = read_npz(path)
    assert (graph.columns, graph.names, graph.classes) == tuple(names.values())
    assert graph.edge_weight.tolist() == [0.5, 0.5, 2, 2]  # the 7 was a loop


def test_missing_features_are_named_or_flagged(tmp_path):
    path = write_npz(tmp_path / "gaps.npz", attr_data=np.array([1, np.nan, 1, np.inf]))
    refuses(path, "node 3, counted from 0: column 'x1' is infinite")
    path = write_npz(tmp_path / "gaps.npz", attr_data=np.array([1, 3, np.nan, 1]))
    refuses(path, r"node 3, counted from 0: column 'x0' is empty or NaN: .*missing=zero")
    graph = load_graph(path, how=Reading(missing="zero"))
    assert graph.columns == ["x0", "x0 missing", "x1"]
    assert graph.x.tolist() == [[1, 0, 0], [0, 0, 3], [0, 0, 0], [0, 1, 1]]


def test_words_are_one_hot_and_fractions_a_regression(tmp_path):
    words = np.array([["red", "b"], ["blue", "b"], ["red", ""], ["red", "b"]])
    path = write_npz(
        tmp_path / "w.npz", **NO_FEATURES, attr_matrix=words, labels=np.array([0.5, 1, np.nan, 2])
    )
    refuses(path, "node 2, counted from 0: column 'x1' is empty")
    graph = load_graph(path, how=Reading(missing="zero"))
    assert graph.columns == ["x0=blue", "x0=red", "x1=b", "x1 missing"]
    assert graph.x.tolist() == [[0, 1, 1, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 1, 1, 0]]
    assert (graph.task, graph.targets) == ("regression", ["label"])
    assert graph.y.nan_to_num(-9).tolist() == [0.5, 1, -9, 2]


def test_arrays_of_both_layouts_can_be_mixed(tmp_path):
    without = dict.fromkeys(["adj_data", "adj_indices", "adj_indptr", "adj_shape"])
    path = write_npz(tmp_path / "mixed.npz", **without, edges=np.array([[0, 1], [2, 1]]))
    graph = read_npz(path)
    assert graph.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert (graph.num_nodes, graph.num_features, graph.num_classes) == (4, 2, 3)


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
        ({"attr_shape": np.array([4 + 1j, 2])}, "attr_data … is a damaged sparse matrix"),
        ({"adj_shape": np.array([4, 9])}, r"adjacency has shape \(4, 9\): expected \(N, N\)"),
        ({"labels": np.array([0, 1])}, "y has length 2 for 4 nodes"),
        ({"labels": np.array([0, 1, 2, {}], dtype=object)}, "labels holds Python objects"),
        ({"labels": np.array([0, 1, -4, 1])}, "class of node 2"),
        ({**NO_FEATURES, "attr_matrix": np.ones((3, 2))}, "3 rows of node features for 4 nodes"),
        ({"attr_names": np.array(["a"])}, "1 column names for 2 node features"),
        ({"node_names": np.array(["a"])}, "1 node names for 4 nodes"),
        ({"adj_data": np.array([1, -1, 1])}, "the weight of edge 1, counted from 0, is -1"),
        ({"adj_data": np.array([1, 1, 1e300])}, "the weight of edge 2, counted from 0, is 1e.300"),
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
