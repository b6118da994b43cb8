"""`evaluate`: score embeddings with a named protocol."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from augcl.checks import whole_number
from augcl.data.node_graph import Splits
from augcl.errors import InputError, one_of
from augcl.evaluation.inputs import (
    Samples,
    Target,
    check_two_classes,
    classes_of,
    embeddings,
    kernel_matrix,
)
from augcl.evaluation.liblinear import grace_liblinear
from augcl.evaluation.linear import linear_10_10_80, wikics_20
from augcl.evaluation.score import Score
from augcl.evaluation.splits import UNUSED, fixed_parts
from augcl.evaluation.svm import tu_svm_10fold

PROTOCOLS: dict[str, Callable[[Samples], Score]] = {
    "tu-svm-10fold": tu_svm_10fold,
    "linear-10-10-80": linear_10_10_80,
    "wikics-20": wikics_20,
    "grace-liblinear": grace_liblinear,
}


def evaluate(
    Z: Any,
    y: Any,
    *,
    kernel: bool = False,
    protocol: str = "auto",
    repeats: int | None = None,
    folds: int | None = None,
    splits: Splits | None = None,
    random_state: int = 0,
    jobs: int = 1,
    progress: bool = True,
) -> Score:
    """Measure how well a simple classifier predicts `y` from the embeddings `Z`.

    ``tu-svm-10fold``, for graphs, as in GraphCL and related papers: stratified 10-fold
    cross-validation of an RBF support vector machine on unscaled embeddings; C is chosen from
    10⁻³ … 10³ by 5-fold cross-validation inside each training part. The numbers equal those of
    scikit-learn's ``GridSearchCV(SVC())`` on the same folds. 5 runs. With `kernel`, the support
    vector machine uses the given similarities instead of the RBF kernel.

    ``linear-10-10-80``, for nodes, as in GCA and related papers: softmax regression on unscaled
    embeddings, 3000 full-batch steps of Adam; a random 10 % of the nodes to train, 10 % to choose
    the step, 80 % to test. As in the original, splits are not stratified: a class without a
    training node cannot be predicted, and a warning says so. 20 runs.

    ``wikics-20``, for nodes with public splits: the same with these splits and 800 steps, one run
    per split.

    ``grace-liblinear``, for nodes, of GRACE: one-vs-rest logistic regression (liblinear) on the
    embeddings scaled to length 1; a random 10 % of the nodes to train, 90 % to test; C is chosen
    from 2⁻¹⁰ … 2⁹ by 5-fold cross-validation inside the training part. 3 runs.

    Parameters
    ----------
    Z : (N, D) array or tensor
        Embeddings; or, with `kernel`, (N, N) similarities.
    y : (N,) array, tensor or list; GraphSet, NodeGraph or PyG Data
        Class of each sample, numbers or strings; or the graphs or the graph that was embedded. The
        protocols for nodes leave out those with label −1 (unlabelled).
    kernel : bool
        `Z` is a kernel, as `fit_transform` of a graph kernel gives it.
    protocol : str
        Name of the protocol. "auto": the one for nodes if `y` is one graph (``wikics-20`` if that
        has 20 splits), else the one for graphs.
    repeats : int, optional
        Number of runs; the protocol decides if None. Run r draws its folds, split or initial
        weights with seed ``random_state + r``.
    folds : int, optional
        Folds of each run of ``tu-svm-10fold``; 10 if None.
    splits : Splits, optional
        Splits for ``wikics-20`` if `y` has none.
    random_state : int
        Seed of the first run.
    jobs : int
        Folds or runs computed at the same time; does not change the result.
    progress : bool
        Show a progress bar on standard error if that is a terminal.

    Returns
    -------
    Score
        ``.mean``, ``.std`` and ``.runs`` are fractions between 0 and 1: accuracy, which for one
        class per sample is micro-F1. ``.details["macro_f1"]`` has the macro-F1 of each run of the
        protocols for nodes.

    Examples
    --------
    >>> y = np.repeat(["active", "inactive"], 20)
    >>> Z = np.random.default_rng(0).normal(size=(40, 2)) + 5.0 * (y == "active")[:, None]
    >>> score = evaluate(Z, y, repeats=2)
    >>> print(score)
    100.00 ± 0.00 % (2 runs, tu-svm-10fold)
    >>> score.runs
    (1.0, 1.0)
    >>> y = np.arange(200) % 2
    >>> print(evaluate(y[:, None] - 0.5, y, protocol="linear-10-10-80", repeats=2))
    100.00 ± 0.00 % (2 runs, linear-10-10-80)
    """
    task = Target.of(y, splits)
    name = one_of(protocol, ("auto", *PROTOCOLS), "protocol")
    name = protocol_for(task) if name == "auto" else name
    if repeats is not None:
        whole_number("repeats", repeats, least=1)
    if folds is not None and name != "tu-svm-10fold":
        raise InputError(f"folds={folds}: protocol {name} has no folds, only tu-svm-10fold has")
    if kernel and name != "tu-svm-10fold":
        raise InputError(f"protocol {name} takes embeddings, not a kernel: use tu-svm-10fold")
    X = kernel_matrix(embeddings(Z)) if kernel else embeddings(Z)
    nodes = task.level == "node" or name != "tu-svm-10fold"
    labels, names = classes_of(task.y, count=len(X), unlabelled=nodes)
    names = task.called(names)
    check_two_classes(names)
    kept = labels >= 0
    if not kept.all():
        rows = torch.from_numpy(kept).to(X.device)
        X = X[rows][:, rows] if kernel else X[rows]
    score = PROTOCOLS[name](
        Samples(
            X=X,
            y=labels[kept],
            names=names,
            parts=None if task.splits is None else fixed_parts(task.splits, len(kept))[:, kept],
            repeats=repeats,
            folds=folds,
            random_state=random_state,
            jobs=jobs,
            progress=progress,
            kernel=kernel,
        )
    )
    everywhere = np.full((len(score.splits), len(kept)), UNUSED, dtype=np.int64)
    everywhere[:, kept] = score.splits
    return replace(score, splits=everywhere)


def protocol_for(task: Target) -> str:
    """Return the usual protocol for a target."""
    if task.level != "node":
        return "tu-svm-10fold"
    public = task.splits is not None and len(task.splits.train) == 20
    return "wikics-20" if public else "linear-10-10-80"
