"""Graph sets that took long to read, kept as plain arrays that the system maps into memory."""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from augcl.data.graph import GraphSet
from augcl.files import atomic_path

FORMAT = 2  # count up when a reader gives other arrays for the same file
SMALLEST = 1_000_000  # bytes; smaller files are read as fast as the cache

_TENSORS = ("x", "edge_index", "node_ptr", "edge_ptr", "y", "node_attr", "edge_attr")


def cache_dir() -> Path:
    """``$AUGCL_CACHE``, or ``augcl`` in the user's cache folder."""
    if own := os.environ.get("AUGCL_CACHE"):
        return Path(own).expanduser()
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path("~/.cache").expanduser()) / "augcl"


def cached(source: Path, read: Callable[[Path], GraphSet]) -> GraphSet:
    """``read(source)``, or what it gave the last time if no file has changed since.

    A damaged cache file is read anew and replaced; a cache that cannot be written is no error.
    """
    files = sorted(source.iterdir()) if source.is_dir() else [source]
    states = [(str(file.resolve()), file.stat()) for file in files]
    if sum(state.st_size for _, state in states) < SMALLEST:
        return read(source)
    mark = json.dumps([FORMAT, [(name, s.st_size, s.st_mtime_ns) for name, s in states]])
    key = hashlib.sha256(mark.encode()).hexdigest()[:24]
    target = cache_dir() / "parsed" / f"{source.stem}-{key}.safetensors"
    graphs = _load(target)
    if graphs is None:
        graphs = read(source)
        _save(graphs, target)
    return graphs


def _save(graphs: GraphSet, target: Path) -> None:
    found = {key: getattr(graphs, key) for key in _TENSORS}
    tensors = {key: value.contiguous() for key, value in found.items() if value is not None}
    about: dict[str, Any] = {"name": graphs.name, "checksum": _checksum(tensors)}
    for key in ("names", "columns"):
        about[key] = None if getattr(graphs, key) is None else list(getattr(graphs, key))
    try:
        with atomic_path(target) as temporary:
            save_file(tensors, temporary, metadata={"augcl": json.dumps(about)})
    except (OSError, SafetensorError):
        return  # no room, or a read-only place: it only costs time


def _load(target: Path) -> GraphSet | None:
    if not target.is_file():
        return None
    try:
        with safe_open(target, framework="pt") as file:
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
            about = json.loads(file.metadata()["augcl"])
        if about["checksum"] != _checksum(tensors):
            return None
        about.pop("checksum")
        return GraphSet(**tensors, **about)
    except (OSError, SafetensorError, KeyError, TypeError, ValueError):
        return None


def _checksum(tensors: dict[str, Tensor]) -> int:
    total = 0
    for key in sorted(tensors):
        total = zlib.crc32(tensors[key].flatten().view(torch.uint8).numpy().data, total)
    return total
