import pickle
import shutil
import warnings

import numpy as np
import pytest
import torch
from tests.data.published_files import py2, py3, write_planetoid

from augcl.data import as_node_graph, load
from augcl.data.planetoid import PARTS, read_planetoid
from augcl.errors import InputError


@pytest.fixture(params=[py2, py3], ids=["Python 2", "Python 3"])
def dump(request):
    return request.param


def refuses(path, message):
    with pytest.raises(InputError, match=message) as caught:
        read_planetoid(path)
    assert "\n" not in str(caught.value)


def test_the_handwritten_files_are_what_python_2_wrote(tmp_path):
    expected = write_planetoid(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scipy.sparse.csr has moved
        for part in PARTS[:-1]:
            content = (tmp_path / f"ind.cora.{part}").read_bytes()
            found = pickle.loads(content, encoding="latin1")
            assert type(found) is type(expected[part])
            if part == "graph":
                assert found == expected[part]
            else:
                assert (found != expected[part]).sum() == 0


@pytest.mark.parametrize("name", ["cora", "citeseer"])
def test_the_same_graph_as_pyg_reads(tmp_path, dump, name):
    from torch_geometric.io import read_planetoid_data

    write_planetoid(tmp_path, name, dump, gap=name == "citeseer")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # PyG takes 500 nodes for validation without asking how many there are
        with pytest.MonkeyPatch.context() as patch:
            arange = torch.arange
            patch.setattr(torch, "arange", lambda a, b=None, **m: arange(*_few(a, b), **m))
            theirs = read_planetoid_data(str(tmp_path), name)
    ours = read_planetoid(tmp_path)
    assert torch.equal(ours.x, theirs.x)
    expected = as_node_graph(theirs)
    assert torch.equal(ours.edge_index, expected.edge_index)
    known = ours.y >= 0
    assert torch.equal(ours.y[known], theirs.y[known])
    assert torch.equal(ours.splits.train, expected.splits.train)
    assert torch.equal(ours.splits.test, expected.splits.test)


def _few(start, stop):
    return (start,) if stop is None else (start, min(stop, 6))


def test_test_nodes_get_the_rows_that_their_index_says(tmp_path, dump):
    parts = write_planetoid(tmp_path, dump=dump)
    graph = read_planetoid(tmp_path)
    assert graph.name == "cora"
    assert graph.num_nodes == 10
    assert torch.equal(graph.x[:6], torch.from_numpy(parts["allx"].toarray()))
    for row, node in enumerate(parts["test"]):
        assert graph.x[node].tolist() == parts["tx"].toarray()[row].tolist()
        assert graph.y[node] == parts["ty"][row].argmax()
    assert graph.num_edges == 2 * 11  # the ring and one chord
    assert graph.splits.train.nonzero()[:, 1].tolist() == [0, 1]
    assert graph.splits.val.nonzero()[:, 1].tolist() == [2, 3, 4, 5]
    assert graph.splits.test.nonzero()[:, 1].tolist() == [6, 7, 8, 9]


def test_test_nodes_that_are_left_out_are_empty_and_have_no_class(tmp_path, dump):
    write_planetoid(tmp_path, "citeseer", dump, gap=True)
    graph = read_planetoid(tmp_path)
    assert graph.num_nodes == 12
    assert not graph.x[[8, 10]].any()
    assert graph.y[[8, 10]].tolist() == [-1, -1]
    assert not graph.splits.test[0, [8, 10]].any()


@pytest.mark.parametrize("place", ["mine", "mine/raw"])
def test_a_folder_or_any_of_the_files_is_a_path_to_the_graph(tmp_path, place):
    write_planetoid(tmp_path / place, "mine")
    assert load(tmp_path / "mine").num_nodes == 10
    for part in ("x", "graph", "test.index"):
        assert load(tmp_path / place / f"ind.mine.{part}").name == "mine"


def test_a_file_that_is_not_there_is_named(tmp_path):
    refuses(tmp_path, "contains no planetoid graph")
    write_planetoid(tmp_path)
    for part in ("ty", "test.index"):
        (tmp_path / f"ind.cora.{part}").unlink()
        refuses(tmp_path, rf"ind.cora.{part} is missing")
        write_planetoid(tmp_path)
    shutil.copy(tmp_path / "ind.cora.graph", tmp_path / "ind.other.graph")
    refuses(tmp_path, "contains 2 planetoid graphs: give one file, such as .*ind.cora.graph")


@pytest.mark.parametrize(
    ("part", "content", "message"),
    [
        ("graph", py2(np.eye(2)), "ind.cora.graph contains no dict"),
        ("graph", py2({0: [99]}), "ind.cora.graph: edge_index points at node 99"),
        ("allx", py2({0: [1]}), "ind.cora.allx contains no matrix"),
        ("tx", py2(np.ones((4, 9), np.float32)), "ind.cora.tx has another number of features"),
        ("tx", py2(np.ones((3, 5), np.float32)), "differ in length"),
        ("tx", py2(np.full((4, 5), np.nan)), "node 6, counted from 0: column .x0. is empty or NaN"),
        ("ally", py2(np.ones(3)), "ind.cora.ally contains no one-hot classes"),
        ("test.index", b"8\n6\n9\n", "ind.cora.test.index must list the 4 test nodes"),
        ("test.index", b"8\n6\n9\n8\n", "ind.cora.test.index must list the 4 test nodes"),
        ("test.index", b"8\n6\n-9\n7\n", "ind.cora.test.index must list the 4 test nodes"),
        ("test.index", b"<html>", "ind.cora.test.index must hold one whole number per line"),
    ],
)
def test_a_mistake_is_told_with_its_file(tmp_path, part, content, message):
    write_planetoid(tmp_path)
    (tmp_path / f"ind.cora.{part}").write_bytes(content)
    refuses(tmp_path, message)
