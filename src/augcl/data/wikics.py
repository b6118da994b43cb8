"""Read Wiki-CS as published: one JSON file with features, links and 20 splits."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from augcl.data.labels import node_classes
from augcl.data.limits import check_parsed
from augcl.data.node_graph import NodeGraph, Splits
from augcl.data.table import known_numbers, warn_unused
from augcl.data.targets import Reading
from augcl.errors import InputError, mistakes_in, readable

_NEEDED = ("features", "labels", "links", "train_masks", "val_masks", "test_mask")
_OPTIONAL = ("stopping_masks", "node_ids")


def read_wikics(path: str | os.PathLike[str], how: Reading | None = None) -> NodeGraph:
    """Read ``data.json``: ``features`` (N lists), ``labels``, ``links`` (neighbours of each node),
    ``train_masks``, ``val_masks``, ``stopping_masks`` (S lists of N) and one ``test_mask``.

    Features are not changed (they may be negative); links become undirected. A feature ``null`` is
    missing; a warning names other parts.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "data.json"
    >>> masks = {"train_masks": [[1, 0]], "val_masks": [[0, 0]], "test_mask": [0, 1]}
    >>> graph = {"features": [[0.5], [1]], "labels": [1, 0], "links": [[1], []], **masks}
    >>> _ = file.write_text(json.dumps(graph))
    >>> read_wikics(file)
    NodeGraph('Wiki-CS': 2 nodes, 2 edge entries, 1 features, 2 classes)
    """
    path = Path(path)
    content = _content(path)
    try:
        with np.errstate(over="raise"):
            x = np.array(content["features"], np.float32)
        counts = np.array([len(links) for links in content["links"]], np.int64)
        targets = np.array([end for links in content["links"] for end in links], np.int64)
        labels = np.array(content["labels"])
    except (TypeError, ValueError, OverflowError, FloatingPointError) as error:
        raise InputError(
            f"{path}: features, labels or links are not as published: {error}"
        ) from None
    if x.ndim != 2 or len(counts) != len(x):
        rows = len(x) if x.ndim == 2 else "no"
        raise InputError(
            f"{path}: {rows} rows of features but {len(counts)} lists of links: both need one "
            "for each node"
        )
    num_nodes = len(x)
    source = np.repeat(np.arange(num_nodes), counts)
    unused = [key for key in content if key not in (*_NEEDED, *_OPTIONAL)]
    if unused:
        warn_unused(str(path), unused, "a graph has features, links, labels and masks")
    missing = "error" if how is None else how.missing
    with mistakes_in(path):
        features, columns = known_numbers(x, None, missing, "node {}, counted from 0".format)
        return NodeGraph.from_arrays(
            pairs=torch.from_numpy(np.stack([source, targets])),
            num_nodes=num_nodes,
            x=features,
            columns=columns,
            y=node_classes(labels),
            splits=_splits(content, num_nodes),
            name="Wiki-CS",
        )


def _content(path: Path) -> dict[str, Any]:
    with readable(path):
        check_parsed(path)
        text = path.read_bytes()
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not complete JSON ({error}): get it again") from None
    missing = [key for key in _NEEDED if not isinstance(content, dict) or key not in content]
    if missing:
        raise InputError(f"{path} is not in the format of Wiki-CS: it lacks {', '.join(missing)}")
    found: dict[str, Any] = content
    return found


def _splits(content: dict[str, Any], num_nodes: int) -> Splits:
    train = _masks(content["train_masks"], "train_masks", num_nodes)
    val = _masks(content["val_masks"], "val_masks", num_nodes)
    test = _masks([content["test_mask"]], "test_mask", num_nodes)
    stopping = content.get("stopping_masks")
    stop = None if stopping is None else _masks(stopping, "stopping_masks", num_nodes)
    for key, masks in (("val_masks", val), ("stopping_masks", stop)):
        if masks is not None and len(masks) != len(train):
            raise InputError(
                f"{len(train)} train_masks but {len(masks)} {key}: give the same number of both"
            )
    return Splits(train, val, test.expand(len(train), -1), stop)


def _masks(values: Any, key: str, num_nodes: int) -> Tensor:
    """Return masks as (S, N) bool."""
    try:
        masks = torch.tensor(values).to(torch.bool)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        masks = torch.empty(0)
    if masks.dim() != 2 or masks.shape[1] != num_nodes:
        raise InputError(f"{key} must be lists of {num_nodes} values, one for each node")
    return masks
