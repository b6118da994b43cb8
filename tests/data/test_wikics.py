import pytest
import torch
from tests.data.published_files import wikics, write_wikics

from augcl.data import as_node_graph, load, load_graph
from augcl.data.targets import Reading
from augcl.data.wikics import read_wikics
from augcl.errors import InputError


def refuses(path, message):
    with pytest.raises(InputError, match=message) as caught:
        read_wikics(path)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_everything_in_the_file_comes_back(tmp_path):
    graph = read_wikics(write_wikics(tmp_path / "data.json"))
    expected = wikics()
    torch.testing.assert_close(graph.x, torch.tensor(expected["features"]))
    assert graph.y.tolist() == expected["labels"]
    assert graph.num_edges == 24  # a ring, in both directions, without the loops
    assert graph.splits.train.tolist() == expected["train_masks"]
    assert graph.splits.val.tolist() == expected["val_masks"]
    assert graph.splits.stopping.tolist() == expected["stopping_masks"]
    assert graph.splits.test.tolist() == [expected["test_mask"]] * 20
    assert graph.name == "Wiki-CS"


def test_as_pyg_data_and_back_nothing_is_lost(tmp_path):
    write_wikics(tmp_path / "wiki-cs" / "data.json")
    data = load("wiki-cs", data_dir=tmp_path)
    assert data.train_mask.shape == data.val_mask.shape == data.stopping_mask.shape == (12, 20)
    assert data.test_mask.shape == (12,)
    graph, again = read_wikics(tmp_path / "wiki-cs" / "data.json"), as_node_graph(data)
    for part, mask in graph.splits.masks().items():
        assert torch.equal(getattr(again.splits, part), mask)
    assert torch.equal(again.x, graph.x)
    assert torch.equal(again.edge_index, graph.edge_index)
    assert again.name == "Wiki-CS"


def test_masks_may_be_written_as_numbers_and_stopping_masks_be_absent(tmp_path):
    path = write_wikics(tmp_path / "data.json", test_mask=[1] * 12, stopping_masks=None)
    graph = read_wikics(path)
    assert graph.splits.test.all()
    assert graph.splits.stopping is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"features": None, "links": None},
            "not in the format of Wiki-CS: it lacks features, links",
        ),
        ({"test_mask": None}, "lacks test_mask"),
        ({"features": [[1.0]] * 11}, "11 rows of features but 12 lists of links"),
        (
            {"features": [[1.0]] * 11 + [[1.0, 2.0]]},
            "features, labels or links are not as published",
        ),
        (
            {"features": [[float("nan")]] * 12},
            "node 0, counted from 0: column 'x0' is empty",
        ),
        ({"features": [[1e300]] * 12}, "features, labels or links are not as published"),
        ({"features": 3}, "no rows of features but 12 lists of links"),
        ({"links": [[50]] * 12}, "points at node 50"),
        ({"links": [[-1]] * 12}, "a node below 0"),
        ({"links": [["a"]] * 12}, "not as published"),
        ({"links": 7}, "not as published"),
        ({"labels": [0, 1]}, "y has length 2 for 12 nodes"),
        ({"labels": [-9] * 12}, "class of node 0"),
        ({"train_masks": [[1, 0]]}, "train_masks must be lists of 12 values"),
        ({"val_masks": [[1] * 12]}, "20 train_masks but 1 val_masks"),
        ({"stopping_masks": [[1] * 12]}, "20 train_masks but 1 stopping_masks"),
        ({"test_mask": "none"}, "test_mask must be lists of 12 values"),
    ],
)
def test_a_mistake_is_told(tmp_path, changes, message):
    refuses(write_wikics(tmp_path / "data.json", **changes), message)


@pytest.mark.parametrize(
    "text", ["", "[1, 2]", "null", "not json", '{"features": [[1,', "[" * 9999]
)
def test_a_file_cut_short_or_of_another_kind_is_told(tmp_path, text):
    (tmp_path / "data.json").write_text(text)
    refuses(tmp_path / "data.json", "not complete JSON|not in the format of Wiki-CS")


def test_bytes_that_are_no_text_are_told(tmp_path):
    (tmp_path / "data.json").write_bytes(b"\xff\xfe\x00{")
    refuses(tmp_path / "data.json", "not complete JSON")


def test_a_missing_feature_can_be_flagged_and_other_parts_are_named(tmp_path):
    features = [[1.0, 2.0], [None, 3.0]] * 6
    path = write_wikics(tmp_path / "data.json", features=features, titles=["a"] * 12)
    with pytest.warns(UserWarning, match="data.json: column titles not used: a graph has"):
        graph = load_graph(path, how=Reading(missing="zero"))
    assert graph.columns == ["x0", "x0 missing", "x1"]
    assert graph.x[:2].tolist() == [[1, 0, 2], [0, 1, 3]]
