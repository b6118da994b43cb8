"""TU data sets from where PyG gets them."""

from __future__ import annotations

import http.client
import os
import shutil
import urllib.request
import zipfile
from pathlib import Path

from augcl.errors import InputError
from augcl.files import atomic_path

TIMEOUT = 30  # seconds without an answer


def download_tu(name: str, folder: Path, *, url: str | None = None) -> Path:
    """Fetch ``NAME.zip`` into `folder` and return its path; it is there whole or not at all.

    `url` is the address above ``NAME.zip``: by default ``$AUGCL_TU_URL``, or PyG's. Unlike PyG's
    own download this one checks the server's certificate and that a zip has arrived.
    """
    from torch_geometric.datasets import TUDataset

    address = f"{url or os.environ.get('AUGCL_TU_URL') or TUDataset.url}/{name}.zip"
    if not address.startswith(("https://", "http://")):
        raise InputError(f"{address}: the address of TU data sets must begin with https://")
    target = folder / f"{name}.zip"
    cure = f"put {name}.zip into a folder and name it with --data-dir or data_dir="
    try:
        with atomic_path(target) as temporary:
            with (
                urllib.request.urlopen(address, timeout=TIMEOUT) as answer,
                temporary.open("wb") as file,
            ):
                shutil.copyfileobj(answer, file)
            if not zipfile.is_zipfile(temporary):
                raise InputError(f"{address} did not send a whole zip file: try again, or {cure}")
    except (OSError, http.client.HTTPException) as error:  # URLError and timeouts are OSErrors
        raise InputError(
            f"{name} could not be downloaded from {address} ({error}): {cure}"
        ) from None
    return target
