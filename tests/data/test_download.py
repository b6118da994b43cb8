"""A server that is slow, endless, insecure or wrong: one message, and nothing in the cache."""

import http.server
import threading
import time
import zipfile

import pytest

from augcl.data import download
from augcl.data.download import fetch
from augcl.data.planetoid import PARTS
from augcl.errors import InputError


class Hostile(http.server.BaseHTTPRequestHandler):
    """Does what the first part of the path says."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        getattr(self, self.path.split("/")[1])()

    def answer(self, code=200, **headers):
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def drip(self):
        self.answer()
        self.often(b".", 0.05)

    def drip_header(self):
        self.often(b"H", 0.05)

    def endless(self):
        self.answer()
        self.often(b"0" * 100_000, 0)

    def redirect(self):
        self.answer(302, Location=self.path.removeprefix("/redirect/"))

    def zip(self):
        self.answer()
        with zipfile.ZipFile(self.wfile, "w") as archive:
            archive.writestr("a", "b")

    def often(self, content, pause):
        try:
            for _ in range(400):
                self.wfile.write(content)
                time.sleep(pause)
        except OSError:
            pass  # the client has gone


@pytest.fixture(scope="module")
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hostile) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def refused(address, folder, name="DD.zip"):
    started = time.monotonic()
    with pytest.raises(InputError) as caught:
        fetch(address, folder / name, "DD")
    assert time.monotonic() - started < 5
    assert list(folder.iterdir()) == []
    return str(caught.value)


@pytest.mark.parametrize("way", ["drip", "drip_header"])
def test_a_server_that_drips_is_left(server, tmp_path, monkeypatch, way):
    monkeypatch.setattr(download, "LONGEST", 0.5)
    assert "took too long" in refused(f"{server}/{way}", tmp_path)


def test_a_server_that_never_ends_is_left(server, tmp_path, monkeypatch):
    monkeypatch.setattr(download, "LARGEST", 1_000_000)
    assert "larger than 1,000,000 bytes" in refused(f"{server}/endless", tmp_path)


def test_only_https_is_asked_and_followed(server, tmp_path):
    for address in ("http://example.org/a", "ftp://example.org/a", "file:///etc/passwd"):
        assert "must begin with https" in refused(address, tmp_path)
        message = refused(f"{server}/redirect/{address}", tmp_path)
        assert "must begin with https" in message or "is not allowed" in message


def test_another_file_than_the_published_one_is_refused(server, tmp_path):
    message = refused(f"{server}/zip", tmp_path, "PROTEINS.zip")
    assert "sent another PROTEINS.zip than the published one" in message
    assert fetch(f"{server}/zip", tmp_path / "DD.zip", "DD").exists()  # whose hash is not known


@pytest.mark.parametrize("name", [name for name in download.SHA256 if name.endswith(".zip")])
def test_the_hashes_are_those_of_the_published_sets(tu, name):
    download._check_hash(tu(name.removesuffix(".zip")), name, "here", "")


@pytest.mark.parametrize("name", [name for name in download.SHA256 if name.startswith("ind.")])
def test_the_hashes_are_those_of_the_published_graphs(tu_dir, name):
    file = tu_dir.parent / "planetoid" / name
    if not file.is_file():
        pytest.skip(f"{name} is not in ../shared/data/planetoid")
    download._check_hash(file, name, "here", "")


def test_all_files_of_a_graph_have_hashes():
    assert {len(digest) for digest in download.SHA256.values()} == {64}
    for graph in ("cora", "pubmed"):
        assert {f"ind.{graph}.{part}" for part in PARTS} < set(download.SHA256)


def test_another_graph_than_the_published_one_is_refused(tmp_path):
    file = tmp_path / "ind.cora.y"
    file.write_bytes(b"x")
    with pytest.raises(InputError, match=r"another ind\.cora\.y than .* SHA-256 begins with 2d711"):
        download._check_hash(file, file.name, "here", "go")


def test_wiki_cs_is_known_by_its_git_hash(tmp_path, monkeypatch):
    file = tmp_path / "data.json"
    file.write_bytes(b"hello\n")
    with pytest.raises(InputError, match="its Git hash begins with ce013625030b, not f1b743119df1"):
        download._check_hash(file, file.name, "here", "go")
    # What `echo hello | git hash-object --stdin` prints.
    known = "ce013625030ba8dba906f756967f9e9ca394464a"
    monkeypatch.setitem(download.GIT, "data.json", known)
    download._check_hash(file, file.name, "here", "go")
