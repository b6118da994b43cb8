"""Divide samples into training and test parts: folds, folds by groups, splits of one's own."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from augcl.data.node_graph import Splits
from augcl.errors import InputError
from augcl.evaluation.splits import TEST, TRAIN, VALIDATION

Ints = NDArray[np.int64]

_PARTS = {"train": TRAIN, "val": VALIDATION, "valid": VALIDATION, "validation": VALIDATION}
_PARTS |= {"test": TEST, "": -1, "none": -1}


@dataclass(frozen=True)
class Division:
    """Rows to train on, to test on and, where the data say so, to choose the settings on."""

    train: Ints
    test: Ints
    val: Ints | None = None


def of_folds(fold: Ints) -> list[Division]:
    """Return one division a fold: test on the fold, train on the others.

    >>> [division.test.tolist() for division in of_folds(np.array([0, 1, 0]))]
    [[0, 2], [1]]
    """
    numbers = range(int(fold.max()) + 1)
    return [
        Division(np.flatnonzero((fold != k) & (fold >= 0)), np.flatnonzero(fold == k))
        for k in numbers
    ]


def of_parts(parts: Ints) -> Division:
    """Return the division of (N,) parts 0 training, 1 validation, 2 test.

    >>> of_parts(np.array([0, 2, 1, 0])).train.tolist()
    [0, 3]
    """
    val = np.flatnonzero(parts == VALIDATION)
    train, test = np.flatnonzero(parts == TRAIN), np.flatnonzero(parts == TEST)
    return Division(train, test, val if len(val) else None)


def fold_numbers(
    N: int, folds: int, seed: int, *, y: Ints | None = None, groups: Ints | None = None
) -> Ints:
    """Return (N,) the fold in which each sample is tested.

    Folds have nearly equal shares of each class of `y`, if given. Samples of one group are in the
    same fold.

    >>> fold = fold_numbers(6, 2, seed=0, groups=np.array([0, 0, 0, 1, 1, 2]))
    >>> bool((fold[:3] == fold[0]).all()), np.bincount(fold).tolist()
    (True, [3, 3])
    """

    from sklearn.model_selection import KFold, StratifiedGroupKFold, StratifiedKFold

    if groups is not None:
        count = len(np.unique(groups))
        if count < folds:
            raise InputError(
                f"{count} groups are too few for {folds} folds, each group is in one fold: "
                f"use folds={max(count, 2)}"
                if count > 1
                else "all samples are in one group: no part of them can be tested"
            )
        if y is None:
            return _group_folds(groups, folds, seed)
    elif folds > N:
        raise InputError(f"{N} samples are too few for {folds} folds: use folds={max(N, 2)}")
    if y is None:
        pairs = KFold(folds, shuffle=True, random_state=seed).split(np.zeros(N))
    elif groups is None:
        pairs = StratifiedKFold(folds, shuffle=True, random_state=seed).split(y, y)
    else:
        splitter = StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
        pairs = splitter.split(y, y, groups)
    out = np.empty(N, dtype=np.int64)
    with warnings.catch_warnings():  # rare classes: a fold without one does not count it
        warnings.filterwarnings("ignore", message="The least populated class")
        for number, (_, test) in enumerate(pairs):
            out[test] = number
    return out


def _group_folds(groups: Ints, folds: int, seed: int) -> Ints:
    """Put each group, the largest first, into the smallest fold; `seed` orders equal groups."""
    names, group, size = np.unique(groups, return_inverse=True, return_counts=True)
    order = np.random.default_rng(seed).permutation(len(names))
    order = order[np.argsort(-size[order], kind="stable")]
    filled = np.zeros(folds, dtype=np.int64)
    fold_of_group = np.empty(len(names), dtype=np.int64)
    for one in order:
        fold_of_group[one] = fold = int(filled.argmin())
        filled[fold] += size[one]
    return fold_of_group[group]


def group_numbers(groups: Any, N: int) -> Ints:
    """Number the groups of N samples, given as words or numbers.

    >>> group_numbers(["b", "a", "b"], 3).tolist()
    [1, 0, 1]
    """
    if isinstance(groups, Tensor):
        groups = groups.detach().cpu().numpy()
    values = np.asarray(groups)
    if values.shape != (N,):
        raise InputError(
            f"groups have shape {values.shape}: give one group for each of {N} samples"
        )
    if values.dtype.kind == "f" and np.isnan(values).any():
        row = int(np.isnan(values).argmax())
        raise InputError(f"groups: row {row} has none; give every sample a group")
    if values.dtype.kind == "O":
        missing = [i for i, value in enumerate(values) if value is None]
        if missing:
            raise InputError(f"groups: row {missing[0]} has none; give every sample a group")
        values = values.astype(np.str_)
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def own_split(values: Sequence[Any] | NDArray[Any] | Tensor, N: int) -> Splits | Ints:
    """Read a split of one's own: words train, val, test for one split, or numbers of folds.

    >>> own_split(["train", "test", "val"], 3).test.tolist()
    [[False, True, False]]
    >>> own_split([5, 7, 5], 3).tolist()
    [0, 1, 0]
    """
    found = values.detach().cpu().numpy() if isinstance(values, Tensor) else np.asarray(values)
    if found.shape != (N,):
        raise InputError(
            f"the split has shape {found.shape}: give one value for each of {N} samples"
        )
    if found.dtype.kind in "iu" or (found.dtype.kind == "f" and bool((found % 1 == 0).all())):
        numbers, fold = np.unique(found, return_inverse=True)
        if len(numbers) < 2:
            raise InputError(f"the split has the one fold {numbers[0]}: give at least two")
        return fold.astype(np.int64)
    words = ["" if value is None else str(value).strip().lower() for value in found.tolist()]
    wrong = next((word for word in words if word not in _PARTS), None)
    if wrong is not None:
        raise InputError(
            f"the split has the value {wrong!r}: give train, val and test, or numbers of folds"
        )
    parts = torch.tensor([_PARTS[word] for word in words])
    for part, word in ((TRAIN, "train"), (TEST, "test")):
        if not bool((parts == part).any()):
            raise InputError(f"the split has no sample in its part {word}")
    train, val, test = ((parts == part).unsqueeze(0) for part in (TRAIN, VALIDATION, TEST))
    return Splits(train=train, val=val, test=test)
