"""Data sets from where PyG gets them."""

from __future__ import annotations

import http.client
import os
import shutil
import urllib.request
import zipfile
from pathlib import Path

from augcl.data.places import NODE_FILES
from augcl.data.planetoid import PARTS
from augcl.errors import InputError
from augcl.files import atomic_path

TIMEOUT = 30  # seconds without an answer


def download_tu(name: str, folder: Path) -> Path:
    """Fetch ``NAME.zip`` into `folder` and return its path; it is there whole or not at all.

    It comes from ``$AUGCL_TU_URL``, or from where PyG gets it. Unlike PyG's own download this one
    checks the server's certificate and that a zip has arrived.
    """
    from torch_geometric.datasets import TUDataset

    above = os.environ.get("AUGCL_TU_URL") or TUDataset.url
    return _fetch(f"{above.rstrip('/')}/{name}.zip", folder / f"{name}.zip", name)


def download_node_set(name: str, folder: Path) -> Path:
    """Fetch the file or files of a graph into `folder`; returns the one that is read.

    They come from ``$AUGCL_NODE_URL``, or from where PyG gets them. Of several files those that
    are there already are not fetched again.
    """
    import torch_geometric.datasets

    collection, published = NODE_FILES[name]
    pyg: str = getattr(torch_geometric.datasets, collection).url
    above = (os.environ.get("AUGCL_NODE_URL") or pyg).rstrip("/")
    files = [published]
    if collection == "Planetoid":
        files = [f"{published.removesuffix('graph')}{part}" for part in PARTS]
    for file in files:
        if not (folder / file).is_file():
            _fetch(f"{above}/{file}", folder / file, name)
    return folder / published


def _fetch(address: str, target: Path, name: str) -> Path:
    if not address.startswith(("https://", "http://")):
        raise InputError(f"{address}: the address of a data set must begin with https://")
    cure = f"put {target.name} into a folder and name it with --data-dir or data_dir="
    try:
        with atomic_path(target) as temporary:
            with (
                urllib.request.urlopen(address, timeout=TIMEOUT) as answer,
                temporary.open("wb") as file,
            ):
                shutil.copyfileobj(answer, file)
                promised = answer.headers.get("Content-Length")
            size = temporary.stat().st_size
            if not _is_whole(temporary, target) or promised not in (None, str(size)):
                kind = "zip file" if target.suffix == ".zip" else target.name
                raise InputError(f"{address} did not send a whole {kind}: try again, or {cure}")
    except (OSError, http.client.HTTPException) as error:  # URLError and timeouts are OSErrors
        raise InputError(
            f"{name} could not be downloaded from {address} ({error}): {cure}"
        ) from None
    return target


def _is_whole(file: Path, target: Path) -> bool:
    """Whether the file begins and ends as one of its kind does; servers send excuses as files."""
    if target.suffix in (".zip", ".npz"):
        return zipfile.is_zipfile(file)
    content = file.read_bytes().strip()
    if target.suffix == ".json":
        return content.startswith(b"{") and content.endswith(b"}")
    if target.suffix == ".index":
        return content[:1].isdigit()
    return content.startswith(b"\x80") and content.endswith(b".")
