"""Feature columns keep their meaning between files."""

from pathlib import Path

import numpy as np
import pytest

import augcl
from augcl.data.features import align_columns


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
