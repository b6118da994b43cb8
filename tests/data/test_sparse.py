import numpy as np
import pytest
import scipy.sparse
import torch

from augcl.data.sparse import compact, csr_from_parts, first_bad_row, share_filled
from augcl.errors import InputError


def matrix(width=200, filled=4, rows=50):
    """(rows, width) with `filled` entries in each row."""
    x = torch.zeros(rows, width)
    x[:, :filled] = torch.arange(1.0, rows * filled + 1).reshape(rows, filled)
    return x


FORMS = {
    "dense": lambda x: x,
    "NumPy": lambda x: x.numpy(),
    "NumPy, other byte order": lambda x: x.numpy().astype(">f8"),
    "list": lambda x: x.tolist(),
    "coo": lambda x: x.to_sparse_coo(),
    "csr": lambda x: compact(x) if compact(x).layout == torch.sparse_csr else x.to_sparse_csr(),
    "scipy matrix": lambda x: scipy.sparse.csc_matrix(x.numpy()),
    "scipy array": lambda x: scipy.sparse.coo_array(x.numpy()),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("x", "sparse"),
    [
        (matrix(width=200, filled=9), True),
        (matrix(width=200, filled=10), False),  # 5 % and more
        (matrix(width=101, filled=5), True),
        (matrix(width=100, filled=1), False),  # small anyway
    ],
)
def test_one_rule_decides_whatever_the_features_came_as(form, x, sparse):
    found = compact(FORMS[form](x))
    assert found.layout == (torch.sparse_csr if sparse else torch.strided)
    assert found.dtype == torch.float32
    assert torch.equal(found.to_dense(), x)
    assert share_filled(found) == pytest.approx(share_filled(x))


def test_stored_zeros_and_duplicates_do_not_count():
    stored = scipy.sparse.coo_matrix(([1.0, 2, 0], ([0, 0, 1], [3, 3, 5])), shape=(9, 150))
    found = compact(stored)
    assert found.values().tolist() == [3]
    assert stored.nnz == 3  # the user's matrix is left alone


def test_one_number_a_node_is_one_column():
    assert compact(torch.arange(3)).tolist() == [[0], [1], [2]]


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
@pytest.mark.parametrize("row", [0, 7, 49])
def test_the_first_row_that_is_not_finite_is_found(bad, row):
    x = matrix()
    assert first_bad_row(x) is None
    assert first_bad_row(compact(x)) is None
    x[row, 1] = x[49, 3] = bad
    assert first_bad_row(x) == row
    assert first_bad_row(compact(x)) == row


GOOD = {"data": [1.0, 2.0], "indices": [0, 2], "indptr": [0, 1, 2], "shape": [2, 3]}


@pytest.mark.parametrize(
    "wrong",
    [
        {"indices": [0, 3]},
        {"indices": [0, -1]},
        {"indptr": [0, 1, 9]},
        {"indptr": [0, 2, 1]},
        {"indptr": [0, 2]},
        {"indptr": [0, 1, -1]},  # scipy believes it
        {"indptr": [0, 0, -7], "data": [], "indices": np.empty(0, np.int64)},
        {"indptr": [0, 1, 1]},
        {"indptr": [1, 1, 2]},
        {"indptr": [0, 3, 2]},
        {"indptr": [[0, 1, 2]]},
        {"shape": [2]},
        {"shape": ["two", 3]},
        {"data": ["a", "b"]},
        {"data": [1.0]},
    ],
)
def test_stored_parts_that_do_not_fit_are_refused(wrong):
    *parts, shape = (np.array(value) for value in (GOOD | wrong).values())
    with pytest.raises(InputError, match=r"file.npz is a damaged sparse matrix") as caught:
        csr_from_parts(parts, shape, "file.npz")
    assert "\n" not in str(caught.value)


def test_indices_of_a_file_must_be_whole_numbers_inside_the_matrix():
    data, indices, pointer = np.ones(2, np.float32), np.array([0, 1]), np.array([0, 1, 2])
    assert csr_from_parts((data, indices, pointer), (2, 2), "m").shape == (2, 2)
    assert csr_from_parts((data.astype(np.float16), indices, pointer), (2, 2), "m").nnz == 2
    damaged = [
        (data, indices + 0.0, pointer),
        (data, indices, pointer + 0j),
        (data + 1j, indices, pointer),
        (data, indices + 2**40, pointer),
        (data, indices - 5, pointer),
        (data, indices, pointer[::-1]),
        (data, indices.reshape(1, 2), pointer),
        (data, indices.astype(np.uint64) + np.uint64(2**63), pointer),
    ]
    for parts in damaged:
        with pytest.raises(InputError, match="m is a damaged sparse matrix"):
            csr_from_parts(parts, (2, 2), "m")
