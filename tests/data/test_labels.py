import numpy as np
import pytest
import torch

from augcl.data.labels import class_names, class_numbers, node_classes, one_hot
from augcl.errors import InputError


def test_numbers_written_as_text_are_sorted_as_numbers():
    assert class_numbers(["10", " 9", "10"]).tolist() == [1, 0, 1]


def test_mixed_labels_are_sorted_as_text():
    assert class_numbers(["b", 1, "a"]).tolist() == [2, 0, 1]


def test_numbers_too_long_to_count_with_are_words():
    labels = ["99999999999999999999", "1"]
    assert class_numbers(labels).tolist() == [1, 0]
    assert class_names(labels) == ["1", "99999999999999999999"]


def test_too_many_one_hot_columns_are_refused():
    with pytest.raises(InputError, match="atoms: 10001 different values"):
        one_hot(np.zeros(1, np.int64), 10_001, "atoms")


NAN = float("nan")


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([0, 2, 1], [0, 2, 1]),
        ([3, 7], [3, 7]),
        ([0, -1, 1], [0, -1, 1]),
        ([0.0, NAN, 2.0], [0, -1, 2]),
        ([0, None, 2], [0, -1, 2]),
        ([True, False], [1, 0]),
        (["b", "a", "", None, " b "], [1, 0, -1, -1, 1]),
        (["10", "9", "-1", "nan"], [1, 0, -1, -1]),
        (torch.tensor([[1], [0]]), [1, 0]),
        (torch.tensor([1.0, NAN]), [1, -1]),
        (np.array([2, 0], np.uint8), [2, 0]),
        ([-1, -1], None),
        (["", None], None),
        ([0.5, 1.0], None),
        (torch.eye(2), None),
    ],
)
def test_classes_of_nodes_may_be_missing(labels, expected):
    found = node_classes(labels)
    assert (found if found is None else found.tolist()) == expected
    assert found is None or found.dtype == torch.int64


def test_a_class_below_minus_one_is_refused():
    with pytest.raises(InputError, match=r"class of node 1, counted from 0, is -5.*from 0 on"):
        node_classes([0, -5])
