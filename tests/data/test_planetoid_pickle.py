import os
import pickle
from collections import OrderedDict, defaultdict
from contextlib import suppress

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from tests.data.published_files import py2

from augcl.data.planetoid import read_plain_pickle
from augcl.errors import InputError

ARRAYS = [
    np.arange(6, dtype=np.int32).reshape(2, 3),
    np.asfortranarray(np.random.default_rng(0).random((3, 4))),
    np.array([[True, False]]),
    np.arange(4, dtype=">f4").reshape(2, 2),
    np.empty((0, 3), np.float32),
]


def read(tmp_path, content):
    (tmp_path / "file").write_bytes(content)
    return read_plain_pickle(tmp_path / "file")


@pytest.mark.parametrize("protocol", [2, 3, 4])
@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: str(array.dtype))
def test_arrays_are_read_as_pickle_would(tmp_path, array, protocol):
    found = read(tmp_path, pickle.dumps(array, protocol=protocol))
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_sparse_matrices_are_read_as_pickle_would(tmp_path, protocol):
    matrix = scipy.sparse.random(20, 30, 0.1, format="csr", rng=np.random.default_rng(0))
    found = read(tmp_path, pickle.dumps(scipy.sparse.csr_matrix(matrix), protocol=protocol))
    np.testing.assert_array_equal(found.toarray(), matrix.toarray())


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
@given(table=st.dictionaries(st.integers(), st.lists(st.integers(-(2**70), 2**70))))
def test_dicts_of_lists_are_read_as_pickle_would(tmp_path_factory, table, protocol):
    folder = tmp_path_factory.mktemp("dicts")
    for value in (table, defaultdict(list, table), OrderedDict(table)):
        assert read(folder, pickle.dumps(value, protocol=protocol)) == table


@pytest.mark.parametrize("protocol", [2, 4])
def test_numbers_of_numpy_are_numbers(tmp_path, protocol):
    table = {np.int64(3): [np.int32(-1), np.float32(0.5)]}
    assert read(tmp_path, pickle.dumps(table, protocol=protocol)) == {3: [-1, 0.5]}


class Harmful:
    """Pickled, it is an order to call a function."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("protocol", [0, 2, 4])
@pytest.mark.parametrize(
    ("function", "named"),
    [
        (os.system, r"(posix|nt)\.system"),
        (eval, r"\S*builtin\S*\.eval"),
        (exec, r"\S*builtin\S*\.exec"),
        (getattr, r"\S*builtin\S*\.getattr"),
        (__import__, r"\S*builtin\S*\.__import__"),
        (np.load, r"numpy\S*\.load"),
    ],
)
def test_a_file_that_would_run_something_is_refused(tmp_path, function, named, protocol):
    marker = tmp_path / "it ran"
    content = pickle.dumps({0: Harmful(function, f"touch '{marker}'")}, protocol=protocol)
    with pytest.raises(InputError, match=f"file names {named}, which no data file needs") as caught:
        read(tmp_path, content)
    assert "\n" not in str(caught.value)
    assert not marker.exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x80\x02cnumpy\nndarray\n(K\x02tR.", "calls numpy.ndarray, which no data file needs"),
        (b"\x80\x02ccopy_reg\n_reconstructor\n(c__builtin__\nlist\nc__builtin__\nobject\nNtR.",
         "calls copy_reg._reconstructor"),
        (b"\x80\x02c_codecs\nencode\n(U\x01aU\x03rottR.", "calls _codecs.encode"),
        (b"\x80\x02(i__builtin__\neval\n.", "holds the pickle instruction INST"),
        (b"\x80\x02K\x01\x82\x01.", "holds the pickle instruction EXT1"),
        (b"\x80\x02U\x01aQ.", "holds the pickle instruction BINPERSID"),
        (pickle.dumps(np.array([{}], object), protocol=2), "file holds an array of object"),
        (pickle.dumps(np.array(["a"]), protocol=2), "file holds an array of <U1"),
        (b"", "damaged or not a file of arrays"),
        (b"<html>sorry</html>", "damaged or not a file of arrays"),
        (b"\x80\x02.", "damaged or not a file of arrays"),
        (b"\x80\x02tb.", "damaged or not a file of arrays"),
        (b"\x80\x02h\x07.", "damaged or not a file of arrays"),
        (b"\x80\x02}K\x01b.", "damaged or not a file of arrays"),
        (b"\x80\x02cnumpy\ndtype\n(U\x02f4tR.", "damaged or not a file of arrays"),
    ],
)  # fmt: skip
def test_what_is_no_data_is_told(tmp_path, content, message):
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path, content)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "file"))


@pytest.mark.parametrize("content", [py2(ARRAYS[0]), py2({0: [1, 2]})])
def test_a_file_cut_anywhere_is_told(tmp_path, content):
    for length in range(len(content)):
        with pytest.raises(InputError, match="damaged or not a file of arrays"):
            read(tmp_path, content[:length])


@given(st.binary(max_size=60), st.integers(0, 400))
def test_whatever_the_bytes_are_the_answer_is_data_or_one_line(tmp_path_factory, bytes_, place):
    content = bytearray(py2(scipy.sparse.csr_matrix(np.eye(3, dtype=np.float32))))
    content[place : place + len(bytes_)] = bytes_
    folder = tmp_path_factory.mktemp("any")
    with suppress(InputError):  # anything else would be our fault
        read(folder, bytes(content))
