"""`evaluate`: embeddings and labels to a score, by a named protocol."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from augcl.errors import InputError, one_of
from augcl.evaluation.score import Score
from augcl.evaluation.svm import Floats, Ints, check_classes, cross_validate, fold_of_sample

PROTOCOLS = ("tu-svm-10fold",)


def evaluate(
    Z: Any,
    y: Any,
    *,
    protocol: str = "tu-svm-10fold",
    repeats: int = 5,
    folds: int = 10,
    random_state: int = 0,
    jobs: int = 1,
    progress: bool = False,
) -> Score:
    """How well a simple classifier predicts `y` from the embeddings `Z`.

    Protocol ``tu-svm-10fold``, that of GraphCL and its kin: stratified 10-fold cross-validation of
    an RBF support vector machine on the embeddings as they are; C is chosen from 10⁻³ … 10³ by
    5-fold cross-validation inside each training part. The numbers are those of scikit-learn's
    ``GridSearchCV(SVC())`` on the same folds.

    Parameters
    ----------
    Z : (N, D) array or tensor
        Embeddings.
    y : (N,) array, tensor or list
        Class of each sample; numbers or strings.
    protocol : str
        Name of the protocol.
    repeats : int
        Runs; run r shuffles its folds with seed ``random_state + r``.
    folds : int
        Folds of each run.
    random_state : int
        Seed of the first run.
    jobs : int
        Folds worked on at once; does not change the result.
    progress : bool
        Show a progress bar on standard error if that is a terminal.

    Returns
    -------
    Score
        ``.mean``, ``.std`` and ``.runs`` are fractions between 0 and 1.

    Examples
    --------
    >>> y = np.repeat(["active", "inactive"], 20)
    >>> Z = np.random.default_rng(0).normal(size=(40, 2)) + 5.0 * (y == "active")[:, None]
    >>> score = evaluate(Z, y, repeats=2)
    >>> print(score)
    100.00 ± 0.00 % (2 runs, tu-svm-10fold)
    >>> score.runs
    (1.0, 1.0)
    """
    one_of(protocol, PROTOCOLS, "protocol")
    if repeats < 1:
        raise InputError(f"repeats={repeats}: at least one run is needed")
    X = _embeddings(Z)
    labels, classes = _labels(y)
    if len(labels) != len(X):
        raise InputError(f"{len(X)} embeddings but {len(labels)} labels: one label for each is due")
    check_classes(labels, classes, folds)
    splits = [fold_of_sample(labels, folds, random_state + r) for r in range(repeats)]
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("evaluate"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("folds"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not (progress and console.is_terminal),
    )
    with bar:
        task = bar.add_task("evaluate", total=repeats * folds)
        table = cross_validate(X, labels, splits, jobs=jobs, on_fold=lambda: bar.advance(task))
    name = protocol if folds == 10 else f"{protocol}, but {folds} folds"
    return Score(name, tuple(tuple(run) for run in table), np.stack(splits))


def _embeddings(Z: Any) -> Floats:
    X = np.ascontiguousarray(_numpy(Z), dtype=np.float64)
    if X.ndim != 2 or X.shape[1] == 0:
        raise InputError(
            f"embeddings have shape {X.shape}: evaluate needs (samples, width), one row per sample"
        )
    bad = ~np.isfinite(X).all(axis=1)
    if bad.any():
        raise InputError(
            f"{int(bad.sum())} of {len(X)} embeddings hold NaN or infinity, "
            f"first at row {int(bad.argmax())}"
        )
    return X


def _labels(y: Any) -> tuple[Ints, list[Any]]:
    """Classes as 0 … C − 1 in sorted order, and their names."""
    if y is None:
        raise InputError("evaluate needs labels: these samples have none (y is None)")
    labels = _numpy(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise InputError(f"labels have shape {labels.shape}: evaluate needs one class per sample")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        missing = int(np.argmin(np.isfinite(labels)))
        raise InputError(f"evaluate needs labels: row {missing} has none (NaN)")
    classes, codes = np.unique(labels, return_inverse=True)
    return codes.astype(np.int64), classes.tolist()


def _numpy(values: Any) -> np.ndarray[Any, Any]:
    if isinstance(values, torch.Tensor):
        values = values.detach().cpu().numpy()
    return np.asarray(values)
