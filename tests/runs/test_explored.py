"""What a training keeps for its page: kinds of nodes and edges, the losses of nodes."""

import torch

from augcl.runs.explored import _kinds


def kinds(rows, columns):
    found = _kinds(torch.tensor(rows, dtype=torch.float32), columns)
    return found and (found[0].tolist(), found[1].tolist())


def test_the_first_one_hot_block_gives_the_kinds_most_frequent_first():
    columns = ["element=C", "element=N", "element=O", "charge", "ring"]
    rows = [[0, 0, 1, 0.5, 1], [1, 0, 0, 0, 1], [1, 0, 0, -1, 0]]
    assert kinds(rows, columns) == ([1, 0, 0], ["element=C", "element=O"])


def test_a_block_that_is_not_one_hot_is_passed_over():
    columns = ["part=a", "part=b", "order=single", "order=double"]
    assert kinds([[1, 1, 0, 1], [1, 0, 0, 1]], columns) == ([0, 0], ["order=double"])
    assert kinds([[1, 1, 0.5], [0, 1, 1]], ["a", "b", "c"]) is None


def test_without_names_all_columns_are_one_block():
    assert kinds([[0, 1], [0, 1], [1, 0]], None) == ([0, 0, 1], ["1", "0"])
    assert kinds([[0.3, 1], [0, 1]], None) is None


def test_rows_without_any_word_are_a_kind_of_their_own():
    assert kinds([[0, 0], [1, 0], [1, 0]], ["e=a", "e=b"]) == ([1, 0, 0], ["e=a", "none of these"])
