"""Splits of the nodes into training, validation and test parts."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from augcl.data.node_graph import Splits
from augcl.errors import InputError

TRAIN, VALIDATION, TEST, UNUSED = 0, 1, 2, -1


def random_parts(N: int, seeds: Sequence[int], *, train: float = 0.1, val: float = 0.1) -> Tensor:
    """Draw (R, N) int64 the part of each node, one row per seed; not stratified.

    >>> random_parts(10, seeds=[0, 1]).tolist()
    [[2, 2, 2, 2, 0, 2, 1, 2, 2, 2], [2, 2, 2, 2, 1, 2, 2, 2, 0, 2]]
    """
    n_train, n_val = int(N * train), int(N * val)
    if n_train == 0:
        raise InputError(
            f"{N} labelled nodes are too few to train on {100 * train:g} % of them: "
            f"give at least {int(np.ceil(1 / train))}"
        )
    parts = torch.full((len(seeds), N), TEST)
    for row, seed in zip(parts, seeds, strict=True):
        order = torch.from_numpy(np.random.default_rng(seed).permutation(N))
        row[order[:n_train]] = TRAIN
        row[order[n_train : n_train + n_val]] = VALIDATION
    return parts


def fixed_parts(splits: Splits, N: int) -> Tensor:
    """Return (S, N) int64 the part of each node in each of the S splits of the data.

    >>> one = torch.tensor([[True, False, False, False]])
    >>> fixed_parts(Splits(train=one, val=one.roll(1), test=one.roll(2)), 4).tolist()
    [[0, 1, 2, -1]]
    """
    parts = torch.full((len(splits.train), N), UNUSED)
    for name, part in (("train", TRAIN), ("val", VALIDATION), ("test", TEST)):
        mask = torch.as_tensor(getattr(splits, name)).bool().cpu()
        if mask.shape != parts.shape:
            raise InputError(
                f"splits.{name} has shape {tuple(mask.shape)}: "
                f"expected {tuple(parts.shape)}, splits × samples"
            )
        twice = (mask & (parts != UNUSED)).any(dim=0)
        if twice.any():
            raise InputError(f"splits: sample {int(twice.int().argmax())} is in two parts")
        parts[mask] = part
    return parts


def check_parts(parts: Tensor, y: Tensor, names: Sequence[Any], *, needed: Sequence[int]) -> None:
    """Raise if a part is empty; warn of classes without a training sample in some split."""
    for part, word in ((TRAIN, "training"), (VALIDATION, "validation"), (TEST, "test")):
        empty = ~(parts == part).any(dim=1)
        if part in needed and empty.any():
            run = int(empty.int().argmax())
            raise InputError(f"split {run} has no labelled samples in its {word} part")
    absent = []
    for number, name in enumerate(names):
        splits = int((~((parts == TRAIN) & (y == number)).any(dim=1)).sum())
        if splits:
            size = int((y == number).sum())
            absent.append(f"class {name!r} ({size} in all) in {splits} of {len(parts)} splits")
    if absent:
        more = f" and {len(absent) - 3} more" if len(absent) > 3 else ""
        warnings.warn(
            f"classes without a training sample cannot be predicted: {', '.join(absent[:3])}{more}",
            stacklevel=4,
        )
