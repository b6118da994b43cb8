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
}
"""Hashes of files as TU Dortmund distributes them; other files have none yet."""


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
    if name not in SHA256:
        return
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest != SHA256[name]:
        raise InputError(
            f"{address} sent another {name} than the published one (its SHA-256 begins with "
            f"{digest[:12]}, not {SHA256[name][:12]}): try again, or {cure}"
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
