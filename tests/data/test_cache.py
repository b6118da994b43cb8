import os
import zipfile

import pytest
import torch

from augcl.data import NodeGraph, Splits, cache, components
from augcl.data.cache import cache_dir, cached, cached_graph


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A file big enough for the cache, and a reader that counts its calls."""
    monkeypatch.setenv("AUGCL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "SMALLEST", 10)
    path = tmp_path / "graphs.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "content")
    return path


class Reader:
    calls = 0

    def __call__(self, path):
        self.calls += 1
        return components(3, seed=1)


def kept():
    return list((cache_dir() / "parsed").glob("*.safetensors"))


def test_the_second_time_the_file_is_not_read(source):
    read = Reader()
    first, second = cached(source, read), cached(source, read)
    assert read.calls == 1
    for key in ("x", "edge_index", "node_ptr", "edge_ptr", "y"):
        assert torch.equal(getattr(first, key), getattr(second, key))
    assert second.node_attr is None
    assert (second.name, second.names) == ("components", None)
    assert second.cleaned == first.cleaned is not None


def test_a_changed_file_is_read_again(source):
    read = Reader()
    cached(source, read)
    os.utime(source, ns=(1, 1))
    cached(source, read)
    assert read.calls == 2


def test_a_folder_counts_as_changed_when_one_of_its_files_does(source):
    read = Reader()
    cached(source.parent, read)
    (source.parent / "more.txt").write_text("more")
    cached(source.parent, read)
    assert read.calls == 2


def cut(path):
    path.write_bytes(path.read_bytes()[:-10])


def flip(path):
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)


def empty(path):
    path.write_bytes(b"")


def turn_features(path):
    path.write_bytes(path.read_bytes().replace(b'"shape":[154,1]', b'"shape":[1,154]'))


def rename(path):
    path.write_bytes(path.read_bytes().replace(b"components", b"componentz"))


@pytest.mark.parametrize("damage", [cut, flip, empty, turn_features, rename])
def test_a_damaged_cache_is_read_anew_and_replaced(source, damage):
    read = Reader()
    expected = cached(source, read)
    before = kept()[0].read_bytes()
    damage(*kept())
    assert kept()[0].read_bytes() != before
    assert torch.equal(cached(source, read).edge_index, expected.edge_index)
    assert read.calls == 2
    cached(source, read)
    assert read.calls == 2


def test_a_cache_that_cannot_be_written_is_no_error(source, monkeypatch):
    (source.parent / "file").write_text("a file where the folder should be")
    monkeypatch.setenv("AUGCL_CACHE", str(source.parent / "file"))
    assert len(cached(source, Reader())) == 9


def test_small_files_are_not_cached(source, monkeypatch):
    monkeypatch.setattr(cache, "SMALLEST", 1_000_000)
    cached(source, Reader())
    assert not kept()


@pytest.mark.parametrize("width", [3, 300])  # of 300 columns of an identity most are 0
def test_a_single_graph_comes_back_whole(source, width):
    masks = torch.eye(3, 5, dtype=torch.bool)
    graph = NodeGraph.from_arrays(
        pairs=torch.tensor([[0, 1], [1, 2]]),
        num_nodes=5,
        x=torch.eye(5, width),
        y=torch.tensor([0, 1, -1, 0, 1]),
        splits=Splits(masks, masks, masks[:1].expand(3, -1), masks),
        names=list("abcde"),
        name="mine",
    )
    calls = []

    def read(path):
        calls.append(path)
        return graph

    cached_graph(source, read)
    again = cached_graph(source, read)
    assert len(calls) == 1
    assert again.x.layout == graph.x.layout
    assert torch.equal(again.x.to_dense(), graph.x.to_dense())
    assert torch.equal(again.edge_index, graph.edge_index)
    assert torch.equal(again.y, graph.y)
    for part, mask in graph.splits.masks().items():
        assert torch.equal(getattr(again.splits, part), mask)
    assert (again.names, again.name) == (graph.names, "mine")
    assert again.cleaned == graph.cleaned is not None


def test_a_graph_with_little_to_say_comes_back_too(source):
    graph = NodeGraph.from_arrays(pairs=torch.tensor([[0], [1]]), num_nodes=2)
    for _ in range(2):
        again = cached_graph(source, lambda path: graph)
    assert again is not graph
    assert (again.y, again.splits, again.names) == (None, None, None)


def test_one_file_may_be_cached_as_a_set_and_as_a_graph(source):
    graph = NodeGraph.from_arrays(pairs=torch.tensor([[0], [1]]), num_nodes=2)
    for _ in range(2):
        assert len(cached(source, Reader())) == 9
        assert cached_graph(source, lambda path: graph).num_nodes == 2


def test_the_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("AUGCL_CACHE", str(tmp_path))
    assert cache_dir() == tmp_path
    monkeypatch.delenv("AUGCL_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_dir() == tmp_path / "augcl"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_dir().is_relative_to(tmp_path)
    assert cache_dir().name == "augcl"
