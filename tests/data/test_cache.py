import os
import zipfile

import pytest
import torch

from augcl.data import cache, components
from augcl.data.cache import cache_dir, cached


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


@pytest.mark.parametrize("damage", [cut, flip, empty])
def test_a_damaged_cache_is_read_anew_and_replaced(source, damage):
    read = Reader()
    expected = cached(source, read)
    damage(*kept())
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


def test_the_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("AUGCL_CACHE", str(tmp_path))
    assert cache_dir() == tmp_path
    monkeypatch.delenv("AUGCL_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_dir() == tmp_path / "augcl"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_dir() == tmp_path / ".cache" / "augcl"
