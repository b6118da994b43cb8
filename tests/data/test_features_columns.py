"""Feature columns keep their meaning between files."""

from pathlib import Path

import numpy as np
import pytest
import torch

import augcl
from augcl.data.features import align_columns
from augcl.data.node_graph import NodeGraph


def _tu_folder(path: Path, labels: list[int]) -> Path:
    """Two triangles whose six nodes have the given labels."""
    path.mkdir()
    name = path.name
    edges = [(1, 2), (2, 3), (1, 3), (4, 5), (5, 6), (4, 6)]
    (path / f"{name}_A.txt").write_text("".join(f"{a}, {b}\n{b}, {a}\n" for a, b in edges))
    (path / f"{name}_graph_indicator.txt").write_text("1\n1\n1\n2\n2\n2\n")
    (path / f"{name}_node_labels.txt").write_text("".join(f"{v}\n" for v in labels))
    return path


def test_a_tu_file_names_its_label_columns(tmp_path: Path) -> None:
    graphs = augcl.load(_tu_folder(tmp_path / "ONE", [3, 4, 5, 3, 4, 6]))
    assert graphs.columns == ["label=3", "label=4", "label=5", "label=6"]


def test_a_file_with_fewer_labels_is_embedded_as_if_it_had_all(tmp_path: Path) -> None:
    full = augcl.load(_tu_folder(tmp_path / "FULL", [0, 1, 2, 1, 2, 1]))
    part = augcl.load(_tu_folder(tmp_path / "PART", [1, 2, 1, 1, 2, 1]))
    assert part.num_features < full.num_features
    model = augcl.GraphCL(epochs=1, progress=False).fit(full)
    second_of_full = model.transform(full)[1]
    np.testing.assert_allclose(model.transform(part)[1], second_of_full, rtol=1e-5)


def test_labels_of_the_same_width_but_another_range_are_not_mixed_up(tmp_path: Path) -> None:
    low = augcl.load(_tu_folder(tmp_path / "LOW", [0, 1, 0, 1, 0, 1]))
    high = augcl.load(_tu_folder(tmp_path / "HIGH", [1, 2, 1, 1, 2, 1]))
    with pytest.raises(augcl.InputError, match=r"label=2.*never seen"):
        align_columns(high, low.columns)


def test_degree_columns_do_not_depend_on_the_file(tmp_path: Path) -> None:
    one = augcl.load(_tu_folder(tmp_path / "ONE", [0] * 6), features="degree")
    assert align_columns(one, augcl.load("MUTAG", features="degree").columns) is one


def _one_graph(path: Path, header: str, *features: str) -> Path:
    """A path of nodes with those features, in the CSV format."""
    path.mkdir()
    (path / "edges.csv").write_text("source,target\n0,1\n1,2\n")
    rows = [f"{node},{row}" for node, row in enumerate(features)]
    (path / "nodes.csv").write_text("\n".join([f"node,{header}", *rows]) + "\n")
    return path


@pytest.fixture
def fitted(tmp_path: Path) -> augcl.GCA:
    """A model of nodes with an age and a colour, saved and loaded."""
    graph = augcl.load(_one_graph(tmp_path / "seen", "age,colour", "1,red", "2,blue", "3,red"))
    augcl.GCA(epochs=1, width=4, progress=False).fit(graph).save(tmp_path / "model")
    return augcl.load_model(tmp_path / "model")


def test_columns_of_nodes_may_stand_elsewhere_in_another_file(fitted, tmp_path: Path) -> None:
    moved = augcl.load(_one_graph(tmp_path / "moved", "colour,age", "red,1", "blue,2", "red,3"))
    expected = fitted.transform(augcl.load(tmp_path / "seen"))
    np.testing.assert_allclose(fitted.transform(moved), expected)


def test_a_word_that_no_node_has_is_a_column_of_zeros(fitted, tmp_path: Path) -> None:
    fewer = augcl.load(_one_graph(tmp_path / "fewer", "age,colour", "1,red", "2,red", "3,red"))
    assert fitted.transform(fewer).shape == (3, 4)


@pytest.mark.parametrize(
    ("header", "row", "named"),
    [("age,colour", "1,green", "colour=green"), ("age,size", "1,2", "size")],
)
def test_nodes_with_a_feature_never_seen_are_refused(
    fitted, tmp_path: Path, header: str, row: str, named: str
) -> None:
    other = augcl.load(_one_graph(tmp_path / "other", header, row, row, row))
    with pytest.raises(augcl.InputError, match=f"'{named}', never seen in training"):
        fitted.transform(other)


def test_a_model_of_graphs_without_features_refuses_one_that_has_some(tmp_path: Path) -> None:
    bare = _one_graph(tmp_path / "bare", "label", "a", "b", "a")
    model = augcl.GCA(epochs=1, width=4, progress=False).fit(augcl.load(bare))
    other = augcl.load(_one_graph(tmp_path / "other", "age", "7", "8", "9"))
    with pytest.raises(augcl.InputError, match="'age', never seen in training"):
        model.transform(other)
    same = augcl.load(tmp_path / "other", features="constant")
    assert model.transform(same).shape == (3, 4)


def test_many_columns_of_nodes_that_are_mostly_0_are_aligned_too() -> None:
    names = [f"word{i}" for i in range(200)]
    graph = NodeGraph.from_arrays(
        pairs=torch.tensor([[0], [1]]), num_nodes=200, x=torch.eye(200), columns=names
    )
    assert graph.x.layout == torch.sparse_csr
    turned = align_columns(graph, names[::-1])
    assert torch.equal(turned.x, torch.eye(200).flip(1))
    assert align_columns(graph, names) is graph
