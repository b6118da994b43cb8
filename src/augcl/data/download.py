"""Download a file over https, in bounded time and size, and compare it with its published hash."""

from __future__ import annotations

import hashlib
import http.client
import threading
import time
import urllib.error
import urllib.request
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from augcl.errors import InputError
from augcl.files import atomic_path

TIMEOUT = 30.0  # seconds without a byte
LONGEST = 1800.0  # seconds of a whole download
LARGEST = 2 << 30  # bytes

SHA256 = {
    "MUTAG.zip": "20f52db82d6d85d5f67d2fa42c3fb705d05934be44329314ab17b05d0c012f7e",
    "PROTEINS.zip": "fe9d19741637486ea1fd285bf669fce0b117e10b03cdd379f6a5e6197fc830ae",
    "NCI1.zip": "eae6b0c076d59e667c67de0039cfc3214eefb91a8dddc2fa3099126da02d4376",
    "IMDB-BINARY.zip": "2a4abb6431ec1ab025a6fbcd3b546607191f79a1e0aef0f42cd8bd4ec1546116",
    "ind.cora.allx": "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
    "ind.cora.ally": "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71",
    "ind.cora.graph": "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
    "ind.cora.test.index": "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
    "ind.cora.tx": "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a",
    "ind.cora.ty": "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad",
    "ind.cora.x": "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab",
    "ind.cora.y": "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1",
    "ind.pubmed.allx": "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e",
    "ind.pubmed.ally": "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e",
    "ind.pubmed.graph": "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9",
    "ind.pubmed.test.index": "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5",
    "ind.pubmed.tx": "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d",
    "ind.pubmed.ty": "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd",
    "ind.pubmed.x": "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33",
    "ind.pubmed.y": "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3",
}
"""Hashes of the files as they are published; other files have none yet."""

GIT = {"data.json": "f1b743119df1a7a3bca449039c54034ae623a756"}
"""As Git names the content of a file (``git hash-object``), where only that is known: Wiki-CS."""


def fetch(address: str, target: Path, name: str) -> Path:
    """Download the file of the data set `name`; `target` is the complete file or does not exist."""
    _check_address(address)
    cure = f"put {target.name} into a folder and name it with --data-dir or data_dir="
    try:
        with atomic_path(target) as temporary:
            promised = _download(address, temporary)
            size = temporary.stat().st_size
            if not _looks_whole(temporary, target) or promised not in (None, str(size)):
                kind = "zip file" if target.suffix == ".zip" else target.name
                raise InputError(f"{address} did not send a complete {kind}: try again, or {cure}")
            _check_hash(temporary, target.name, address, cure)
    except (OSError, http.client.HTTPException) as error:  # URLError and timeouts are OSErrors
        raise InputError(
            f"{name} could not be downloaded from {address} ({error}): {cure}"
        ) from None
    return target


def _check_address(address: str) -> None:
    """Refuse all but https; a server on this machine may do without."""
    parts = urlsplit(address)
    here = parts.scheme == "http" and parts.hostname in ("127.0.0.1", "::1", "localhost")
    if parts.scheme != "https" and not here:
        raise InputError(f"{address}: the address of a data set must begin with https://")


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follow a redirection only where the first address could have been."""

    def redirect_request(self, req: Any, fp: Any, *more: Any) -> Any:
        try:
            _check_address(more[-1])
        except InputError:
            fp.close()
            raise
        return super().redirect_request(req, fp, *more)


def _download(address: str, target: Path) -> str | None:
    """Write what the server sends; return the size that it promised.

    In a thread: a server can send a byte of its header every second, and none of these reads
    takes too long.
    """
    found: dict[str, Any] = {"failure": TimeoutError("it took too long")}
    stop = threading.Event()

    def work() -> None:
        try:
            found["promised"] = _copy(address, target, stop)
            found["failure"] = None
        except urllib.error.HTTPError as error:
            error.close()  # it holds the connection
            found["failure"] = OSError(str(error))
        except Exception as error:
            found["failure"] = error.with_traceback(None)

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    try:
        worker.join(LONGEST)
    finally:
        stop.set()
    if found["failure"] is not None:
        raise found["failure"]
    return found["promised"]  # type: ignore[no-any-return]


def _copy(address: str, target: Path, stop: threading.Event) -> str | None:
    opener = urllib.request.OpenerDirector()  # of what urllib can open, only these
    for handler in (
        urllib.request.ProxyHandler,
        urllib.request.HTTPHandler,
        urllib.request.HTTPSHandler,
        urllib.request.HTTPDefaultErrorHandler,
        urllib.request.HTTPErrorProcessor,
        _Redirects,
    ):
        opener.add_handler(handler())
    end, size = time.monotonic() + LONGEST, 0
    with opener.open(address, timeout=TIMEOUT) as answer, target.open("wb") as file:
        while block := answer.read1(1 << 16):
            size += len(block)
            if size > LARGEST:
                raise OSError(f"it is larger than {LARGEST:,} bytes")
            if time.monotonic() > end or stop.is_set():
                raise TimeoutError("it took too long")
            file.write(block)
        promised: str | None = answer.headers.get("Content-Length")
        return promised


def _check_hash(file: Path, name: str, address: str, cure: str) -> None:
    if name not in SHA256 and name not in GIT:
        return
    kind, digest = "SHA-256", hashlib.sha256()
    if name in GIT:
        kind, digest = "Git hash", hashlib.sha1(b"blob %d\0" % file.stat().st_size)
    with file.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    found, known = digest.hexdigest(), GIT[name] if name in GIT else SHA256[name]
    if found != known:
        raise InputError(
            f"{address} sent another {name} than the published one (its {kind} begins with "
            f"{found[:12]}, not {known[:12]}): try again, or {cure}"
        )


def _looks_whole(file: Path, target: Path) -> bool:
    """Return whether the file begins and ends like its kind; servers may send an error page."""
    if target.suffix in (".zip", ".npz"):
        return zipfile.is_zipfile(file)
    content = file.read_bytes().strip()
    if target.suffix == ".json":
        return content.startswith(b"{") and content.endswith(b"}")
    if target.suffix == ".index":
        return content[:1].isdigit()
    return content.startswith(b"\x80") and content.endswith(b".")
