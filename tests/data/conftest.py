"""A web server that stands in for the real ones, and graphs in their published files."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from augcl.data import download

SHARED = Path(__file__).resolve().parents[3] / "shared"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *arguments, asked: list[str], **more) -> None:
        self.asked = asked
        super().__init__(*arguments, **more)

    def do_GET(self) -> None:
        self.asked.append(self.path)
        super().do_GET()

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def asked() -> list[str]:
    """What `server` has been asked for."""
    return []


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: list[str]) -> Iterator[Path]:
    """The folder of a local web server, from which everything is downloaded; an empty cache."""
    folder = tmp_path / "web"
    folder.mkdir()
    monkeypatch.setenv("AUGCL_CACHE", str(tmp_path / "cache"))
    for hashes in (download.SHA256, download.GIT):  # tests serve small files of the same names
        for name in [name for name in hashes if not name.endswith(".zip")]:
            monkeypatch.delitem(hashes, name)
    handler = functools.partial(Quiet, directory=str(folder), asked=asked)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        for variable in ("AUGCL_TU_URL", "AUGCL_NODE_URL"):
            monkeypatch.setenv(variable, f"http://127.0.0.1:{running.server_port}")
        thread = threading.Thread(target=running.serve_forever, args=(0.02,))
        thread.start()
        yield folder
        running.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def npz_dir() -> Path:
    """The folder with the gnn-benchmark files."""
    folder = SHARED / "data" / "npz"
    if not folder.is_dir():
        pytest.skip(
            "optional: the gnn-benchmark files (amazon_electronics_photo.npz, …) are not in "
            "../shared/data/npz"
        )
    return folder
