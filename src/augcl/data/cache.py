"""Cache of parsed graphs: plain arrays in a file that the system maps into memory."""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import platformdirs
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from augcl.data.edges import Cleaned
from augcl.data.graph import GraphSet
from augcl.data.node_graph import NodeGraph, Splits
from augcl.data.sparse import torch_csr
from augcl.files import atomic_path

FORMAT = 8  # count up when a reader gives other arrays for the same file
SMALLEST = 1_000_000  # bytes; smaller files are read as fast as the cache

G = TypeVar("G")

_CSR = ("crow_indices", "col_indices", "values")
_ABOUT_NODES = ("name", "names", "classes", "columns", "cleaned", "edge_columns", "targets")
_ABOUT_GRAPHS = (*_ABOUT_NODES[1:4], *_ABOUT_NODES[5:], "smiles", "attr_columns")
_TENSORS = ("x", "edge_index", "node_ptr", "edge_ptr", "y", "node_attr", "edge_attr")


def cache_dir() -> Path:
    """Return ``$AUGCL_CACHE``, or ``augcl`` in the user's cache folder."""
    if own := os.environ.get("AUGCL_CACHE"):
        return Path(own).expanduser()
    return platformdirs.user_cache_path("augcl", appauthor=False)


def cached(source: Path, read: Callable[[Path], GraphSet], how: str = "") -> GraphSet:
    """Return ``read(source)``, from the cache if no file has changed since.

    `how` is a mark of what `read` was told.

    A damaged cache file is ignored and replaced; a cache that cannot be written is no error.
    """
    return _cached(source, read, _graphs_to_parts, _graphs_from_parts, how)


def cached_graph(source: Path, read: Callable[[Path], NodeGraph], how: str = "") -> NodeGraph:
    """Do the same as `cached` for one graph whose nodes are embedded."""
    return _cached(source, read, _graph_to_parts, _graph_from_parts, f"nodes{how}")


Parts = tuple[dict[str, Tensor], dict[str, Any]]  # tensors, and what JSON can hold


def _cached(
    source: Path,
    read: Callable[[Path], G],
    to_parts: Callable[[G], Parts],
    from_parts: Callable[[dict[str, Tensor], dict[str, Any]], G],
    level: str,
) -> G:
    files = sorted(source.iterdir()) if source.is_dir() else [source]
    states = [(str(file.resolve()), file.stat()) for file in files]
    if sum(state.st_size for _, state in states) < SMALLEST:
        return read(source)
    mark = json.dumps([FORMAT, level, [(name, s.st_size, s.st_mtime_ns) for name, s in states]])
    key = hashlib.sha256(mark.encode()).hexdigest()[:24]
    target = cache_dir() / "parsed" / f"{source.stem}-{key}.safetensors"
    parts = _load(target)
    if parts is not None:
        try:
            return from_parts(*parts)
        except (KeyError, TypeError):
            pass  # complete, but written by another program: read the source
    graphs = read(source)
    _save(*to_parts(graphs), target)
    return graphs


def _graphs_to_parts(graphs: GraphSet) -> Parts:
    found = {key: getattr(graphs, key) for key in _TENSORS}
    about: dict[str, Any] = {"name": graphs.name, "cleaned": graphs.cleaned}
    for key in _ABOUT_GRAPHS:
        about[key] = None if getattr(graphs, key) is None else list(getattr(graphs, key))
    return {key: value for key, value in found.items() if value is not None}, about


def _graphs_from_parts(tensors: dict[str, Tensor], about: dict[str, Any]) -> GraphSet:
    parts: dict[str, Any] = {**tensors, **about, "cleaned": _cleaned(about)}
    return GraphSet(**parts)


def _graph_to_parts(graph: NodeGraph) -> Parts:
    tensors = {"x": graph.x, "edge_index": graph.edge_index}
    if graph.x.layout == torch.sparse_csr:  # files hold dense tensors only
        del tensors["x"]
        tensors |= {part: getattr(graph.x, part)() for part in _CSR}
    for key in ("y", "edge_weight", "edge_attr"):
        if getattr(graph, key) is not None:
            tensors[key] = getattr(graph, key)
    if graph.splits is not None:
        masks = graph.splits.masks().items()
        tensors |= {f"splits.{part}": mask.clone() for part, mask in masks}
    about = {key: getattr(graph, key) for key in _ABOUT_NODES}
    return tensors, {**about, "width": graph.num_features}


def _graph_from_parts(tensors: dict[str, Tensor], about: dict[str, Any]) -> NodeGraph:
    width = about.pop("width")
    if "x" not in tensors:
        crow, column, values = (tensors.pop(part) for part in _CSR)
        tensors["x"] = torch_csr(crow, column, values, width)
    keys = [key for key in tensors if key.startswith("splits.")]
    masks: dict[str, Any] = {key.removeprefix("splits."): tensors.pop(key) for key in keys}
    parts: dict[str, Any] = {**tensors, **about, "cleaned": _cleaned(about)}
    if masks:
        parts["splits"] = Splits(**masks)
    return NodeGraph(**parts)


def _cleaned(about: dict[str, Any]) -> Cleaned | None:
    return None if about["cleaned"] is None else Cleaned(*about["cleaned"])


def _save(tensors: dict[str, Tensor], about: dict[str, Any], target: Path) -> None:
    tensors = {key: value.contiguous() for key, value in tensors.items()}
    about = about | {"checksum": _checksum(tensors, about)}
    try:
        with atomic_path(target) as temporary:
            save_file(tensors, temporary, metadata={"augcl": json.dumps(about)})
    except (OSError, SafetensorError):
        return  # disk full or read-only: the next read is slow again


def _load(target: Path) -> Parts | None:
    if not target.is_file():
        return None
    try:
        with safe_open(target, framework="pt") as file:
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
            about = json.loads(file.metadata()["augcl"])
        expected = about.pop("checksum")
        return (tensors, about) if expected == _checksum(tensors, about) else None
    except (OSError, SafetensorError, AttributeError, KeyError, TypeError, ValueError):
        return None


def _checksum(tensors: dict[str, Tensor], about: dict[str, Any]) -> int:
    shapes = {key: (str(value.dtype), tuple(value.shape)) for key, value in sorted(tensors.items())}
    total = zlib.crc32(json.dumps([shapes, about], sort_keys=True).encode())
    for key in shapes:
        total = zlib.crc32(tensors[key].flatten().view(torch.uint8).numpy().data, total)
    return total
