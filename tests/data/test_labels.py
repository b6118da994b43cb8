import numpy as np
import pytest

from augcl.data.labels import class_numbers, one_hot
from augcl.errors import InputError


def test_numbers_written_as_text_are_sorted_as_numbers():
    assert class_numbers(["10", " 9", "10"]).tolist() == [1, 0, 1]


def test_mixed_labels_are_sorted_as_text():
    assert class_numbers(["b", 1, "a"]).tolist() == [2, 0, 1]


def test_too_many_one_hot_columns_are_refused():
    with pytest.raises(InputError, match="atoms: 10001 different values"):
        one_hot(np.zeros(1, np.int64), 10_001, "atoms")
